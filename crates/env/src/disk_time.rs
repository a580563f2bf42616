//! What a thread waited for reads from the disk, for whoever the thread works for.
//!
//! Reads happen deep below the call that needs them, and in layers that know of no call; a thread works for one at a time.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

thread_local! {
    static WAITED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static TOLD: RefCell<Option<Told>> = const { RefCell::new(None) };
}

type Told = Box<dyn Fn(Wait)>;

/// What a thread does about a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    Begins,
    Ends,
}

/// From now on `told` hears when this thread begins to wait for a disk, and when it has done so.
pub fn tell(told: impl Fn(Wait) + 'static) {
    TOLD.set(Some(Box::new(told)));
}

/// Tells of a wait.
struct Telling;

impl Telling {
    fn begin() -> Telling {
        Telling::say(Wait::Begins);
        Telling
    }

    fn say(what: Wait) {
        TOLD.with_borrow(|told| told.iter().for_each(|told| told(what)));
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        Telling::say(Wait::Ends);
    }
}

/// Does `read`, which reads from a disk, and says how long that took.
pub fn timed<T>(read: impl FnOnce() -> T) -> (T, Duration) {
    let _telling = Telling::begin();
    let began = Instant::now();
    let outcome = read();
    let took = began.elapsed();
    WAITED.set(WAITED.get() + took);
    (outcome, took)
}

/// What this thread has waited since it was asked last.
#[inline]
pub fn take() -> Duration {
    WAITED.replace(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_is_told_once_and_on_its_thread() {
        let (found, first) = timed(|| 7);
        let ((), second) = timed(std::thread::yield_now);
        assert_eq!(std::thread::spawn(take).join().ok(), Some(Duration::ZERO));
        assert_eq!((found, take(), take()), (7, first + second, Duration::ZERO));
    }

    #[test]
    fn who_is_told_hears_of_the_wait_before_and_after_it() {
        let (said, heard) = std::sync::mpsc::channel();
        let all = || heard.try_iter().collect::<Vec<_>>();
        tell(move |wait| said.send(wait).unwrap());
        assert_eq!(timed(all).0, [Wait::Begins]);
        assert_eq!(all(), [Wait::Ends]);
        assert!(std::panic::catch_unwind(|| timed(|| panic!("as asked"))).is_err());
        assert_eq!(all(), [Wait::Begins, Wait::Ends]);
    }
}
