//! [`Room`]: how much of the machine nobody uses.

use std::time::Duration;

use martite_env::idle::IdleTime;
use parking_lot::Mutex;

use crate::balance::Permille;

/// Over how long it is looked, and for how long what was found holds.
const LOOK: Duration = Duration::from_millis(200);
/// Nobody has asked for so long: what was idle until now tells nothing of what they do who ask now.
const FORGET: Duration = Duration::from_millis(50);

/// What the processors that this process may use have left, or use for threads that stand back (`nice`).
#[derive(Debug)]
pub(crate) struct Room {
    /// None: the system does not tell.
    idle: Option<IdleTime>,
    last: Mutex<Look>,
}

#[derive(Debug, Default)]
struct Look {
    asked: Duration,
    began: Duration,
    /// Then.
    idle: Duration,
    found: Option<Permille>,
}

impl Room {
    pub fn new() -> Room {
        let idle =
            IdleTime::open().inspect_err(|e| tracing::debug!("whether processors are idle is not known: {e}")).ok();
        Room { idle, last: Mutex::default() }
    }

    /// In thousandths of a processor; without end if the system does not tell. None: not known yet, those who ask are to go on.
    pub fn look(&self, now: Duration) -> Option<Permille> {
        let Some(idle) = &self.idle else { return Some(Permille::MAX) };
        self.last.lock().ask(now, || idle.read().ok())
    }
}

impl Look {
    fn ask(&mut self, now: Duration, idle: impl FnOnce() -> Option<Duration>) -> Option<Permille> {
        let forgotten = now.saturating_sub(self.asked) > FORGET;
        let passed = now.saturating_sub(self.began);
        self.asked = now;
        if forgotten || passed >= LOOK {
            let idle = idle()?;
            let found = idle.saturating_sub(self.idle).as_nanos() * 1000 / passed.as_nanos().max(1);
            (self.began, self.idle, self.found) = (now, idle, (!forgotten).then_some(found as Permille));
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn room_is_what_was_idle_while_somebody_asked() {
        let mut look = Look::default();
        let mut ask = |at: u64, idle: u64| look.ask(ms(at), || Some(ms(idle)));
        assert_eq!(ask(60_000, 10_000), None, "what was before is over");
        assert!((60_010..60_200).step_by(10).all(|at| ask(at, 10_070).is_none()));
        assert_eq!(ask(60_200, 10_080), Some(400));
        assert!((60_210..60_400).step_by(10).all(|at| ask(at, 10_270).is_some_and(|found| found == 400)));
        assert_eq!(ask(60_400, 10_280), Some(1000));
        assert_eq!(ask(60_500, 10_290), None, "nobody asked for too long");
    }

    #[test]
    fn room_that_nobody_tells_has_no_end() {
        let unknown = Room { idle: None, last: Mutex::default() };
        assert_eq!(unknown.look(ms(0)), Some(Permille::MAX));
    }
}
