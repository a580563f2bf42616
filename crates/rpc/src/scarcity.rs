//! [`Scarcity`]: whether threads that take what all others leave are left enough, and who leaves them too little.
//!
//! Scans run on such threads: the system takes a processor that has nothing else to do for an idle one, and whoever wakes up runs
//! there at once; it has others, of however little weight, run a moment longer, and puts who wakes up beside a network thread. But a
//! machine that is full leaves them next to nothing. So scans go on by other threads for a while once that is so: by threads with a
//! small weight if it is calls that fill it, for which scans stand back, and by ordinary ones if it is not. Where other programs have all
//! processors, or compactions, no call is served if scans get nothing.
//!
//! ```text
//! a thread for scans has next to nothing (`Share`)           ──▶ scarcity, for LASTS, by calls or by others
//! batch work is done, which takes what is left, too          ──▶ scarcity by calls, for LASTS
//! scarcity by others, and an ordinary thread has to share    ──▶ it goes on, for LASTS
//! ```

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use martite_env::share::{NEXT_TO_NOTHING, Share, Spent};
use martite_env::thread::RunDelay;
use parking_lot::Mutex;

use crate::pool::{Class, SCANS};

/// How often each thread tells what it has.
const LOOK: Duration = Duration::from_millis(10);
/// What was seen over a longer time tells nothing of now.
const FORGET: Duration = Duration::from_secs(10);
const LASTS: Duration = Duration::from_secs(1);
/// Beside others a thread with a small weight has as much as beside calls, and next to nothing of what an ordinary one would have.
const LITTLE: u32 = NEXT_TO_NOTHING / 3;
/// An ordinary thread has to share if it waited for one part in so many of what it had.
const SHARES: u32 = 4;
/// It is calls that fill the machine if they had one part in so many of all processors while scans went on. Clients on the same machine
/// may need several times what their calls do.
const BY_CALLS: u32 = 8;

/// Of a pool.
#[derive(Debug)]
pub(crate) struct Scarcity {
    origin: Instant,
    processors: u32,
    /// In milliseconds.
    by_calls: AtomicU64,
    by_others: AtomicU64,
    /// The processors' time that calls have had, in nanoseconds, and what of it scans had.
    calls: AtomicU64,
    scans_of_calls: AtomicU64,
    /// Of the threads of each class of scans.
    seen: [Mutex<Seen>; SCANS.len()],
}

/// What was seen of some threads.
#[derive(Debug, Default)]
struct Seen {
    spent: Spent,
    /// Since when, and what calls had had then.
    began: Option<(Instant, Duration)>,
}

impl Scarcity {
    pub fn new(processors: usize) -> Scarcity {
        Scarcity {
            origin: Instant::now(),
            processors: processors as u32,
            by_calls: AtomicU64::new(0),
            by_others: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            scans_of_calls: AtomicU64::new(0),
            seen: Default::default(),
        }
    }

    /// It never ends where the system does not tell for how long threads wait.
    pub fn unless_told(processors: usize) -> Scarcity {
        let scarcity = Scarcity::new(processors);
        if let Err(e) = RunDelay::open() {
            tracing::debug!("for how long threads wait for processors is not known: {e}");
            scarcity.by_calls.store(u64::MAX, Relaxed);
        }
        scarcity
    }

    /// Of scans.
    pub fn class(&self, now: Instant) -> Class {
        let now = self.millis(now);
        if now < self.by_others.load(Relaxed) {
            Class::OrdinaryScan
        } else if now < self.by_calls.load(Relaxed) {
            Class::WeightedScan
        } else {
            Class::Scan
        }
    }

    /// By calls, or it goes on.
    pub fn begin(&self, now: Instant) {
        self.by_calls.fetch_max(self.millis(now + LASTS), Relaxed);
    }

    fn begin_by_others(&self, now: Instant) {
        self.by_others.fetch_max(self.millis(now + LASTS), Relaxed);
    }

    /// A thread had a processor for so long for calls, and for what of them goes on aside.
    pub fn note_calls(&self, had: Duration) {
        self.calls.fetch_add(had.as_nanos() as u64, Relaxed);
    }

    /// So much of it was for scans.
    pub fn note_scans_of_calls(&self, had: Duration) {
        self.scans_of_calls.fetch_add(had.as_nanos() as u64, Relaxed);
    }

    /// By threads that do scans, of this class, often: now and then it is seen what all of them have.
    pub fn review(&self, class: Class, now: Instant) {
        let Some(spent) = SHARE.with_borrow_mut(|share| match share {
            Some(share) => share.look_often(now, LOOK),
            None => {
                *share = Share::open(now).ok();
                None
            }
        }) else {
            return;
        };
        // What one adds who finds another at it is lost: nobody waits for a thread that may have to wait for a processor.
        let Some(mut seen) = self.seen(class).and_then(Mutex::try_lock) else { return };
        if let Some((spent, calls, all)) = seen.add(now, spent, self.calls()) {
            drop(seen);
            self.judge(class, now, spent, calls * BY_CALLS >= all * self.processors);
        }
    }

    fn judge(&self, class: Class, now: Instant, spent: Spent, by_calls: bool) {
        match class {
            Class::Scan if spent.is_too_little(NEXT_TO_NOTHING) && by_calls => self.begin(now),
            Class::Scan if spent.is_too_little(NEXT_TO_NOTHING) => self.begin_by_others(now),
            Class::WeightedScan if spent.is_too_little(LITTLE) && !by_calls => self.begin_by_others(now),
            Class::OrdinaryScan if spent.waited * SHARES > spent.had && !by_calls => self.begin_by_others(now),
            _ => {}
        }
    }

    fn seen(&self, class: Class) -> Option<&Mutex<Seen>> {
        SCANS.iter().position(|scans| *scans == class).map(|i| &self.seen[i])
    }

    /// The processors' time that calls but scans have had.
    fn calls(&self) -> Duration {
        Duration::from_nanos(self.calls.load(Relaxed).saturating_sub(self.scans_of_calls.load(Relaxed)))
    }

    fn millis(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.origin).as_millis() as u64
    }
}

impl Seen {
    /// What one of the threads has spent up to now, and calls have had. Once it is enough: what all have, what calls had meanwhile, and
    /// how long that was.
    fn add(&mut self, now: Instant, spent: Spent, calls: Duration) -> Option<(Spent, Duration, Duration)> {
        // Of the first one it is not known what calls had while it waited.
        let Some((began, before)) = self.began else {
            self.began = Some((now, calls));
            return None;
        };
        self.spent += spent;
        let all = now.saturating_duration_since(began);
        if self.spent.is_enough() && all >= LOOK || all > FORGET {
            self.began = Some((now, calls));
            let spent = std::mem::take(&mut self.spent);
            return (all <= FORGET).then(|| (spent, calls.saturating_sub(before), all));
        }
        None
    }
}

thread_local! {
    /// Of a thread for scans.
    static SHARE: RefCell<Option<Share>> = const { RefCell::new(None) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn scarcity_ends_by_itself_and_goes_on_if_it_begins_again() {
        let (scarcity, now) = (Scarcity::new(2), Instant::now());
        assert_eq!(scarcity.class(now), Class::Scan);
        scarcity.begin(now);
        let classes = |after| [Duration::ZERO, LASTS - ms(2), LASTS].map(|more| scarcity.class(now + after + more));
        assert_eq!(classes(Duration::ZERO), [Class::WeightedScan, Class::WeightedScan, Class::Scan]);
        scarcity.begin(now + LASTS / 2);
        scarcity.begin(now);
        assert_eq!(scarcity.class(now + LASTS), Class::WeightedScan);
        scarcity.begin_by_others(now);
        assert_eq!(classes(Duration::ZERO), [Class::OrdinaryScan, Class::OrdinaryScan, Class::WeightedScan]);
    }

    #[test]
    fn scans_go_by_who_leaves_them_too_little() {
        let now = Instant::now();
        let judged = |class, had, waited, by_calls| {
            let scarcity = Scarcity::new(2);
            scarcity.judge(class, now, Spent { had: ms(had), waited: ms(waited), all: ms(had + waited) }, by_calls);
            scarcity.class(now)
        };
        let scan = |waited, by_calls| judged(Class::Scan, 10, waited, by_calls);
        assert_eq!([scan(150, false), scan(150, true)], [Class::Scan; 2], "a fifteenth is enough");
        assert_eq!([scan(151, false), scan(151, true)], [Class::OrdinaryScan, Class::WeightedScan]);
        let weighted = |waited, by_calls| judged(Class::WeightedScan, 10, waited, by_calls);
        assert_eq!([weighted(50, false), weighted(51, false)], [Class::Scan, Class::OrdinaryScan]);
        assert_eq!(weighted(151, true), Class::Scan, "that is its share");
        let ordinary = |waited, by_calls| judged(Class::OrdinaryScan, 40, waited, by_calls);
        assert_eq!([ordinary(10, false), ordinary(11, false)], [Class::Scan, Class::OrdinaryScan]);
        assert_eq!(ordinary(1000, true), Class::Scan, "calls are who it waits for");
    }

    #[test]
    fn threads_tell_together_what_they_have() {
        let (mut seen, now) = (Seen::default(), Instant::now());
        let spent = |waited| Spent { had: ms(1), waited: ms(waited), all: ms(20) };
        assert!(seen.add(now, spent(200), ms(500)).is_none(), "what calls had meanwhile is not known");
        assert!(seen.add(now + ms(10), spent(49), ms(503)).is_none());
        let (both, calls, all) = seen.add(now + ms(30), spent(49), ms(507)).unwrap();
        assert_eq!((both.had, both.waited, calls, all), (ms(2), ms(98), ms(7), ms(30)));
        assert!(seen.add(now + ms(40), spent(90), ms(600)).is_none(), "that was told");
        assert!(seen.add(now + ms(31) + FORGET, spent(90), ms(700)).is_none(), "it took too long");
        assert!(
            seen.add(now + ms(32) + FORGET, spent(99), ms(701)).is_none(),
            "the time is too short for what calls had"
        );
        let (spent, calls, all) = seen.add(now + ms(50) + FORGET, spent(1), ms(710)).unwrap();
        assert_eq!((spent.waited, calls, all), (ms(100), ms(10), ms(19)));
    }

    #[test]
    fn pieces_of_scans_are_no_calls() {
        let scarcity = Scarcity::new(2);
        scarcity.note_calls(ms(5));
        scarcity.note_scans_of_calls(ms(3));
        assert_eq!(scarcity.calls(), ms(2));
        scarcity.note_scans_of_calls(ms(9));
        assert_eq!(scarcity.calls(), ms(0), "a network thread tells what it had once in a while");
    }
}
