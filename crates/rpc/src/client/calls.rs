//! [`Calls`]: what is under way on one connection, and the bytes that wait to be written.
//!
//! ```text
//! caller ── begin: a slot, a frame behind the others ──▶ out ── the writer takes all of it ──▶ socket
//! caller ◀── poll: the slot's answer ───────────────── slots ◀── finish: many answers at once ── reader
//! ```
//!
//! A call's id is the number of its slot. The slot of a call that nobody waits for any more stays taken until the answer
//! comes: a late answer never goes to another call. Time is counted in ticks, which pass only while calls are under way,
//! so that a call costs no look at the clock.

use super::{Answer, ClientError};
use parking_lot::Mutex;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::Notify;

/// Between two looks for calls whose time is over.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// Calls given up whose answers may still come; with more of them a connection is of no use.
const MAX_FORGOTTEN: usize = 4096;

#[derive(Debug)]
enum Slot {
    Free,
    Waiting {
        waker: Option<Waker>,
        /// The tick at which the call began.
        since: u64,
        /// The tick at which it is given up.
        until: u64,
    },
    Done(Result<Answer, ClientError>),
    /// Given up; the answer has not come.
    Forgotten,
}

#[derive(Debug, Default)]
struct State {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Slots in the state `Waiting`.
    waiting: usize,
    forgotten: usize,
    tick: u64,
    /// The tick at which the last answer came.
    heard: u64,
    out: Vec<u8>,
    closed: bool,
}

/// Shared by the callers, the reader and the writer of a connection.
#[derive(Debug, Default)]
pub(super) struct Calls {
    state: Mutex<State>,
    /// There is something to write, or the connection is closed.
    work: Notify,
}

/// What the writer is to do next.
pub(super) enum Next {
    /// The bytes were taken.
    Write,
    Idle {
        under_way: bool,
    },
    Closed,
}

impl Calls {
    /// Takes a slot; `frame` appends the request with the call's id. `limit`: how long an answer is waited for.
    pub fn begin(
        self: &Arc<Self>,
        limit: Option<Duration>,
        frame: impl FnOnce(u32, &mut Vec<u8>),
    ) -> Result<PendingCall, ClientError> {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        if state.closed {
            return Err(ClientError::Closed);
        }
        let ticks = limit.map_or(u64::MAX, |limit| (limit.as_nanos() / TICK.as_nanos()) as u64 + 1);
        let slot = Slot::Waiting { waker: None, since: state.tick, until: state.tick.saturating_add(ticks) };
        let id = match state.free.pop() {
            Some(id) => {
                state.slots[id as usize] = slot;
                id
            }
            None => {
                state.slots.push(slot);
                (state.slots.len() - 1) as u32
            }
        };
        state.waiting += 1;
        let first = state.out.is_empty();
        frame(id, &mut state.out);
        drop(guard);
        if first {
            self.work.notify_one();
        }
        Ok(PendingCall { calls: self.clone(), id, taken: false })
    }

    pub async fn work(&self) {
        self.work.notified().await;
    }

    /// Swaps what is to be written with an empty buffer.
    pub fn take(&self, buf: &mut Vec<u8>) -> Next {
        let mut state = self.state.lock();
        if state.closed {
            return Next::Closed;
        }
        if state.out.is_empty() {
            return Next::Idle { under_way: state.waiting > 0 };
        }
        std::mem::swap(&mut state.out, buf);
        Next::Write
    }

    /// Whether more than one call is under way: others may be about to send, too.
    pub fn is_busy(&self) -> bool {
        self.state.lock().waiting > 1
    }

    /// Hands answers to their callers.
    pub fn finish(&self, answers: &mut Vec<(u32, Result<Answer, ClientError>)>, wakers: &mut Vec<Waker>) {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        state.heard = state.tick;
        for (id, answer) in answers.drain(..) {
            match state.slots.get_mut(id as usize) {
                Some(slot @ Slot::Waiting { .. }) => {
                    if let Slot::Waiting { waker: Some(waker), .. } = std::mem::replace(slot, Slot::Done(answer)) {
                        wakers.push(waker);
                    }
                    state.waiting -= 1;
                }
                Some(slot @ Slot::Forgotten) => {
                    *slot = Slot::Free;
                    state.forgotten -= 1;
                    state.free.push(id);
                }
                // Late, but its caller has not looked yet.
                Some(slot @ Slot::Done(Err(ClientError::TimedOut))) => *slot = Slot::Done(answer),
                // An answer to nothing, or a second one.
                _ => {}
            }
        }
        drop(guard);
        wakers.drain(..).for_each(Waker::wake);
    }

    /// A tick has passed: calls whose time is over fail. False: the connection is of no use any more: nothing at all came
    /// while one of them waited, or too many never had an answer.
    pub fn tick(&self) -> bool {
        let mut late = Vec::new();
        let mut guard = self.state.lock();
        let state = &mut *guard;
        state.tick += 1;
        let mut useful = state.forgotten < MAX_FORGOTTEN;
        for slot in &mut state.slots {
            if let Slot::Waiting { until, waker, since } = slot
                && *until <= state.tick
            {
                useful &= state.heard > *since;
                late.extend(waker.take());
                *slot = Slot::Done(Err(ClientError::TimedOut));
                state.waiting -= 1;
            }
        }
        drop(guard);
        late.into_iter().for_each(Waker::wake);
        useful
    }

    /// Every call under way fails, and every later one.
    pub fn close(&self) {
        let mut wakers = Vec::new();
        let mut guard = self.state.lock();
        let state = &mut *guard;
        state.closed = true;
        state.out = Vec::new();
        for slot in &mut state.slots {
            if let Slot::Waiting { waker, .. } = slot {
                wakers.extend(waker.take());
                *slot = Slot::Done(Err(ClientError::Closed));
            }
        }
        state.waiting = 0;
        drop(guard);
        wakers.into_iter().for_each(Waker::wake);
        self.work.notify_one();
    }

    pub fn is_closed(&self) -> bool {
        self.state.lock().closed
    }
}

/// A call that was sent. Awaiting it gives the answer; dropping it forgets the call, which the server may still do.
#[derive(Debug)]
pub struct PendingCall {
    calls: Arc<Calls>,
    id: u32,
    taken: bool,
}

impl PendingCall {
    /// Whether the answer is there: awaiting it would not wait.
    pub fn is_ready(&self) -> bool {
        matches!(self.calls.state.lock().slots.get(self.id as usize), Some(Slot::Done(_)))
    }
}

impl Future for PendingCall {
    type Output = Result<Answer, ClientError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let id = self.id;
        let mut guard = self.calls.state.lock();
        let state = &mut *guard;
        let answer = match state.slots.get_mut(id as usize) {
            Some(Slot::Waiting { waker, .. }) if !state.closed => {
                match waker {
                    Some(waker) => waker.clone_from(context.waker()),
                    None => *waker = Some(context.waker().clone()),
                }
                return Poll::Pending;
            }
            Some(slot @ Slot::Done(_)) => match std::mem::replace(slot, Slot::Free) {
                // The answer to a call that took too long may still come.
                Slot::Done(Err(ClientError::TimedOut)) => {
                    *slot = Slot::Forgotten;
                    state.forgotten += 1;
                    Err(ClientError::TimedOut)
                }
                Slot::Done(answer) => {
                    state.free.push(id);
                    answer
                }
                _ => Err(ClientError::Closed),
            },
            _ => Err(ClientError::Closed),
        };
        drop(guard);
        self.taken = true;
        Poll::Ready(answer)
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        if self.taken {
            return;
        }
        let mut guard = self.calls.state.lock();
        let state = &mut *guard;
        let Some(slot) = state.slots.get_mut(self.id as usize) else { return };
        match std::mem::replace(slot, Slot::Forgotten) {
            Slot::Done(answer) if !matches!(answer, Err(ClientError::TimedOut)) => {
                *slot = Slot::Free;
                state.free.push(self.id);
            }
            Slot::Waiting { .. } => {
                state.waiting -= 1;
                state.forgotten += 1;
            }
            _ => state.forgotten += 1,
        }
    }
}
