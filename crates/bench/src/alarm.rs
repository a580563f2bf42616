//! [`Alarm`]: a timer to the microsecond. Tokio's rings at whole milliseconds, ten times what a Get takes.
//!
//! Where the load generator has cores of its own, it does not sleep but looks at the clock again and again: to sleep for some
//! microseconds and to be woken costs more than a Get, of which a core could then ask for some 60,000 a second only.

use crate::Error;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

/// A Linux timer as a file, from which eight bytes can be read when it has rung. There is none until it is needed.
#[derive(Debug, Default)]
pub struct Alarm {
    /// Look at the clock, and let others of the thread run between.
    polls: bool,
    timer: Option<Receiver>,
    /// When it will ring.
    set: Option<Instant>,
}

impl Alarm {
    /// For a thread that has a core of its own.
    pub fn polling() -> Alarm {
        Alarm { polls: true, ..Alarm::default() }
    }

    /// Waits until then. May be dropped and called again.
    pub async fn until(&mut self, at: Instant) -> Result<(), Error> {
        while self.polls && Instant::now() < at {
            // The runtime looks for news from sockets before it comes back.
            tokio::task::yield_now().await;
        }
        let left = at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        let timer = match &mut self.timer {
            Some(timer) => timer,
            None => {
                let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
                let timer = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(std::io::Error::from)?;
                // Any file that is read like a pipe.
                self.timer.insert(Receiver::from_owned_fd_unchecked(timer)?)
            }
        };
        if self.set != Some(at) {
            let (it_interval, it_value) = (timespec(Duration::ZERO), timespec(left));
            timerfd_settime(&*timer, TimerfdTimerFlags::empty(), &Itimerspec { it_interval, it_value })
                .map_err(std::io::Error::from)?;
            self.set = Some(at);
        }
        // Less than there is room for, so that tokio knows that it has everything.
        let read = timer.read(&mut [0; 16]).await?;
        debug_assert_eq!(read, 8, "of a timer");
        self.set = None;
        Ok(())
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: duration.as_secs() as i64, tv_nsec: i64::from(duration.subsec_nanos()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_rings_again_and_again_and_not_before_the_time() {
        for mut alarm in [Alarm::default(), Alarm::polling()] {
            for ms in [0, 3, 1, 2] {
                let at = Instant::now() + Duration::from_millis(ms);
                alarm.until(at).await.unwrap();
                assert!(Instant::now() >= at);
            }
        }
    }

    #[tokio::test]
    async fn who_polls_lets_others_of_the_thread_run() {
        let mut alarm = Alarm::polling();
        let other = tokio::spawn(tokio::time::sleep(Duration::from_millis(1)));
        let done = async {
            other.await.unwrap();
            true
        };
        let far = Instant::now() + Duration::from_secs(3600);
        assert!(tokio::select! { biased; _ = alarm.until(far) => false, done = done => done });
    }

    #[tokio::test]
    async fn it_can_be_set_to_another_time() {
        let mut alarm = Alarm::default();
        let (near, far) = (Duration::from_millis(2), Duration::from_secs(3600));
        tokio::select! {
            biased;
            _ = alarm.until(Instant::now() + far) => panic!("an hour has not passed"),
            () = tokio::task::yield_now() => {}
        }
        let at = Instant::now() + near;
        alarm.until(at).await.unwrap();
        assert!(Instant::now() >= at);
    }
}
