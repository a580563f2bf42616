//! Sessions: an id and a password that outlive a connection for as long as the negotiated timeout.

use martite_env::Random;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

pub(crate) struct Sessions {
    sessions: Mutex<HashMap<i64, Session>>,
    random: Arc<dyn Random>,
    min_timeout: Duration,
    max_timeout: Duration,
    max_sessions: usize,
}

struct Session {
    password: [u8; 16],
    timeout: Duration,
    /// When it ends, by the monotonic clock, if its connection is gone.
    expires: Option<Duration>,
    /// Tells the connection that holds the session that another one has taken it.
    taken: Arc<Notify>,
    /// Counts the connections that held the session.
    holder: u64,
}

/// A session as its connection holds it.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub id: i64,
    pub password: [u8; 16],
    pub timeout: Duration,
    pub taken: Arc<Notify>,
    holder: u64,
}

impl Sessions {
    pub fn new(random: Arc<dyn Random>, min_timeout: Duration, max_timeout: Duration, max_sessions: usize) -> Sessions {
        Sessions { sessions: Mutex::default(), random, min_timeout, max_timeout, max_sessions }
    }

    /// Begins a session (`id` 0) or goes on with one. `None`: it has expired, its password is wrong, or there are too
    /// many.
    pub fn connect(&self, id: i64, password: &[u8], wanted: Duration, now: Duration) -> Option<Held> {
        let timeout = wanted.clamp(self.min_timeout, self.max_timeout);
        let mut sessions = self.sessions.lock();
        let taken = Arc::new(Notify::new());
        if id != 0 {
            let session = sessions.get_mut(&id)?;
            if session.password != password || session.expires.is_some_and(|at| at <= now) {
                return None;
            }
            session.taken.notify_one();
            (session.timeout, session.expires, session.taken) = (timeout, None, Arc::clone(&taken));
            session.holder += 1;
            return Some(Held { id, password: session.password, timeout, taken, holder: session.holder });
        }
        if sessions.len() >= self.max_sessions {
            sessions.retain(|_, session| session.expires.is_none_or(|at| at > now));
        }
        if sessions.len() >= self.max_sessions {
            return None;
        }
        let id = loop {
            // Positive, and not 0.
            let id = (self.random.u64() >> 1) as i64;
            if id != 0 && !sessions.contains_key(&id) {
                break id;
            }
        };
        let mut password = [0; 16];
        self.random.fill(&mut password);
        sessions.insert(id, Session { password, timeout, expires: None, taken: Arc::clone(&taken), holder: 0 });
        Some(Held { id, password, timeout, taken, holder: 0 })
    }

    /// The connection is gone; the session waits for another one, for its timeout.
    pub fn release(&self, held: &Held, now: Duration) {
        if let Some(session) = self.sessions.lock().get_mut(&held.id).filter(|s| s.holder == held.holder) {
            session.expires = Some(now + session.timeout);
        }
    }

    /// The client has closed its session, or was not heard of for too long.
    pub fn end(&self, held: &Held) {
        let mut sessions = self.sessions.lock();
        if sessions.get(&held.id).is_some_and(|s| s.holder == held.holder) {
            sessions.remove(&held.id);
        }
    }

    /// Forgets the sessions whose time is over.
    pub fn expire(&self, now: Duration) {
        self.sessions.lock().retain(|_, session| session.expires.is_none_or(|at| at > now));
    }

    pub fn count(&self) -> usize {
        self.sessions.lock().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_env::SeededRandom;

    const S: fn(u64) -> Duration = Duration::from_secs;

    fn sessions(max: usize) -> Sessions {
        Sessions::new(Arc::new(SeededRandom::new(1)), S(4), S(40), max)
    }

    #[test]
    fn timeouts_are_negotiated_and_sessions_come_back_in_time() {
        let sessions = sessions(10);
        let held = sessions.connect(0, &[], S(1), S(0)).unwrap();
        assert_eq!(held.timeout, S(4));
        assert_eq!(sessions.connect(0, &[], S(90), S(0)).unwrap().timeout, S(40));
        sessions.release(&held, S(10));
        assert!(sessions.connect(held.id, &[0; 16], S(4), S(11)).is_none(), "wrong password");
        assert!(sessions.connect(held.id ^ 1, &held.password, S(4), S(11)).is_none(), "unknown");
        let again = sessions.connect(held.id, &held.password, S(5), S(13)).unwrap();
        assert_eq!((again.id, again.timeout), (held.id, S(5)));
        sessions.release(&again, S(20));
        assert!(sessions.connect(held.id, &held.password, S(5), S(25)).is_none(), "expired");
        sessions.expire(S(25));
        assert_eq!(sessions.count(), 1);
    }

    #[test]
    fn a_session_taken_over_is_not_ended_by_its_former_connection() {
        let sessions = sessions(10);
        let first = sessions.connect(0, &[], S(4), S(0)).unwrap();
        let second = sessions.connect(first.id, &first.password, S(4), S(1)).unwrap();
        sessions.release(&first, S(2));
        sessions.end(&first);
        sessions.expire(S(100));
        assert_eq!(sessions.count(), 1);
        sessions.end(&second);
        assert_eq!(sessions.count(), 0);
    }

    #[test]
    fn too_many_sessions_are_refused_until_some_expire() {
        let sessions = sessions(2);
        let held = sessions.connect(0, &[], S(4), S(0)).unwrap();
        sessions.connect(0, &[], S(4), S(0)).unwrap();
        assert!(sessions.connect(0, &[], S(4), S(0)).is_none());
        sessions.release(&held, S(0));
        assert!(sessions.connect(0, &[], S(4), S(4)).is_some());
    }
}
