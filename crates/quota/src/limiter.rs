//! [`Limiter`]: one limit, exact in integers.
//!
//! A limiter remembers the moment at which all that it let pass will have been paid for at its rate. It counts that moment
//! in *ticks*, of which a nanosecond has as many as the limit has units: one unit then costs exactly as many ticks as the
//! period has nanoseconds, and nothing is ever divided or rounded.
//!
//! ```text
//! 3 req/sec   a nanosecond = 3 ticks, a request = 1 000 000 000 ticks
//!
//!        now                          who comes before `paid` waits until then;
//!         │   req    req    req       who comes after it passes, whatever the size, and moves `paid` by what it takes
//! ────────┼──▐██████▐██████▐██████┤   (so a batch larger than the limit passes too, and those behind it wait for it)
//!                               paid
//! ```
//! An idle limiter saves up [`Rate::burst`] and no more: 2 % of its limit, so that over any period it lets pass at most
//! 102 % of the limit and one request. Of a limit for less than a second it is what passes in 20 ms: those who wait are not looked
//! at more often.

/// Saved up while idle: one part in this many of the limit.
const BURST_DIVISOR: u128 = 50;
/// Saved up at least: what passes in so long a time.
const LEAST_BURST_NS: u128 = 20_000_000;

/// So much in so long a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    amount: u64,
    per_ns: u64,
}

impl Rate {
    /// `amount` and `per_ns` at least 1: less is taken for 1.
    pub fn new(amount: u64, per_ns: u64) -> Rate {
        Rate { amount: amount.max(1), per_ns: per_ns.max(1) }
    }

    pub fn amount(self) -> u64 {
        self.amount
    }

    pub fn per_ns(self) -> u64 {
        self.per_ns
    }

    /// What an idle limiter lets pass at once, beside one request of any size.
    pub fn burst(self) -> u64 {
        u64::try_from(self.burst_ticks() / u128::from(self.per_ns)).unwrap_or(u64::MAX)
    }

    fn ticks_at(self, now_ns: u64) -> u128 {
        u128::from(now_ns) * u128::from(self.amount)
    }

    fn ticks_of(self, amount: u64) -> u128 {
        u128::from(amount) * u128::from(self.per_ns)
    }

    fn burst_ticks(self) -> u128 {
        let part = u128::from(self.amount) * u128::from(self.per_ns) / BURST_DIVISOR;
        part.max(u128::from(self.amount) * LEAST_BURST_NS)
    }
}

/// One limit and what has passed. Times are nanoseconds since any fixed moment; nothing was saved up before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limiter {
    rate: Rate,
    /// In ticks: what is saved up at most.
    burst: u128,
    /// In ticks: when what has passed is paid for.
    paid: u128,
}

impl Limiter {
    /// A limiter that has been idle.
    pub fn new(rate: Rate, now_ns: u64) -> Limiter {
        let burst = rate.burst_ticks();
        Limiter { rate, burst, paid: rate.ticks_at(now_ns).saturating_sub(burst) }
    }

    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// When the next request may pass, once `ahead` more has passed before it; a moment gone by: at once.
    pub fn due_ns(&self, ahead: u64, now_ns: u64) -> u64 {
        let ticks = self.floor(now_ns).saturating_add(self.rate.ticks_of(ahead));
        u64::try_from(ticks.div_ceil(u128::from(self.rate.amount))).unwrap_or(u64::MAX)
    }

    /// Whether that is not after `at_ns`: without a division.
    pub fn is_due_by(&self, ahead: u64, now_ns: u64, at_ns: u64) -> bool {
        self.floor(now_ns).saturating_add(self.rate.ticks_of(ahead)) <= self.rate.ticks_at(at_ns)
    }

    /// Whether the next request may pass now.
    pub fn is_due(&self, now_ns: u64) -> bool {
        self.paid <= self.rate.ticks_at(now_ns)
    }

    /// Something passes; in its turn or not.
    pub fn charge(&mut self, amount: u64, now_ns: u64) {
        self.paid = self.floor(now_ns).saturating_add(self.rate.ticks_of(amount));
    }

    /// What was charged turns out to have been less.
    pub fn refund(&mut self, amount: u64) {
        self.paid = self.paid.saturating_sub(self.rate.ticks_of(amount));
    }

    /// What has passed and is not paid for yet.
    pub fn owed(&self, now_ns: u64) -> u64 {
        let ticks = self.paid.saturating_sub(self.rate.ticks_at(now_ns));
        u64::try_from(ticks.div_ceil(u128::from(self.rate.per_ns))).unwrap_or(u64::MAX)
    }

    /// Forgets what is owed beyond one period.
    pub fn forgive(&mut self, now_ns: u64) {
        self.paid = self.paid.min(self.rate.ticks_at(now_ns.saturating_add(self.rate.per_ns)));
    }

    /// Whether it has saved up all that it may: as good as new.
    pub fn is_idle(&self, now_ns: u64) -> bool {
        self.paid <= self.rate.ticks_at(now_ns).saturating_sub(self.burst)
    }

    /// A new limit. What is owed stays owed, in units; what was saved up is the new limit's.
    pub fn set_rate(&mut self, rate: Rate, now_ns: u64) {
        if rate == self.rate {
            return;
        }
        let owed = self.paid.saturating_sub(self.rate.ticks_at(now_ns));
        // Whole units first, so that the product of what is left fits.
        let (units, rest) = (owed / u128::from(self.rate.per_ns), owed % u128::from(self.rate.per_ns));
        let rest = (rest * u128::from(rate.per_ns)).div_ceil(u128::from(self.rate.per_ns));
        let owed = units.saturating_mul(u128::from(rate.per_ns)).saturating_add(rest);
        *self = match owed {
            0 => Limiter::new(rate, now_ns),
            owed => Limiter { paid: rate.ticks_at(now_ns).saturating_add(owed), ..Limiter::new(rate, now_ns) },
        };
    }

    fn floor(&self, now_ns: u64) -> u128 {
        self.paid.max(self.rate.ticks_at(now_ns).saturating_sub(self.burst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;
    const DAY: u64 = 86_400 * SECOND;

    /// Somebody always waits: how many pass in a time, when the waiting ones are looked at every `step_ns`.
    fn passes(limiter: &mut Limiter, from_ns: u64, for_ns: u64, step_ns: u64) -> u64 {
        let mut count = 0;
        for now in (from_ns..from_ns + for_ns).step_by(step_ns as usize) {
            while limiter.is_due(now) {
                limiter.charge(1, now);
                count += 1;
            }
        }
        count
    }

    #[test]
    fn awkward_limits_hold_to_the_request() {
        for amount in [10, 500, 999, 1500, 1999, 2500, 100_000] {
            let mut limiter = Limiter::new(Rate::new(amount, SECOND), SECOND);
            let first = passes(&mut limiter, 7 + SECOND, SECOND, 500_000);
            let burst = amount / 50;
            assert!((amount..=amount + burst + 1).contains(&first), "{amount}: {first}");
            let after: u64 = (2..12).map(|s| passes(&mut limiter, 7 + s * SECOND, SECOND, 500_000)).sum();
            assert!((10 * amount - burst - 1..=10 * amount + 1).contains(&after), "{amount}: {after}");
        }
    }

    #[test]
    fn limits_for_less_than_a_second_hold_though_those_who_wait_are_looked_at_every_few_milliseconds() {
        for (amount, per_ns) in [(10, 1_000_000), (1, 1000), (7, 1_000_000), (1, 100)] {
            let mut limiter = Limiter::new(Rate::new(amount, per_ns), SECOND);
            let burst = limiter.rate().burst();
            assert_eq!(burst, 20_000_000 / per_ns * amount);
            let wanted = SECOND / per_ns * amount;
            let passed = passes(&mut limiter, SECOND, SECOND, 8_000_000);
            assert!((wanted - burst..=wanted + burst + 1).contains(&passed), "{amount}/{per_ns}: {passed}");
        }
    }

    #[test]
    fn one_a_day_and_ten_million_a_second_are_limits_too() {
        let mut daily = Limiter::new(Rate::new(1, DAY), DAY);
        daily.charge(1, DAY);
        assert_eq!(daily.due_ns(0, DAY + 6), 2 * DAY - DAY / 50);
        let mut fast = Limiter::new(Rate::new(10_000_000, SECOND), 0);
        fast.charge(1_000_000_000, 0);
        assert_eq!(fast.due_ns(0, 0), 100 * SECOND);
    }

    #[test]
    fn a_batch_beyond_the_limit_passes_and_is_paid_by_those_behind() {
        let mut limiter = Limiter::new(Rate::new(100, SECOND), 10 * SECOND);
        limiter.charge(1000, 10 * SECOND);
        assert_eq!((limiter.owed(10 * SECOND), limiter.due_ns(0, 10 * SECOND)), (998, 20 * SECOND - SECOND / 50));
        limiter.refund(500);
        assert_eq!(limiter.due_ns(0, 10 * SECOND), 15 * SECOND - SECOND / 50);
        assert_eq!(limiter.due_ns(100, 10 * SECOND), 16 * SECOND - SECOND / 50);
    }

    #[test]
    fn a_new_limit_keeps_what_is_owed() {
        let mut limiter = Limiter::new(Rate::new(10, 60 * SECOND), 0);
        limiter.charge(11, 60 * SECOND);
        let owed = limiter.owed(60 * SECOND);
        limiter.set_rate(Rate::new(10, SECOND), 60 * SECOND);
        assert_eq!((owed, limiter.owed(60 * SECOND)), (11, 11));
        assert_eq!(limiter.due_ns(0, 60 * SECOND), 61 * SECOND + SECOND * 8 / 100);
    }

    prop_compose! {
        fn rates()(amount in 1u64..1_000_000, per_ns in prop_oneof![Just(1_000_000), Just(SECOND), Just(60 * SECOND), Just(DAY)])
            -> Rate { Rate::new(amount, per_ns) }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn due_by_a_moment_is_due_not_after_it(
            (amount, per_ns) in (1_u64..10_000_000, 1_000_u64..DAY),
            charges in prop::collection::vec(0_u64..1000, 0..5),
            (ahead, later) in (0_u64..1000, 0_u64..10 * SECOND),
        ) {
            let mut limiter = Limiter::new(Rate::new(amount, per_ns), DAY);
            charges.iter().for_each(|n| limiter.charge(*n, DAY));
            let due_ns = limiter.due_ns(ahead, DAY);
            for at_ns in [DAY, DAY + later, due_ns.saturating_sub(1), due_ns, due_ns.saturating_add(1)] {
                prop_assert_eq!(limiter.is_due_by(ahead, DAY, at_ns), due_ns <= at_ns, "{} {}", due_ns, at_ns);
            }
        }

        /// Whatever comes whenever: over any window at most rate × window + burst passes, and one request.
        #[test]
        fn no_window_sees_more_than_limit_and_burst(
            rate in rates(),
            calls in prop::collection::vec((0u64..SECOND, 1u64..2000), 1..120),
        ) {
            let mut limiter = Limiter::new(rate, 0);
            let (mut now, mut passed) = (0, Vec::new());
            for (pause, amount) in calls {
                now += pause;
                prop_assert_eq!(limiter.is_due(now), limiter.due_ns(0, now) <= now);
                if limiter.is_due(now) {
                    limiter.charge(amount, now);
                    passed.push((now, amount));
                }
            }
            for first in 0..passed.len() {
                let mut sum = 0;
                for (at, amount) in &passed[first..] {
                    // The last one's size does not matter: it passes when those before it are paid for.
                    let may = u128::from(at - passed[first].0) * u128::from(rate.amount()) / u128::from(rate.per_ns())
                        + u128::from(rate.burst()) + 1;
                    prop_assert!(sum <= may, "{sum} > {may}");
                    sum += u128::from(*amount);
                }
            }
        }

        /// Who waits passes in the end, not later than what is owed takes, and an idle limiter lets anybody pass at once.
        #[test]
        fn nobody_starves(rate in rates(), amounts in prop::collection::vec(1u64..5000, 1..50)) {
            let mut limiter = Limiter::new(rate, 0);
            let (mut now, mut sum) = (0, 0u128);
            for amount in amounts {
                now = limiter.due_ns(0, now).max(now);
                let latest = sum * u128::from(rate.per_ns()) / u128::from(rate.amount()) + 1;
                prop_assert!(u128::from(now) <= latest);
                limiter.charge(amount, now);
                sum += u128::from(amount);
            }
            let idle = limiter.due_ns(0, now);
            prop_assert!(limiter.due_ns(0, idle) <= idle);
        }

        /// Charging too much and giving it back is charging right, to the tick.
        #[test]
        fn a_refund_leaves_no_trace(rate in rates(), right in 0u64..1000, more in 0u64..1000, now in 0u64..DAY) {
            let (mut a, mut b) = (Limiter::new(rate, 0), Limiter::new(rate, 0));
            a.charge(right + more, now);
            a.refund(more);
            b.charge(right, now);
            prop_assert_eq!(a, b);
        }
    }
}
