//! [`Lane`]: one connection at work: a closed loop, which begins an operation as soon as another ends, or an open one, which begins
//! them when they are due and counts those that it could not begin.
//!
//! What one read brings is judged at once, and the requests that follow from it leave in one write.

use crate::alarm::Alarm;
use crate::answer::Answer;
use crate::op::{Op, Step};
use crate::pace::Schedule;
use crate::recorder::{SharedRecorder, Window};
use crate::wire::{Rooms, Wire};
use crate::{Error, answer};
use martite_rpc::client::ClientError;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A server that says nothing for so long will not go on.
const PATIENCE: Duration = Duration::from_secs(120);
/// Pause before a request that was refused is sent again.
const PAUSE: Duration = Duration::from_millis(50);

/// Connections of one thread that stand back: between two reads of theirs all others of the thread have a turn.
#[derive(Clone, Default)]
pub struct Turns(Arc<tokio::sync::Mutex<()>>);

impl Turns {
    /// Ends when the runtime has looked at all sockets once for this connection alone.
    async fn next(&self) {
        let _turn = self.0.lock().await;
        tokio::task::yield_now().await;
    }
}

/// An operation.
struct Slot {
    op: Box<dyn Op>,
    /// When its first request left; in an open loop, when that was due.
    started: Instant,
    /// Of cells in its answers so far.
    bytes: u64,
}

/// The operations of a connection. Call ids are their places in the list.
struct Slots {
    list: Vec<Slot>,
    /// Operations under way.
    busy: usize,
    /// Whose first request waits to be sent.
    fresh: Vec<u32>,
    /// When those that were refused are to be sent again.
    again: BinaryHeap<Reverse<(Instant, u32)>>,
}

/// An open loop.
struct Open {
    schedule: Schedule,
    /// When the lane began to work.
    beginning: Instant,
    /// When the window begins.
    counts_from: Instant,
    /// Operations that were due so far, begun or not.
    next: u64,
    /// Slots that have nothing to do.
    idle: Vec<u32>,
}

impl Open {
    fn due(&self) -> Instant {
        self.beginning + self.schedule.due(self.next)
    }

    /// A slot has nothing to do from now on. What was due while there was none is counted as not begun.
    fn idle(&mut self, id: u32, now: Instant, recorder: &SharedRecorder) {
        self.count_missed(now, recorder);
        self.idle.push(id);
    }

    fn count_missed(&mut self, now: Instant, recorder: &SharedRecorder) {
        // What was due before the time that counts, apart from the rest.
        for at in [self.counts_from - Duration::from_nanos(1), now] {
            let due = self.schedule.due_by(at.min(now).saturating_duration_since(self.beginning));
            if self.idle.is_empty() && due > self.next {
                recorder.lock().not_begun(at, due - self.next);
                self.next = due;
            }
        }
    }
}

pub struct Lane {
    wire: Wire,
    slots: Slots,
    /// None: a closed loop.
    open: Option<Open>,
    alarm: Alarm,
    /// Of a thread with others that do not stand back.
    turns: Option<Turns>,
}

impl Lane {
    /// `schedule`: an open loop with at most as many operations under way as there are `ops`.
    pub async fn connect(
        address: SocketAddr,
        user: &str,
        ops: Vec<Box<dyn Op>>,
        schedule: Option<Schedule>,
        rooms: Rooms,
    ) -> Result<Lane, Error> {
        let mut wire = Wire::connect(address, user, rooms).await?;
        if !ops.iter().any(|op| op.reads_cells()) {
            wire.skim();
        }
        let now = Instant::now();
        let list: Vec<Slot> = ops.into_iter().map(|op| Slot { op, started: now, bytes: 0 }).collect();
        let idle = (0..list.len() as u32).collect();
        let open = schedule.map(|schedule| Open { schedule, beginning: now, counts_from: now, next: 0, idle });
        let slots = Slots { list, busy: 0, fresh: Vec::new(), again: BinaryHeap::new() };
        Ok(Lane { wire, slots, open, alarm: Alarm::default(), turns: None })
    }

    /// From now on it disturbs others as little as it can.
    pub fn stand_back(&mut self) {
        self.wire.stand_back();
    }

    /// From now on it shares its thread with others that it disturbs as little as it can.
    pub fn take_turns(&mut self, turns: Turns) {
        self.turns = Some(turns);
    }

    /// From now on it looks at the clock until an operation is due, instead of sleeping.
    pub fn poll(&mut self) {
        self.alarm = Alarm::polling();
    }

    /// Works until the window is over. A closed loop then waits for the operations under way, except for those that the server
    /// throttles; an open one, which may have any number of them, lets them be.
    pub async fn run(mut self, window: Window, recorder: SharedRecorder) -> Result<(), Error> {
        match &mut self.open {
            Some(open) => (open.beginning, open.counts_from) = (Instant::now(), window.begin),
            None => {
                for id in 0..self.slots.list.len() {
                    self.slots.begin(id as u32, &mut self.wire.output);
                }
            }
        }
        loop {
            let now = Instant::now();
            let over = if self.open.is_some() { window.is_over(now) } else { self.slots.busy == 0 };
            if over {
                return self.end(window, &recorder);
            }
            self.slots.send_again(now, &mut self.wire.output);
            self.begin_due(now);
            self.slots.stamp();
            if self.exchange(self.next_event(window)).await? {
                self.judge(window, &recorder)?;
            }
            match &self.turns {
                Some(turns) => turns.next().await,
                None if self.wire.stands_back() => martite_rpc::stand_aside(),
                None => {}
            }
        }
    }

    /// Begins what is due in an open loop, as far as there are idle slots.
    fn begin_due(&mut self, now: Instant) {
        let Some(open) = &mut self.open else { return };
        let due = open.schedule.due_by(now - open.beginning);
        while open.next < due
            && let Some(id) = open.idle.pop()
        {
            self.slots.begin_at(id, open.due(), &mut self.wire.output);
            open.next += 1;
        }
    }

    /// When something is to be done without an answer. Without an idle slot nothing is begun, however much is due.
    fn next_event(&self, window: Window) -> Option<Instant> {
        let again = self.slots.again.peek().map(|Reverse((at, _))| *at);
        let due = self.open.as_ref().filter(|open| !open.idle.is_empty()).map(Open::due);
        let end = window.end.filter(|_| self.open.is_some());
        [again, due, end].into_iter().flatten().min()
    }

    /// Counts what was not done.
    fn end(mut self, window: Window, recorder: &SharedRecorder) -> Result<(), Error> {
        recorder.lock().left(self.slots.busy);
        if let (Some(open), Some(end)) = (&mut self.open, window.end) {
            // The last moment that counts; what is due by then and was not begun will not be, whether slots are idle or not.
            open.idle.clear();
            open.count_missed(end - Duration::from_nanos(1), recorder);
        }
        Ok(())
    }

    /// Sends and receives; false: the time has come before an answer did.
    async fn exchange(&mut self, until: Option<Instant>) -> Result<bool, Error> {
        if let Some(at) = until {
            tokio::select! {
                biased;
                received = self.wire.exchange() => received.map(|()| true),
                rung = self.alarm.until(at) => rung.map(|()| false),
            }
        } else {
            let received = tokio::time::timeout(PATIENCE, self.wire.exchange()).await;
            received.map_err(|_| self.silence())?.map(|()| true)
        }
    }

    fn silence(&self) -> Error {
        let (busy, seconds) = (self.slots.busy, PATIENCE.as_secs());
        Error::wrong(format!("no answer for {seconds} s with {busy} operations under way on a connection"))
    }

    /// Judges the answers that are whole, and what can be judged of one that is not.
    fn judge(&mut self, window: Window, recorder: &SharedRecorder) -> Result<(), Error> {
        let now = Instant::now();
        let Lane { wire, slots, open, .. } = self;
        wire.answers(|frame, taken, out| {
            let Some(id) = slots.judge(answer::parse(frame, taken)?, out, now, window, recorder)? else {
                return Ok(());
            };
            match open {
                Some(open) => open.idle(id, now, recorder),
                None if !window.is_over(now) => slots.begin(id, out),
                None => {}
            }
            Ok(())
        })?;
        wire.begun(|part| slots.judge_begun(part))
    }
}

impl Slots {
    /// Begins an operation, whose time runs from when it is sent.
    fn begin(&mut self, id: u32, out: &mut Vec<u8>) {
        let slot = &mut self.list[id as usize];
        slot.bytes = 0;
        if slot.op.begin(id, out) {
            self.fresh.push(id);
            self.busy += 1;
        }
    }

    /// Begins an operation, whose time runs from when it was due.
    fn begin_at(&mut self, id: u32, due: Instant, out: &mut Vec<u8>) {
        let slot = &mut self.list[id as usize];
        (slot.bytes, slot.started) = (0, due);
        if slot.op.begin(id, out) {
            self.busy += 1;
        }
    }

    /// What was begun is sent now.
    fn stamp(&mut self) {
        if !self.fresh.is_empty() {
            let now = Instant::now();
            for id in self.fresh.drain(..) {
                self.list[id as usize].started = now;
            }
        }
    }

    fn send_again(&mut self, now: Instant, out: &mut Vec<u8>) {
        while let Some(Reverse((_, id))) = self.again.peek().copied().filter(|Reverse((at, _))| *at <= now) {
            self.again.pop();
            self.list[id as usize].op.again(id, out);
        }
    }

    /// Judges cells of an answer that has begun, or leaves them; where they are.
    fn judge_begun(&mut self, part: &[u8]) -> Result<Range<usize>, Error> {
        let Some((id, cells)) = answer::begun(part) else { return Ok(0..0) };
        // An answer to a call that there is not is found when it is whole.
        let Some(slot) = self.list.get_mut(id as usize) else { return Ok(0..0) };
        let judged = if slot.op.reads_cells() { slot.op.some_cells(cells)? } else { cells.len() };
        let from = part.len() - cells.len();
        Ok(from..from + judged)
    }

    /// Judges one answer; the operation's place if it is over.
    fn judge(
        &mut self,
        (id, answer): (u32, Result<Answer<'_>, ClientError>),
        out: &mut Vec<u8>,
        now: Instant,
        window: Window,
        recorder: &SharedRecorder,
    ) -> Result<Option<u32>, Error> {
        let slot = self.list.get_mut(id as usize).ok_or_else(|| match &answer {
            Err(e) => Error::wrong(e.to_string()),
            Ok(_) => Error::wrong(format!("an answer to call {id}, which there is not")),
        })?;
        let step = match answer {
            Ok(answer) => {
                slot.bytes += (answer.taken + answer.cells.len()) as u64;
                slot.op.answer(id, answer, out)?
            }
            Err(e) => slot.op.failed(e)?,
        };
        match step {
            Step::More => return Ok(None),
            Step::Part { rows } => {
                recorder.lock().part(now, rows);
                return Ok(None);
            }
            Step::Again => {
                self.again.push(Reverse((now + PAUSE, id)));
                return Ok(None);
            }
            Step::Throttled(wait) => {
                recorder.lock().throttled(now);
                if !window.is_over(now) {
                    self.again.push(Reverse((now + wait, id)));
                    return Ok(None);
                }
            }
            Step::Failed { throttled } => recorder.lock().failed(now, throttled),
            Step::Done { rows } => recorder.lock().done(slot.started, now, rows, slot.bytes),
        }
        self.busy -= 1;
        Ok(Some(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::Rate;
    use crate::recorder::{Recorded, Recorder};
    use crate::wire::READ;
    use martite_rpc::client::ClientOptions;
    use parking_lot::Mutex;
    use std::sync::Arc;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// Asks as often as it is to, and wants as many bytes of cells as it has asked.
    struct Count {
        left: usize,
        asked: usize,
        /// It judges so many bytes at a time as soon as they come; 0: all at the end.
        bite: usize,
        judged: usize,
        reads: bool,
    }

    /// Longer than a read.
    fn cells_len(nth: usize) -> usize {
        nth * READ / 2
    }

    impl Op for Count {
        fn begin(&mut self, id: u32, out: &mut Vec<u8>) -> bool {
            out.extend_from_slice(&[0, 0, 0, 1, id as u8]);
            self.asked += 1;
            self.judged = 0;
            self.asked <= self.left
        }
        fn reads_cells(&self) -> bool {
            self.reads
        }
        fn some_cells(&mut self, cells: &[u8]) -> Result<usize, Error> {
            assert!(self.reads && cells.iter().all(|byte| *byte == 7));
            let judged = cells.len() - cells.len().checked_rem(self.bite).unwrap_or(cells.len());
            self.judged += judged;
            Ok(judged)
        }
        fn answer(&mut self, _id: u32, answer: Answer<'_>, _out: &mut Vec<u8>) -> Result<Step, Error> {
            assert_eq!(answer.taken + answer.cells.len(), cells_len(self.asked));
            assert_eq!(self.judged, if self.reads { answer.taken } else { 0 });
            Ok(Step::Done { rows: 1 })
        }
    }

    fn answer(id: u8, cells: usize) -> Vec<u8> {
        let mut header = vec![0x08, id];
        let mut meta = vec![0x08];
        martite_rpc::format::put_varint(&mut meta, cells as u64);
        crate::target::put_field(&mut header, 3, &meta);
        let mut frame = vec![0; 4];
        frame.push(header.len() as u8);
        frame.extend(header);
        frame.push(0);
        frame.resize(frame.len() + cells, 7);
        let len = (frame.len() - 4) as u32;
        frame[..4].copy_from_slice(&len.to_be_bytes());
        frame
    }

    /// Answers the requests of one connection, each in pieces of `piece` bytes.
    async fn serve(listener: TcpListener, piece: usize) {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut opening = vec![0; ClientOptions::new("ClientService").opening().len()];
        socket.read_exact(&mut opening).await.unwrap();
        let (mut request, mut nth) = ([0; 5], [0; 256]);
        while socket.read_exact(&mut request).await.is_ok() {
            let id = request[4];
            nth[usize::from(id)] += 1;
            for piece in answer(id, cells_len(nth[usize::from(id)])).chunks(piece) {
                if socket.write_all(piece).await.is_err() {
                    return;
                }
                tokio::task::yield_now().await;
            }
        }
    }

    #[test]
    fn answers_may_come_in_pieces() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let bites = [(0, true), (1, true), (700, true), (0, false)];
        let pieces = [1 << 20, 100_000, 4_999];
        for (piece, (bite, reads)) in pieces.into_iter().flat_map(|piece| bites.map(|bite| (piece, bite))) {
            let seen = runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let server = tokio::spawn(serve(listener, piece));
                let count = || Count { left: 4, asked: 0, bite, judged: 0, reads };
                let ops = (0..3).map(|_| Box::new(count()) as Box<dyn Op>).collect();
                let window = Window { begin: Instant::now(), end: None };
                let recorder = Arc::new(Mutex::new(Recorder::new(window, 3).unwrap()));
                let lane = Lane::connect(address, "martite", ops, None, Rooms::default()).await.unwrap();
                lane.run(window, recorder.clone()).await.unwrap();
                server.abort();
                recorder.lock().finish().total
            });
            assert_eq!(seen.rows, 12, "pieces of {piece}, bites of {bite}, {reads}");
            let bytes: usize = (1..=4).map(cells_len).sum();
            assert_eq!(seen.bytes as usize, 3 * bytes, "pieces of {piece}, bites of {bite}");
        }
    }

    #[tokio::test]
    async fn who_takes_turns_lets_others_run_between() {
        let (turns, ran) = (Turns::default(), Arc::new(Mutex::new(Vec::new())));
        let in_turn = |name: &'static str| {
            let (turns, ran) = (turns.clone(), ran.clone());
            async move {
                for _ in 0..3 {
                    ran.lock().push(name);
                    turns.next().await;
                }
            }
        };
        let other = || {
            let ran = ran.clone();
            async move {
                for _ in 0..20 {
                    ran.lock().push("other");
                    tokio::task::yield_now().await;
                }
            }
        };
        let tasks = [tokio::spawn(in_turn("a")), tokio::spawn(in_turn("b")), tokio::spawn(other())];
        for task in tasks {
            task.await.unwrap();
        }
        // Each has begun once before anybody has to wait. Of those that yield, the runtime may wake the last first.
        let ran = ran.lock();
        assert_eq!(ran.iter().filter(|name| **name != "other").count(), 6);
        assert!(ran[1..].windows(3).all(|three| three.contains(&"other")), "{ran:?}");
    }

    /// Is throttled at first, each time for so long.
    struct Impatient {
        refusals: u32,
        wait: Duration,
    }

    impl Op for Impatient {
        fn begin(&mut self, id: u32, out: &mut Vec<u8>) -> bool {
            self.again(id, out);
            true
        }
        fn answer(&mut self, _id: u32, _answer: Answer<'_>, _out: &mut Vec<u8>) -> Result<Step, Error> {
            Ok(match self.refusals.checked_sub(1) {
                Some(left) => {
                    self.refusals = left;
                    Step::Throttled(self.wait)
                }
                None => Step::Done { rows: 1 },
            })
        }
        fn again(&mut self, id: u32, out: &mut Vec<u8>) {
            out.extend_from_slice(&[0, 0, 0, 1, id as u8]);
        }
    }

    /// What a lane with these operations does in so many milliseconds; answers are small.
    fn lane_for(ms: u64, ops: Vec<Impatient>, schedule: Option<Schedule>) -> Recorded {
        lane_after(0, ms, ops, schedule)
    }

    /// The same, after so many milliseconds that do not count.
    fn lane_after(warmup_ms: u64, ms: u64, ops: Vec<Impatient>, schedule: Option<Schedule>) -> Recorded {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let server = tokio::spawn(async move {
                let (mut socket, _) = listener.accept().await.unwrap();
                let mut opening = vec![0; ClientOptions::new("ClientService").opening().len()];
                socket.read_exact(&mut opening).await.unwrap();
                let mut request = [0; 5];
                while socket.read_exact(&mut request).await.is_ok() {
                    if socket.write_all(&answer(request[4], 0)).await.is_err() {
                        return;
                    }
                }
            });
            let ops = ops.into_iter().map(|op| Box::new(op) as Box<dyn Op>).collect();
            let begin = Instant::now() + Duration::from_millis(warmup_ms);
            let window = Window { begin, end: Some(begin + Duration::from_millis(ms)) };
            let recorder = Arc::new(Mutex::new(Recorder::new(window, 3).unwrap()));
            let lane = Lane::connect(address, "martite", ops, schedule, Rooms::default()).await.unwrap();
            lane.run(window, recorder.clone()).await.unwrap();
            server.abort();
            recorder.lock().finish()
        })
    }

    #[test]
    fn a_throttled_operation_waits_alone_and_its_time_runs_on() {
        let wait = Duration::from_millis(40);
        let seen = lane_for(600, vec![Impatient { refusals: 2, wait }, Impatient { refusals: 0, wait }], None);
        assert_eq!(seen.total.throttled, 2);
        assert!(seen.latencies_ns.max() >= 80_000_000, "{:?}", seen.latencies_ns.max());
        assert!(seen.total.operations > 20, "the other goes on: {}", seen.total.operations);
    }

    #[test]
    fn a_closed_loop_ends_though_a_server_throttles_for_longer() {
        let seen = lane_for(200, vec![Impatient { refusals: 1, wait: Duration::from_millis(400) }], None);
        assert_eq!((seen.total.operations, seen.total.throttled), (0, 1));
    }

    #[test]
    fn an_open_loop_begins_what_is_due_and_counts_what_it_cannot() {
        let schedule = |per_s: f64| Some(Schedule::new(Rate::per_second(per_s), 0, 1, 0, 1));
        let calm = || Impatient { refusals: 0, wait: Duration::ZERO };
        let seen = lane_for(400, vec![calm(), calm(), calm(), calm()], schedule(100.0));
        // Due in 400 ms from when it was connected, except for those whose answers came after the end.
        let due = seen.total.operations + seen.not_begun + seen.left;
        assert!((30..=40).contains(&due), "{due}");
        let stuck = || Impatient { refusals: 1, wait: Duration::from_secs(3600) };
        let seen = lane_for(400, vec![stuck()], schedule(100.0));
        assert_eq!((seen.total.operations, seen.total.throttled, seen.left), (0, 1, 1));
        assert!((30..=39).contains(&seen.not_begun), "{}", seen.not_begun);
        let seen = lane_after(200, 200, vec![stuck()], schedule(100.0));
        assert!((18..=21).contains(&seen.not_begun), "{}", seen.not_begun);
    }
}
