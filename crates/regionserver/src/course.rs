//! [`Course`]: on which thread a compaction goes on.
//!
//! ```text
//! behind: a thread that takes what others leave: who wakes up runs there at once, and the system takes its processor for an idle one
//!    │ some store has half the files with which flushes have to wait      ──▶ beside, as long as that is so
//!    │ it is left too little (`Share`): a fiftieth of what it wants, or a
//!    │ quarter while stores have more files than a compaction takes       ──▶ beside, for LASTS
//! beside: the compaction's own thread, one like all others
//! ```
//! A thread that stands back needs a privilege to come back: each stretch behind has a thread of its own, which ends between two cells. What
//! others wait for, as the change of the list of files, is done beside.

use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};

use martite_env::share::Share;
use martite_env::thread::stand_back;
use parking_lot::Mutex;

/// How long it goes on beside others before it stands back again.
const LASTS: Duration = Duration::from_secs(1);
/// From such a pressure on (`pace`) it does not wait for others.
const URGENT: f64 = 0.5;
/// It waits so many times as long as it has a processor at most, if it has no time to rest as its pace wants it to: while there is any
/// pressure, and while there is none.
const PRESSED: u32 = 3;
const AT_EASE: u32 = 50;

/// Of one compaction.
#[derive(Debug, Default)]
pub(crate) struct Course(Mutex<Place>);

#[derive(Debug)]
enum Place {
    /// Until then at least.
    Beside(Option<Instant>),
    /// What it is left.
    Behind(Share),
    /// The system does not let it stand back, or does not tell what it is left.
    Here,
}

impl Default for Place {
    fn default() -> Place {
        Place::Beside(None)
    }
}

impl Course {
    /// Does a piece of the compaction where it belongs now. `pressure`: of the server's stores.
    pub fn run(&self, pressure: f64, now: Instant, piece: &mut (dyn FnMut() + Send)) {
        let stands_back = match &*self.0.lock() {
            Place::Beside(until) => pressure < URGENT && until.is_none_or(|until| now >= until),
            Place::Behind(_) | Place::Here => false,
        };
        if !stands_back {
            return piece();
        }
        let done = thread::scope(|scope| {
            let behind = thread::Builder::new().name("compact-behind".to_owned());
            let behind = behind.spawn_scoped(scope, || self.run_behind(piece));
            behind.map(|behind| behind.join())
        });
        match done {
            Ok(Ok(())) => {}
            Ok(Err(panic)) => resume_unwind(panic),
            Err(e) => {
                self.stay(&e);
                piece();
            }
        }
    }

    fn run_behind(&self, piece: &mut (dyn FnMut() + Send)) {
        match Share::open(Instant::now()).and_then(|share| stand_back().map(|()| share)) {
            Ok(share) => *self.0.lock() = Place::Behind(share),
            Err(e) => self.stay(&e),
        }
        piece();
        let mut place = self.0.lock();
        if let Place::Behind(_) = *place {
            *place = Place::Beside(None);
        }
    }

    fn stay(&self, error: &std::io::Error) {
        tracing::debug!(%error, "a compaction does not stand back");
        *self.0.lock() = Place::Here;
    }

    /// Whether the piece under way is to end, since the compaction belongs elsewhere. By the thread that does it.
    pub fn is_elsewhere(&self, pressure: f64, now: Instant) -> bool {
        let is_urgent = pressure >= URGENT;
        let mut place = self.0.lock();
        match &mut *place {
            Place::Here => false,
            Place::Beside(until) => !is_urgent && until.is_none_or(|until| now >= until),
            Place::Behind(share) => {
                let times = if pressure > 0.0 { PRESSED } else { AT_EASE };
                let is_short = share.look(now).is_some_and(|spent| spent.is_too_little(times) && spent.is_busy());
                if is_short || is_urgent {
                    *place = Place::Beside(is_short.then_some(now + LASTS));
                }
                is_short || is_urgent
            }
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    /// The name of the thread that does a piece, and what it found out meanwhile.
    fn piece<T: Send>(course: &Course, pressure: f64, now: Instant, look: impl Fn() -> T + Sync) -> (String, T) {
        let mut found = None;
        course.run(pressure, now, &mut || {
            found = Some((thread::current().name().unwrap_or_default().to_owned(), look()));
        });
        found.unwrap()
    }

    fn is_behind(course: &Course, pressure: f64, now: Instant) -> bool {
        piece(course, pressure, now, || ()).0 == "compact-behind"
    }

    #[test]
    fn a_compaction_stands_back_unless_it_is_urgent() {
        if Share::open(Instant::now()).is_err() {
            return;
        }
        let (course, now) = (Course::default(), Instant::now());
        assert!(!is_behind(&course, URGENT, now));
        assert!(course.is_elsewhere(0.4, now) && !course.is_elsewhere(URGENT, now));
        let look = || [0.4, URGENT, URGENT].map(|pressure| course.is_elsewhere(pressure, now));
        let (thread, found) = piece(&course, 0.4, now, look);
        assert_eq!((&*thread, found), ("compact-behind", [false, true, false]), "the piece has to end, once");
        assert!(is_behind(&course, 0.4, now) && !is_behind(&course, 1.5, now) && is_behind(&course, 0.0, now));
    }

    #[test]
    fn one_that_is_left_next_to_nothing_goes_on_beside_others_for_a_while() {
        if Share::open(Instant::now()).is_err() {
            return;
        }
        let (course, over) = (Course::default(), AtomicBool::new(false));
        let processors = thread::available_parallelism().unwrap().get();
        let ended = thread::scope(|scope| {
            for _ in 0..2 * processors {
                scope.spawn(|| {
                    while !over.load(Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let (_, ended) = piece(&course, 0.0, Instant::now(), || {
                loop {
                    let now = Instant::now();
                    if course.is_elsewhere(0.0, now) {
                        return now;
                    }
                }
            });
            over.store(true, Relaxed);
            ended
        });
        assert!(!is_behind(&course, 0.0, ended + LASTS / 2) && !course.is_elsewhere(0.0, ended + LASTS / 2));
        assert!(course.is_elsewhere(0.0, ended + LASTS) && is_behind(&course, 0.0, ended + LASTS));
    }

    #[test]
    fn a_panic_behind_is_one_of_the_compaction() {
        let course = Course::default();
        let run = || course.run(0.0, Instant::now(), &mut || panic!("as asked"));
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"as asked"));
    }
}
