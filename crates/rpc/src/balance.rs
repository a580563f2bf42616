//! [`Balance`]: on how many network threads the connections are that have something to do: on as few as carry the load.
//!
//! ```text
//! a thread's load above HIGH ──▶ it gives half of what it has more than another to that one, which may be a further thread
//! all loads together below LOW of one thread fewer, for CALM ──▶ the last thread gives all it has to others
//!           … or usually hardly more than one thread fewer could have, while processors are idle for less than ROOM
//! ```
//! What a short call costs most is that the system has a thread wait for it and wakes it. A thread with much to do finds
//! the next call when it is done with one; on two threads the same load would wake somebody for each. Load is the
//! processor's time that a thread had, as a part of time: a thread that waits for the processor would not have more of it if
//! there were another beside it. Nor is another thread wanted where no processor is left for it ([`Room`](crate::room::Room)):
//! both, and clients on the same machine, would take turns, and calls would wait for those. Threads behind the needed ones have
//! connections that do nothing, and give away those that begin to.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Part of a thread's time, in thousandths.
pub(crate) type Permille = u32;

/// How often a thread that does something tells its load.
pub(crate) const WINDOW: Duration = Duration::from_millis(10);
const HIGH: Permille = 800;
const LOW: Permille = 600;
/// A thread with a high load gives to one that has so much less.
const GAP: Permille = 300;
/// How long the loads are low before there is one thread fewer.
const CALM: Duration = Duration::from_millis(500);
/// Of loads that are together less than this more than a thread fewer could have, that thread is one too many where processors are
/// idle for less than ROOM, all together: it would do the same with less.
const LITTLE_MORE: Permille = 250;
/// A thread fewer leaves more idle, so there is to be more before there is another one.
const ROOM: Permille = 450;
const ROOM_FOR_ANOTHER: Permille = 600;
/// How many loads that were told the usual one is of.
const USUAL: Permille = 32;
/// A load that was not told anew for so long is over: its thread waits.
const STALE: Duration = WINDOW.saturating_mul(4);
/// `calm_since` and `crowded_since` while they are not.
const NOT_CALM: u64 = u64::MAX;

/// What a thread is to give away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gift {
    /// To this thread.
    pub to: usize,
    /// So much of what it has to do.
    pub part: Permille,
}

/// What the network threads know of each other. Times are since one moment for all.
#[derive(Debug)]
pub(crate) struct Balance {
    loads: Box<[Load]>,
    /// The first so many threads are needed.
    needed: AtomicUsize,
    /// In milliseconds.
    calm_since: AtomicU64,
    /// All loads together, of late: [`USUAL`] times their average.
    usual: AtomicU32,
    crowded_since: AtomicU64,
}

/// On cache lines of its own: each thread writes one.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Load {
    told_ms: AtomicU64,
    load: AtomicU32,
}

impl Load {
    fn tell(&self, now: Duration, load: Permille) {
        self.load.store(load, Relaxed);
        self.told_ms.store(now.as_millis() as u64, Relaxed);
    }

    fn at(&self, now: Duration) -> Permille {
        let age = (now.as_millis() as u64).saturating_sub(self.told_ms.load(Relaxed));
        if Duration::from_millis(age) > STALE { 0 } else { self.load.load(Relaxed) }
    }
}

impl Balance {
    /// For so many threads.
    pub fn new(threads: usize) -> Balance {
        Balance {
            loads: (0..threads).map(|_| Load::default()).collect(),
            needed: AtomicUsize::new(1),
            calm_since: AtomicU64::new(NOT_CALM),
            usual: AtomicU32::new(0),
            crowded_since: AtomicU64::new(NOT_CALM),
        }
    }

    /// The threads that new connections go to are the first ones, so many.
    pub fn needed(&self) -> usize {
        self.needed.load(Relaxed)
    }

    /// Thread `who` has had this load since it told the last one, at least a [`WINDOW`] ago. `room`: see [`Room::look`].
    pub fn tell(&self, who: usize, now: Duration, load: Permille, room: impl Fn() -> Option<Permille>) -> Option<Gift> {
        self.loads[who].tell(now, load);
        let needed = self.needed();
        if who >= needed {
            let (to, _) = self.lightest(who, now, needed)?;
            return Some(Gift { to, part: 1000 });
        }
        let all: Permille = self.loads[..needed].iter().map(|load| load.at(now)).sum();
        if needed > 1 && self.is_crowded(now, all, needed as Permille - 1, &room) {
            self.need(needed, needed - 1);
            return None;
        }
        if load <= HIGH {
            self.spare_one(now, all, needed);
            return None;
        }
        self.calm_since.store(NOT_CALM, Relaxed);
        let (to, its) = match self.lightest(who, now, needed) {
            Some((to, its)) if its + GAP <= load => (to, its),
            _ if needed < self.loads.len() && room().is_some_and(|room| room >= ROOM_FOR_ANOTHER) => {
                // If another thread is faster, the gift goes to the one that it needs, too.
                self.need(needed, needed + 1);
                self.usual.store(1000 * (needed as Permille + 1) * USUAL, Relaxed);
                (needed, 0)
            }
            _ => return None,
        };
        Some(Gift { to, part: (load - its) / 2 * 1000 / load })
    }

    /// Thread `who` has given away so much of its load: known before either tells its next.
    pub fn gave(&self, who: usize, gift: Gift, now: Duration) {
        let load = self.loads[who].at(now);
        let given = (load * gift.part / 1000).min(load);
        self.loads[who].tell(now, load - given);
        self.loads[gift.to].tell(now, self.loads[gift.to].at(now) + given);
    }

    fn need(&self, from: usize, to: usize) {
        if self.needed.compare_exchange(from, to, Relaxed, Relaxed).is_ok() {
            tracing::debug!(threads = to, "network threads that have work");
        }
    }

    fn lightest(&self, who: usize, now: Duration, needed: usize) -> Option<(usize, Permille)> {
        let others = self.loads[..needed].iter().enumerate().filter(|(i, _)| *i != who);
        others.map(|(i, load)| (i, load.at(now))).min_by_key(|(_, load)| *load)
    }

    /// Without the last thread the others would do as much, or more.
    fn is_crowded(&self, now: Duration, all: Permille, fewer: Permille, room: &impl Fn() -> Option<Permille>) -> bool {
        // Of threads that tell at once one may be lost: it is an average.
        let before = self.usual.load(Relaxed);
        let usual = before - before / USUAL + all;
        self.usual.store(usual, Relaxed);
        let is_little = usual / USUAL < 1000 * fewer + LITTLE_MORE;
        let crowded = is_little && room().is_some_and(|room| room < ROOM);
        held_for(&self.crowded_since, crowded, now)
    }

    fn spare_one(&self, now: Duration, all: Permille, needed: usize) {
        if needed > 1 && held_for(&self.calm_since, all < LOW * (needed as Permille - 1), now) {
            self.need(needed, needed - 1);
        }
    }
}

/// Whether it has been so for [`CALM`], `since` then. Once it was, that begins anew.
fn held_for(since: &AtomicU64, is_so: bool, now: Duration) -> bool {
    let began = since.load(Relaxed);
    let now = now.as_millis() as u64;
    let held = is_so && began != NOT_CALM && now.saturating_sub(began) >= CALM.as_millis() as u64;
    if !is_so || held {
        since.store(NOT_CALM, Relaxed);
    } else if began == NOT_CALM {
        since.store(now, Relaxed);
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn plenty() -> Option<Permille> {
        Some(Permille::MAX)
    }

    /// All `loads` are told every ten milliseconds, from `from` to `to`; the last gift of each.
    fn tell_all(balance: &Balance, from: u64, to: u64, loads: &[Permille]) -> Vec<Option<Gift>> {
        let mut gifts = vec![None; loads.len()];
        for at in (from..to).step_by(10) {
            for (who, load) in loads.iter().enumerate() {
                gifts[who] = balance.tell(who, ms(at), *load, plenty);
            }
        }
        gifts
    }

    #[test]
    fn a_load_that_one_thread_carries_stays_there() {
        let balance = Balance::new(4);
        assert_eq!(tell_all(&balance, 0, 1000, &[HIGH]), [None]);
        assert_eq!(balance.needed(), 1);
    }

    #[test]
    fn a_thread_with_too_much_gives_half_to_a_further_one() {
        let balance = Balance::new(2);
        let gift = balance.tell(0, ms(0), 900, plenty).unwrap();
        assert_eq!((gift, balance.needed()), (Gift { to: 1, part: 500 }, 2));
        balance.gave(0, gift, ms(0));
        // Both are known to have half before they tell it.
        assert_eq!((balance.loads[0].at(ms(1)), balance.loads[1].at(ms(1))), (450, 450));
        // There is no third, and the other has as much.
        assert_eq!(tell_all(&balance, 10, 100, &[950, 900]), [None, None]);
        // Of 1000 and 200, a third of the 1000 waits 400 from both.
        assert_eq!(
            tell_all(&balance, 100, 110, &[1000, 200])[0],
            None,
            "the other's load is not known before it tells it"
        );
        assert_eq!(balance.tell(0, ms(110), 1000, plenty), Some(Gift { to: 1, part: 400 }));
    }

    #[test]
    fn loads_that_stay_low_need_a_thread_less() {
        let balance = Balance::new(3);
        balance.tell(0, ms(0), 900, plenty);
        balance.tell(0, ms(0), 900, plenty);
        tell_all(&balance, 0, 10, &[900, 700]);
        tell_all(&balance, 10, 20, &[900, 700]);
        assert_eq!(balance.needed(), 3);
        tell_all(&balance, 20, 800, &[400, 400, 380]);
        assert_eq!(balance.needed(), 2, "1180 of 1200");
        // More than a thread's 600, and not for long enough less.
        tell_all(&balance, 800, 2000, &[400, 220]);
        tell_all(&balance, 2000, 2400, &[300, 250]);
        tell_all(&balance, 2400, 2410, &[400, 220]);
        tell_all(&balance, 2410, 2900, &[300, 250]);
        assert_eq!(balance.needed(), 2);
        tell_all(&balance, 2900, 2950, &[300, 250]);
        assert_eq!(balance.needed(), 1);
        // Those that are not needed give all they have to the one that is, or to the lightest.
        assert_eq!(balance.tell(2, ms(2950), 1, plenty), Some(Gift { to: 0, part: 1000 }));
        assert_eq!(tell_all(&balance, 2950, 3000, &[300, 5]), [None, Some(Gift { to: 0, part: 1000 })]);
    }

    #[test]
    fn a_thread_that_waits_has_no_load() {
        let balance = Balance::new(2);
        balance.tell(0, ms(0), 900, plenty);
        balance.tell(1, ms(0), 700, plenty);
        assert_eq!(balance.tell(0, ms(10), 900, plenty), None);
        assert_eq!(balance.tell(0, ms(60), 900, plenty), Some(Gift { to: 1, part: 500 }));
        // One thread is left, whatever the other had.
        balance.tell(1, ms(70), 700, plenty);
        tell_all(&balance, 120, 700, &[500]);
        assert_eq!(balance.needed(), 1);
    }

    #[test]
    fn a_further_thread_wants_room() {
        let balance = Balance::new(2);
        assert_eq!(balance.tell(0, ms(0), 900, || None), None, "not known yet");
        assert_eq!(balance.tell(0, ms(10), 900, || Some(ROOM_FOR_ANOTHER - 1)), None);
        assert_eq!(balance.needed(), 1);
        assert!(balance.tell(0, ms(20), 900, || Some(ROOM_FOR_ANOTHER)).is_some());
        assert_eq!(balance.needed(), 2);
    }

    #[test]
    fn a_crowded_machine_needs_a_thread_less_if_that_does_nearly_as_much() {
        let needed_after = |windows: &[[Permille; 2]], room: Option<Permille>| {
            let balance = Balance::new(2);
            balance.tell(0, ms(0), 900, plenty);
            for (at, loads) in (0..1500).step_by(10).zip(windows.iter().cycle()) {
                for (who, load) in loads.iter().enumerate() {
                    balance.tell(who, ms(at), *load, || room);
                }
            }
            balance.needed()
        };
        assert_eq!(needed_after(&[[630, 430]], Some(0)), 1);
        assert_eq!(needed_after(&[[300, 590], [850, 700]], Some(0)), 1, "what they are in one window does not count");
        assert_eq!(needed_after(&[[630, 430]], Some(ROOM)), 2);
        assert_eq!(needed_after(&[[630, 430]], None), 2);
        assert_eq!(needed_after(&[[780, 770]], Some(0)), 2, "these want more than one");
    }

    #[test]
    fn a_new_thread_is_no_thread_too_many_before_its_load_is_known() {
        let balance = Balance::new(3);
        balance.tell(0, ms(0), 900, plenty);
        tell_all(&balance, 0, 10, &[900, 700]);
        tell_all(&balance, 10, 20, &[900, 900]);
        assert_eq!(balance.needed(), 3);
        for at in (40..2000).step_by(10) {
            (0..3).for_each(|who| assert_eq!(balance.tell(who, ms(at), 760, || Some(0)), None));
        }
        assert_eq!(balance.needed(), 3, "2280 of 2250");
    }
}
