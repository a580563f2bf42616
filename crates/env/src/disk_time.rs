//! What a thread waited for reads from the disk, for whoever the thread works for.
//!
//! Reads happen deep below the call that needs them, and in layers that know of no call; a thread works for one at a time.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

thread_local! {
    static WAITED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static TOLD: RefCell<Option<Told>> = const { RefCell::new(None) };
}

type Told = Box<dyn Fn()>;

/// From now on `told` hears each time this thread is about to wait for a disk.
pub fn tell(told: impl Fn() + 'static) {
    TOLD.set(Some(Box::new(told)));
}

/// Does `read`, which reads from a disk, and says how long that took.
pub fn timed<T>(read: impl FnOnce() -> T) -> (T, Duration) {
    TOLD.with_borrow(|told| told.iter().for_each(|told| told()));
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
    fn who_is_told_hears_of_the_wait_before_it() {
        let (said, heard) = std::sync::mpsc::channel();
        tell(move || said.send(()).unwrap());
        assert_eq!(timed(|| heard.try_iter().count()).0, 1);
        assert_eq!(heard.try_iter().count(), 0);
    }
}
