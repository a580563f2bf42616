//! [`Seat`]: a network thread's place among the others: what it had to do of late, and which connections are to go elsewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::balance::{Balance, Gift, WINDOW};
use crate::room::Room;

/// Of one thread.
#[derive(Debug)]
pub(crate) struct Seat {
    index: usize,
    balance: Arc<Balance>,
    room: Arc<Room>,
    /// One moment for all threads.
    origin: Instant,
    /// That the process may use, if that is known.
    processors: Option<usize>,
    /// The window under way: its number, its beginning, and the processor time that the thread had had then.
    window: u64,
    began: Instant,
    cpu: Duration,
    /// What it had for what it has to do, in windows of which that was not told yet.
    used: Duration,
}

/// What a connection took in one window.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Spent {
    window: u64,
    time: Duration,
}

impl Seat {
    pub fn new(
        index: usize,
        balance: Arc<Balance>,
        room: Arc<Room>,
        origin: Instant,
        processors: Option<usize>,
    ) -> Seat {
        Seat {
            index,
            balance,
            room,
            origin,
            processors,
            window: 1,
            began: origin,
            cpu: Duration::ZERO,
            used: Duration::ZERO,
        }
    }

    /// How many processors are left beside those that network threads need, of which this is one.
    #[inline]
    pub fn spare(&self) -> Option<usize> {
        let needed = self.balance.needed();
        self.processors.filter(|_| self.index < needed).map(|processors| processors.saturating_sub(needed))
    }

    /// A connection's step took so long.
    #[inline]
    pub fn charge(&self, spent: &mut Spent, took: Duration) {
        if spent.window != self.window {
            *spent = Spent { window: self.window, time: Duration::ZERO };
        }
        spent.time += took;
    }

    /// The thread had nothing to do of its own for so long, and did something else.
    pub fn set_aside(&mut self, took: Duration) {
        self.cpu += took;
    }

    /// The processor's time that the thread has had for what it has to do, since this was last asked, as far as windows are over.
    pub fn take_used(&mut self) -> Option<Duration> {
        Some(std::mem::take(&mut self.used)).filter(|used| !used.is_zero())
    }

    /// By the thread itself. Once a window is over it tells the others about it, and may hear that some of its `connections`
    /// are to go to another thread: which, and where.
    pub fn review(
        &mut self,
        now: Instant,
        connections: impl Iterator<Item = (usize, Spent)>,
    ) -> Option<(Vec<usize>, usize)> {
        let all = now.saturating_duration_since(self.began);
        if all < WINDOW {
            return None;
        }
        let cpu = martite_env::thread::cpu_time();
        let used = cpu.saturating_sub(self.cpu);
        let now_since = now.saturating_duration_since(self.origin);
        let load = (used.as_nanos() * 1000 / all.as_nanos()).min(1000) as u32;
        let window = self.window;
        self.used += used;
        (self.cpu, self.began, self.window) = (cpu, now, window + 1);
        let gift = self.balance.tell(self.index, now_since, load, || self.room.look(now_since))?;
        let busy = connections.filter(|(_, spent)| spent.window == window).map(|(token, spent)| (token, spent.time));
        let (picked, part) = pick(busy.collect(), gift.part)?;
        self.balance.gave(self.index, Gift { part, ..gift }, now_since);
        Some((picked, gift.to))
    }
}

/// Connections that take about this part of the time of all, in thousandths, and the part that they really take.
fn pick(mut busy: Vec<(usize, Duration)>, part: u32) -> Option<(Vec<usize>, u32)> {
    busy.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let all: Duration = busy.iter().map(|(_, time)| *time).sum();
    let wanted = all * part / 1000;
    let (mut picked, mut given) = (Vec::new(), Duration::ZERO);
    for (token, time) in &busy {
        if given + *time / 2 <= wanted {
            picked.push(*token);
            given += *time;
        }
    }
    // Moving all that is done would only be done by another.
    if picked.is_empty() || part < 1000 && picked.len() == busy.len() {
        return None;
    }
    let part = (given.as_nanos() * 1000).checked_div(all.as_nanos()).unwrap_or(1000);
    Some((picked, part as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(times: &[u64], part: u32) -> Option<(Vec<usize>, u32)> {
        pick(times.iter().map(|us| Duration::from_micros(*us)).enumerate().collect(), part)
    }

    #[test]
    fn connections_are_picked_for_a_part_of_the_time() {
        assert_eq!(picked(&[10, 10, 10, 10], 500), Some((vec![0, 1], 500)));
        assert_eq!(picked(&[10, 20, 70], 500), Some((vec![2], 700)));
        assert_eq!(picked(&[10, 20, 70], 300), Some((vec![1, 0], 300)));
        assert_eq!(picked(&[10, 20, 70], 1000), Some((vec![2, 1, 0], 1000)));
        // Nobody is relieved if all of it goes.
        assert_eq!(picked(&[10], 500), None);
        assert_eq!(picked(&[0, 0], 500), None);
        assert_eq!(picked(&[0, 0], 1000), Some((vec![0, 1], 1000)));
        assert_eq!(picked(&[], 1000), None);
        assert_eq!(picked(&[50, 50], 200), None, "half is no nearer than none");
    }

    #[test]
    fn a_window_tells_who_took_part() {
        let origin = Instant::now();
        let (balance, room) = (Arc::new(Balance::new(2)), Arc::new(Room::new()));
        let mut first = Seat::new(0, balance.clone(), room.clone(), origin, Some(2));
        let mut second = Seat::new(1, balance, room, origin, Some(2));
        let mut spent = [Spent::default(); 3];
        second.charge(&mut spent[1], Duration::from_micros(5));
        let all = |spent: [Spent; 3]| spent.into_iter().enumerate();
        assert_eq!(second.review(origin + WINDOW / 2, all(spent)), None, "the window is not over");
        // One thread is enough: the second gives away what it has.
        assert_eq!(second.review(origin + WINDOW, all(spent)), Some((vec![1], 0)));
        assert_eq!(second.review(origin + 2 * WINDOW, all(spent)), None, "nothing was done in this window");
        first.charge(&mut spent[0], Duration::from_micros(5));
        assert_eq!(first.review(origin + 3 * WINDOW, all(spent)).map(|(_, to)| to), None);
    }
}
