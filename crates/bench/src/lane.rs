//! [`Lane`]: one connection in a closed loop: as many operations under way as it has, a new one as soon as one ends.
//!
//! What one read brings is judged at once, and the requests that follow from it leave in one write.

use crate::op::{Op, Step};
use crate::recorder::{SharedRecorder, Window};
use crate::{Error, answer};
use martite_rpc::client::ClientOptions;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Bytes to read at a time.
const READ: usize = 256 << 10;
/// Largest answer accepted.
const MAX_ANSWER: usize = 256 << 20;
/// A server that says nothing for so long will not go on.
const PATIENCE: Duration = Duration::from_secs(120);
/// Pause before a request that was refused is sent again.
const PAUSE: Duration = Duration::from_millis(50);

/// An operation and when its first request left.
struct Slot {
    op: Box<dyn Op>,
    started: Instant,
    /// Its first request waits in the output.
    fresh: bool,
}

pub struct Lane {
    socket: TcpStream,
    /// Call ids are places in this list.
    slots: Vec<Slot>,
    /// Operations under way.
    busy: usize,
    input: Vec<u8>,
    /// Bytes of `input` that are filled.
    filled: usize,
    output: Vec<u8>,
    /// Slots that were refused.
    again: Vec<u32>,
}

impl Lane {
    pub async fn connect(address: SocketAddr, ops: Vec<Box<dyn Op>>) -> Result<Lane, Error> {
        let mut socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        socket.write_all(&ClientOptions::new("ClientService").opening()).await?;
        let now = Instant::now();
        let slots = ops.into_iter().map(|op| Slot { op, started: now, fresh: false }).collect();
        let (input, output) = (vec![0; READ], Vec::with_capacity(8 << 10));
        Ok(Lane { socket, slots, busy: 0, input, filled: 0, output, again: Vec::new() })
    }

    /// Works until the window is over and all operations under way have ended.
    pub async fn run(mut self, window: Window, recorder: SharedRecorder) -> Result<(), Error> {
        for id in 0..self.slots.len() {
            self.begin(id as u32);
        }
        while self.busy > 0 {
            if !self.again.is_empty() {
                tokio::time::sleep(PAUSE).await;
                for id in std::mem::take(&mut self.again) {
                    self.slots[id as usize].op.again(id, &mut self.output);
                }
            }
            self.write().await?;
            self.read().await?;
            self.judge(window, &recorder)?;
        }
        Ok(())
    }

    fn begin(&mut self, id: u32) {
        let slot = &mut self.slots[id as usize];
        if slot.op.begin(id, &mut self.output) {
            slot.fresh = true;
            self.busy += 1;
        }
    }

    async fn write(&mut self) -> Result<(), Error> {
        if !self.output.is_empty() {
            let now = Instant::now();
            for slot in self.slots.iter_mut().filter(|s| s.fresh) {
                (slot.started, slot.fresh) = (now, false);
            }
            self.socket.write_all(&self.output).await?;
            self.output.clear();
        }
        Ok(())
    }

    async fn read(&mut self) -> Result<(), Error> {
        let read = self.socket.read(&mut self.input[self.filled..]);
        let read = tokio::time::timeout(PATIENCE, read).await.map_err(|_| {
            let (busy, seconds) = (self.busy, PATIENCE.as_secs());
            Error::wrong(format!("no answer for {seconds} s with {busy} operations under way on a connection"))
        })?;
        match read? {
            0 => Err(Error::wrong("the server closed the connection")),
            n => {
                self.filled += n;
                Ok(())
            }
        }
    }

    /// Judges the answers that are whole.
    fn judge(&mut self, window: Window, recorder: &SharedRecorder) -> Result<(), Error> {
        let now = Instant::now();
        let input = std::mem::take(&mut self.input);
        let mut at = 0;
        let mut outcome = Ok(());
        while let Some((len, rest)) = input[at..self.filled].split_first_chunk::<4>() {
            let len = u32::from_be_bytes(*len) as usize;
            if len > MAX_ANSWER {
                outcome = Err(Error::wrong(format!("an answer of {len} bytes")));
                break;
            }
            let Some(frame) = rest.get(..len) else { break };
            outcome = self.judge_one(frame, now, window, recorder);
            if outcome.is_err() {
                break;
            }
            at += 4 + len;
        }
        self.input = input;
        self.make_room(at);
        outcome
    }

    /// Forgets the bytes before `at`, and makes room for the whole of the answer that has begun.
    fn make_room(&mut self, at: usize) {
        // A large answer comes in many pieces: what is in its place stays there.
        if at > 0 {
            self.input.copy_within(at..self.filled, 0);
            self.filled -= at;
        }
        if let Some((len, _)) = self.input[..self.filled].split_first_chunk::<4>() {
            let len = 4 + (u32::from_be_bytes(*len) as usize).min(MAX_ANSWER);
            if len > self.input.len() {
                self.input.resize(len, 0);
            }
        }
    }

    fn judge_one(
        &mut self,
        frame: &[u8],
        now: Instant,
        window: Window,
        recorder: &SharedRecorder,
    ) -> Result<(), Error> {
        let (id, answer) = answer::parse(frame)?;
        let slot = self.slots.get_mut(id as usize).ok_or_else(|| match &answer {
            Err(e) => Error::wrong(e.to_string()),
            Ok(_) => Error::wrong(format!("an answer to call {id}, which there is not")),
        })?;
        let step = match answer {
            Ok(answer) => slot.op.answer(id, answer, &mut self.output)?,
            Err(e) => slot.op.failed(e)?,
        };
        match step {
            Step::More => {}
            Step::Again => self.again.push(id),
            Step::Done { rows } => {
                self.busy -= 1;
                recorder.lock().done(slot.started, now, rows);
                if !window.is_over(now) {
                    self.begin(id);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Answer;
    use crate::recorder::Recorder;
    use parking_lot::Mutex;
    use std::sync::Arc;
    use tokio::net::TcpListener;

    /// Asks as often as it is to, and wants as many bytes of cells as it has asked.
    struct Count {
        left: usize,
        asked: usize,
    }

    /// Longer than a read.
    fn cells_len(nth: usize) -> usize {
        nth * READ / 2
    }

    impl Op for Count {
        fn begin(&mut self, id: u32, out: &mut Vec<u8>) -> bool {
            out.extend_from_slice(&[0, 0, 0, 1, id as u8]);
            self.asked += 1;
            self.asked <= self.left
        }
        fn answer(&mut self, _id: u32, answer: Answer<'_>, _out: &mut Vec<u8>) -> Result<Step, Error> {
            assert_eq!(answer.cells.len(), cells_len(self.asked));
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
        for piece in [1 << 20, 100_000, 4_999] {
            let rows = runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let server = tokio::spawn(serve(listener, piece));
                let ops = (0..3).map(|_| Box::new(Count { left: 4, asked: 0 }) as Box<dyn Op>).collect();
                let window = Window { begin: Instant::now(), end: None };
                let recorder = Arc::new(Mutex::new(Recorder::new(window).unwrap()));
                let lane = Lane::connect(address, ops).await.unwrap();
                lane.run(window, recorder.clone()).await.unwrap();
                server.abort();
                recorder.lock().finish().rows
            });
            assert_eq!(rows, 12, "pieces of {piece}");
        }
    }
}
