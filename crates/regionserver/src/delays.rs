//! [`Delays`]: flushes that wait for a compaction, because a store of their region has too many files already.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::time::Duration;

/// Regions by their encoded names.
#[derive(Debug, Default)]
pub(crate) struct Delays(Mutex<BTreeMap<String, Delay>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delay {
    /// Since this moment.
    Waits(Duration),
    /// The server needs the memory.
    Overruled,
}

/// What becomes of a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Goes,
    /// It has waited long enough.
    GoesAnyway,
    /// For the first time.
    Begins,
    Waits,
}

impl Delays {
    /// Of a region that is to be flushed `now`.
    pub fn judge(&self, region: &str, has_too_many_files: bool, now: Duration, longest: Duration) -> Verdict {
        let mut delays = self.0.lock();
        let verdict = match delays.get(region) {
            _ if !has_too_many_files => Verdict::Goes,
            Some(Delay::Overruled) => Verdict::GoesAnyway,
            Some(Delay::Waits(since)) if now.saturating_sub(*since) >= longest => Verdict::GoesAnyway,
            Some(Delay::Waits(_)) => return Verdict::Waits,
            None => {
                delays.insert(region.to_owned(), Delay::Waits(now));
                return Verdict::Begins;
            }
        };
        delays.remove(region);
        verdict
    }

    /// The next flush of a region does not wait, whatever files there are.
    pub fn overrule(&self, region: &str) {
        self.0.lock().insert(region.to_owned(), Delay::Overruled);
    }

    pub fn waits(&self, region: &str) -> bool {
        matches!(self.0.lock().get(region), Some(Delay::Waits(_)))
    }

    pub fn forget(&self, region: &str) {
        self.0.lock().remove(region);
    }

    /// Flushes that wait, and since when.
    pub fn waiting(&self) -> Vec<(String, Duration)> {
        let delays = self.0.lock();
        let waiting = delays.iter().filter_map(|(region, delay)| match delay {
            Delay::Waits(since) => Some((region.clone(), *since)),
            Delay::Overruled => None,
        });
        waiting.collect()
    }

    pub fn count(&self) -> usize {
        self.waiting().len()
    }

    /// How long until the first of them has waited long enough; None: none waits.
    pub fn next(&self, now: Duration, longest: Duration) -> Option<Duration> {
        let ends = self.waiting().into_iter().map(|(_, since)| (since + longest).saturating_sub(now));
        ends.min()
    }

    /// Those that have waited long enough.
    pub fn over(&self, now: Duration, longest: Duration) -> Vec<String> {
        let over = self.waiting().into_iter().filter(|(_, since)| now.saturating_sub(*since) >= longest);
        over.map(|(region, _)| region).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_secs(90);

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(1000 + seconds)
    }

    #[test]
    fn a_flush_waits_until_the_files_are_fewer_or_the_time_is_over() {
        let delays = Delays::default();
        assert_eq!(delays.judge("a", false, at(0), LONGEST), Verdict::Goes);
        assert_eq!(delays.judge("a", true, at(0), LONGEST), Verdict::Begins);
        assert_eq!(delays.judge("b", true, at(5), LONGEST), Verdict::Begins);
        assert_eq!(delays.judge("a", true, at(89), LONGEST), Verdict::Waits);
        assert_eq!((delays.count(), delays.next(at(80), LONGEST)), (2, Some(Duration::from_secs(10))));
        assert_eq!((delays.over(at(89), LONGEST), delays.over(at(90), LONGEST)), (vec![], vec!["a".to_owned()]));
        assert_eq!(delays.judge("a", true, at(90), LONGEST), Verdict::GoesAnyway);
        assert_eq!(delays.judge("a", true, at(91), LONGEST), Verdict::Begins, "another one");
        assert_eq!(delays.judge("b", false, at(91), LONGEST), Verdict::Goes);
        delays.forget("a");
        assert_eq!((delays.count(), delays.next(at(91), LONGEST)), (0, None));
    }

    #[test]
    fn memory_comes_first() {
        let delays = Delays::default();
        assert_eq!(delays.judge("a", true, at(0), LONGEST), Verdict::Begins);
        delays.overrule("a");
        assert!(!delays.waits("a"));
        assert_eq!(delays.judge("a", true, at(1), LONGEST), Verdict::GoesAnyway);
        assert_eq!(delays.judge("a", true, at(2), LONGEST), Verdict::Begins);
    }
}
