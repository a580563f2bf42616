//! [`drive`]: loads on a server for a time, and what came of them.
//!
//! ```text
//! client threads (one or two)    each a runtime of its own with its share of the lanes
//! this thread                    connected? ── window ──▶ CPU at its begin, CPU at its end ── what was recorded
//! ```

use crate::Error;
use crate::cores::Cores;
use crate::lane::{Lane, Turns};
use crate::op::Op;
use crate::pace::{Pace, Schedule};
use crate::process::{self, Process};
use crate::recorder::{Recorded, Recorder, SharedRecorder, Window};
use crate::rest::Rest;
use crate::wire::Rooms;
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// Makes the operations of one client thread; the argument tells them apart.
pub type MakeOp<'a> = Box<dyn Fn(u64) -> Box<dyn Op> + 'a>;

/// Client threads that do the same.
pub struct Load<'a> {
    pub address: SocketAddr,
    /// Whom the connections are for.
    pub user: String,
    pub connections: usize,
    /// Operations under way on each connection; at most so many in an open loop.
    pub depth: usize,
    /// Of all connections together.
    pub pace: Pace,
    /// Its connections have a client thread of their own, which stands back behind all others of the machine. Where threads never
    /// sleep, they are among the others of these, for a thread more would keep those waiting whenever it has its turn.
    pub stands_back: bool,
    pub make: MakeOp<'a>,
}

/// The user of loads that are nobody's in particular.
const USER: &str = "martite";
/// Up to so many loads have latencies to three digits each.
const FEW: usize = 16;

impl<'a> Load<'a> {
    pub fn closed(address: SocketAddr, connections: usize, depth: usize, make: MakeOp<'a>) -> Load<'a> {
        Load { address, user: USER.to_owned(), connections, depth, pace: Pace::Closed, stands_back: false, make }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Timing {
    pub warmup: Duration,
    /// None: until all is done.
    pub length: Option<Duration>,
    /// Threads of this process that serve the connections.
    pub client_threads: usize,
    /// They have cores of their own and need not sleep: they poll ([`crate::alarm`]), and none stands back.
    pub polls: bool,
    /// What is left to threads of the lowest priority is measured beside.
    pub rest: Option<Option<Cores>>,
}

/// What the loads did, in their order, and what it cost.
pub struct Outcome {
    pub loads: Vec<Recorded>,
    /// The begin of the window.
    pub began: Instant,
    pub elapsed: Duration,
    pub server_cpu: Option<Duration>,
    /// With what the threads took that measure the rest.
    pub client_cpu: Duration,
    /// Of the whole machine.
    pub machine_cpu: Duration,
    /// Share of the server's cores that was left.
    pub rest: Option<f64>,
}

enum Event {
    Connected,
    Ended(Result<(), Error>),
}

/// A lane before it is connected.
struct Plan {
    address: SocketAddr,
    user: String,
    ops: Vec<Box<dyn Op>>,
    schedule: Option<Schedule>,
    load: usize,
    stands_back: bool,
}

/// The window and a recorder for each load; None until all lanes are connected.
type Start = Option<(Window, Vec<SharedRecorder>)>;

pub async fn drive(loads: &[Load<'_>], timing: Timing, server: Option<Process>) -> Result<Outcome, Error> {
    let plans = plan(loads, timing.client_threads.max(1), timing.polls);
    let threads = plans.len();
    let (start, started) = watch::channel::<Start>(None);
    let (events, mut event) = mpsc::unbounded_channel();
    for thread in plans {
        let (events, started) = (events.clone(), started.clone());
        std::thread::Builder::new().name("bench".to_owned()).spawn(move || client_thread(thread, started, events))?;
    }
    drop(events);
    for _ in 0..threads {
        match event.recv().await {
            Some(Event::Connected) => {}
            Some(Event::Ended(Err(e))) => return Err(e),
            _ => return Err(Error::Setup("a client thread ended before it began".to_owned())),
        }
    }
    let begin = Instant::now() + timing.warmup;
    let window = Window { begin, end: timing.length.map(|length| begin + length) };
    let digits = if loads.len() > FEW { 1 } else { 3 };
    let recorders = loads.iter().map(|_| Ok(Arc::new(Mutex::new(Recorder::new(window, digits)?))));
    let recorders = recorders.collect::<Result<Vec<SharedRecorder>, Error>>()?;
    start.send_replace(Some((window, recorders.clone())));

    let rest = timing.rest.map(Rest::start).transpose()?;
    let taken = || rest.as_ref().map(Rest::taken);
    let mut ended = 0;
    until(Some(window.begin), &mut event, &mut ended, threads).await?;
    let (began, before, from) = (Instant::now(), Cpu::now(server)?, taken());
    until(window.end, &mut event, &mut ended, threads).await?;
    let (elapsed, after, to) = (began.elapsed(), Cpu::now(server)?, taken());
    let share = |rest: &Rest| Some(rest.share(from?, to?));
    let share = rest.as_ref().and_then(share);
    drop(rest);
    until(None, &mut event, &mut ended, threads).await?;
    Ok(Outcome {
        loads: recorders.iter().map(|r| r.lock().finish()).collect(),
        began: window.begin,
        elapsed,
        server_cpu: after.server.zip(before.server).map(|(after, before)| after.saturating_sub(before)),
        client_cpu: after.client.saturating_sub(before.client),
        machine_cpu: after.machine.saturating_sub(before.machine),
        rest: share,
    })
}

/// CPU used so far.
struct Cpu {
    server: Option<Duration>,
    client: Duration,
    machine: Duration,
}

impl Cpu {
    fn now(server: Option<Process>) -> Result<Cpu, Error> {
        let server = server.map(|p| p.cpu()).transpose()?;
        Ok(Cpu { server, client: Process::this().cpu()?, machine: process::machine_cpu()? })
    }
}

/// The lanes of a client thread.
#[derive(Default)]
struct Thread {
    lanes: Vec<Plan>,
    /// It takes only what others leave.
    stands_back: bool,
    polls: bool,
}

/// The lanes of all loads, dealt to so many client threads, and one more for those that stand back, unless the threads poll.
fn plan(loads: &[Load<'_>], threads: usize, polls: bool) -> Vec<Thread> {
    let mut plans: Vec<Thread> = (0..threads).map(|_| Thread { polls, ..Thread::default() }).collect();
    let apart = |load: &Load<'_>| load.stands_back && !polls;
    if loads.iter().any(apart) {
        plans.push(Thread { stands_back: true, ..Thread::default() });
    }
    let (mut seed, mut lanes) = (0, 0);
    for (index, load) in loads.iter().enumerate() {
        for connection in 0..load.connections {
            let ops = (0..load.depth)
                .map(|_| {
                    seed += 1;
                    (load.make)(seed)
                })
                .collect();
            let schedule = match load.pace {
                Pace::Closed => None,
                Pace::Open(rate) => Some(Schedule::new(rate, connection, load.connections, index, loads.len())),
            };
            let thread = if apart(load) { threads } else { lanes % threads };
            plans[thread].lanes.push(Plan {
                address: load.address,
                user: load.user.clone(),
                ops,
                schedule,
                load: index,
                stands_back: load.stands_back,
            });
            lanes += usize::from(!apart(load));
        }
    }
    plans
}

/// Waits for the time, or for all client threads to end.
async fn until(
    at: Option<Instant>,
    event: &mut mpsc::UnboundedReceiver<Event>,
    ended: &mut usize,
    threads: usize,
) -> Result<(), Error> {
    while *ended < threads {
        let next = match at {
            None => event.recv().await,
            Some(at) => match tokio::time::timeout_at(at.into(), event.recv()).await {
                Ok(next) => next,
                Err(_) => return Ok(()),
            },
        };
        match next {
            Some(Event::Ended(outcome)) => {
                outcome?;
                *ended += 1;
            }
            Some(Event::Connected) => {}
            None => return Err(Error::Setup("a client thread panicked".to_owned())),
        }
    }
    Ok(())
}

fn client_thread(thread: Thread, started: watch::Receiver<Start>, events: mpsc::UnboundedSender<Event>) {
    let run = || {
        if thread.stands_back {
            martite_env::thread::stand_back()?;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(run_lanes(thread, started, &events))
    };
    let outcome = run();
    // Nobody listens any more after an error elsewhere.
    let _ = events.send(Event::Ended(outcome));
}

async fn run_lanes(
    thread: Thread,
    mut started: watch::Receiver<Start>,
    events: &mpsc::UnboundedSender<Event>,
) -> Result<(), Error> {
    let mut lanes = Vec::with_capacity(thread.lanes.len());
    let (rooms, turns) = (Rooms::default(), Turns::default());
    for plan in thread.lanes {
        let Plan { address, user, ops, schedule, load, stands_back } = plan;
        let mut lane = Lane::connect(address, &user, ops, schedule, rooms.clone()).await?;
        if stands_back {
            lane.stand_back();
            if !thread.stands_back {
                lane.take_turns(turns.clone());
            }
        }
        if thread.polls {
            lane.poll();
        }
        lanes.push((lane, load));
    }
    let _ = events.send(Event::Connected);
    let start = started.wait_for(Option::is_some).await.map(|start| start.clone()).unwrap_or_default();
    let Some((window, recorders)) = start else { return Ok(()) };
    let mut running = tokio::task::JoinSet::new();
    for (lane, load) in lanes {
        running.spawn(lane.run(window, recorders[load].clone()));
    }
    while let Some(outcome) = running.join_next().await {
        outcome.map_err(|e| Error::Setup(format!("a lane ended: {e}")))??;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stands_back_has_a_thread_of_its_own_unless_the_others_poll() {
        let load = |connections, stands_back| {
            let make: MakeOp<'static> = Box::new(|_| unreachable!("nothing is to be under way"));
            Load { stands_back, ..Load::closed(([127, 0, 0, 1], 1).into(), connections, 0, make) }
        };
        let loads = [load(3, false), load(4, true)];
        let lanes = |polls| {
            let of_thread = |thread: &Thread| {
                let back = thread.lanes.iter().filter(|lane| lane.stands_back).count();
                (thread.lanes.len() - back, back, thread.stands_back)
            };
            plan(&loads, 2, polls).iter().map(of_thread).collect::<Vec<_>>()
        };
        assert_eq!(lanes(false), [(2, 0, false), (1, 0, false), (0, 4, true)]);
        assert_eq!(lanes(true), [(2, 2, false), (1, 2, false)]);
    }
}
