//! [`Executor`]: runs procedures, saves their states, keeps their results, and knows the requests it has seen.

use super::locks::{LockTable, conflict};
use super::{Flow, Lock, Procedure, Resource, decode, full_class};
use crate::services::Services;
use crate::{Caller, MasterError, class};
use bytes::Bytes;
use martite_config::keys;
use martite_metrics::{Histogram, Snapshot};
use martite_proto as pb;
use parking_lot::{Condvar, Mutex};
use pb::ProcedureState;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// How often a step that must not be undone is tried before the procedure gives up.
const MAX_ATTEMPTS: u32 = 8;
const FIRST_PAUSE_MS: u64 = 50;

/// Group and number by which a client marks a request that it may repeat; (0, 0) is no mark.
pub(crate) type NonceKey = (u64, u64);

struct Entry {
    proto: pb::Procedure,
    locks: Vec<Lock>,
    /// None while it runs, and after.
    body: Option<Box<dyn Procedure>>,
    /// Whether a client has read the result.
    acked: bool,
}

impl Entry {
    fn is_finished(&self) -> bool {
        is_finished(&self.proto)
    }
}

fn is_finished(proto: &pb::Procedure) -> bool {
    use ProcedureState::{Rolledback, Success};
    // FAILED is on its way to ROLLEDBACK as long as it has a state to go back from.
    let failed = proto.state == ProcedureState::Failed as i32 && proto.state_data.is_none();
    failed || proto.state == Success as i32 || proto.state == Rolledback as i32
}

#[derive(Default)]
struct State {
    next_id: u64,
    procedures: BTreeMap<u64, Entry>,
    queue: VecDeque<u64>,
    locks: LockTable,
    nonces: HashMap<NonceKey, u64>,
    /// A state could not be saved: nothing runs any more.
    broken: bool,
    stopping: bool,
}

/// What is known of a procedure.
pub(crate) struct Info {
    pub proto: pb::Procedure,
    pub finished: bool,
}

pub(crate) struct Executor {
    services: Arc<Services>,
    state: Mutex<State>,
    changed: Condvar,
    threads: Mutex<Vec<JoinHandle<()>>>,
    threaded: bool,
    /// From when they were asked for until they were done, by class: of those that succeeded since the start.
    times: Mutex<BTreeMap<&'static str, Histogram>>,
}

impl Executor {
    /// Takes up what was saved. Nothing runs before [`Executor::start`].
    pub fn load(services: Arc<Services>, threaded: bool) -> Result<Arc<Executor>, MasterError> {
        let (saved, highest) = services.store.procedures(services.now_ms())?;
        let mut state = State { next_id: highest + 1, ..State::default() };
        for proto in saved {
            let (id, nonce) = (proto.proc_id, nonce_of(&proto));
            let body = match &proto.state_data {
                Some(data) if !is_finished(&proto) => Some(decode(&proto.class_name, data)?),
                _ => None,
            };
            let locks = body.as_ref().map(|b| b.locks()).unwrap_or_default();
            if nonce != (0, 0) {
                state.nonces.insert(nonce, id);
            }
            if body.is_some() {
                state.queue.push_back(id);
            }
            state.procedures.insert(id, Entry { proto, locks, body, acked: false });
        }
        Ok(Arc::new(Executor {
            services,
            state: Mutex::new(state),
            changed: Condvar::new(),
            threads: Mutex::default(),
            threaded,
            times: Mutex::default(),
        }))
    }

    /// Whether an unfinished procedure locks the table, one of its regions, or its namespace exclusively.
    pub fn concerns(&self, region: &martite_catalog::RegionInfo) -> bool {
        let state = self.state.lock();
        let unfinished = state.procedures.values().filter(|e| !e.is_finished());
        unfinished.flat_map(|e| &e.locks).any(|lock| match &lock.resource {
            Resource::Namespace(_) => false,
            Resource::Table(table) => table == region.table(),
            Resource::Region(encoded) => **encoded == *region.encoded_name(),
        })
    }

    /// Starts the threads, or runs what was saved.
    pub fn start(self: &Arc<Self>) {
        if !self.threaded {
            self.run_queue();
            return;
        }
        let count = self.services.config.get(keys::PROCEDURE_THREADS).clamp(1, 64);
        let mut threads = self.threads.lock();
        for n in 0..count {
            let executor = self.clone();
            let spawned = std::thread::Builder::new().name(format!("procedure-{n}")).spawn(move || executor.work());
            match spawned {
                Ok(thread) => threads.push(thread),
                Err(error) => tracing::error!(%error, "no thread for procedures"),
            }
        }
    }

    /// Saves a procedure and lets it run; answers its id. A request whose nonce is known gets the id it got before.
    pub fn submit(&self, body: Box<dyn Procedure>, caller: &Caller, nonce: NonceKey) -> Result<u64, MasterError> {
        let now = self.services.now_ms();
        let proto = {
            let mut state = self.state.lock();
            if state.stopping || state.broken {
                return Err(MasterError::stopping());
            }
            if let Some(known) = state.nonces.get(&nonce).filter(|_| nonce != (0, 0)) {
                return Ok(*known);
            }
            let proto = new_proto(state.next_id, &*body, caller, nonce, now);
            state.next_id += 1;
            if nonce != (0, 0) {
                state.nonces.insert(nonce, proto.proc_id);
            }
            // Known from here on, so that a copy of the request does not take it for forgotten; runs once it is saved.
            let entry = Entry { proto: proto.clone(), locks: body.locks(), body: None, acked: false };
            state.procedures.insert(proto.proc_id, entry);
            proto
        };
        let id = proto.proc_id;
        if let Err(error) = self.services.store.put_procedure(&proto, now) {
            self.break_down(&error);
            return Err(error);
        }
        let mut state = self.state.lock();
        if let Some(entry) = state.procedures.get_mut(&id) {
            entry.body = Some(body);
        }
        state.queue.push_back(id);
        drop(state);
        self.changed.notify_all();
        if !self.threaded {
            self.run_queue();
        }
        Ok(id)
    }

    /// Whether the request was seen before, and what it was given.
    pub fn known(&self, nonce: NonceKey) -> Option<u64> {
        if nonce == (0, 0) { None } else { self.state.lock().nonces.get(&nonce).copied() }
    }

    /// Blocks until the procedure is done.
    pub fn wait(&self, id: u64) -> Result<Bytes, MasterError> {
        let mut state = self.state.lock();
        loop {
            let stuck = state.broken || state.stopping;
            let Some(entry) = state.procedures.get(&id) else {
                return Err(MasterError::do_not_retry(format!("procedure {id} is not known")));
            };
            if entry.is_finished() {
                return match &entry.proto.exception {
                    Some(exception) => Err(from_foreign(exception)),
                    None => Ok(entry.proto.result.clone().unwrap_or_default()),
                };
            }
            if stuck {
                return Err(MasterError::stopping());
            }
            self.changed.wait(&mut state);
        }
    }

    /// Blocks until nothing is queued or running.
    pub fn wait_idle(&self) {
        let mut state = self.state.lock();
        while !(state.broken || state.stopping) && state.procedures.values().any(|e| !e.is_finished()) {
            self.changed.wait(&mut state);
        }
    }

    pub fn is_broken(&self) -> bool {
        self.state.lock().broken
    }

    /// A procedure; with `ack`, its result may be forgotten sooner.
    pub fn get(&self, id: u64, ack: bool) -> Option<Info> {
        let mut state = self.state.lock();
        let entry = state.procedures.get_mut(&id)?;
        entry.acked |= ack && entry.is_finished();
        Some(Info { proto: entry.proto.clone(), finished: entry.is_finished() })
    }

    /// Every procedure that is not forgotten.
    pub fn list(&self) -> Vec<pb::Procedure> {
        self.state.lock().procedures.values().map(|e| e.proto.clone()).collect()
    }

    /// What is locked: resource, whether exclusively, and by which procedures; and which procedures wait for it.
    pub fn list_locks(&self) -> Vec<(Resource, bool, Vec<pb::Procedure>, Vec<pb::Procedure>)> {
        let state = self.state.lock();
        let proto = |id: &u64| state.procedures.get(id).map(|e| e.proto.clone());
        let waits_for = |resource: &Resource| {
            let waiting =
                |id: &&u64| state.procedures.get(*id).is_some_and(|e| e.locks.iter().any(|l| l.resource == *resource));
            state.queue.iter().filter(waiting).filter_map(proto).collect()
        };
        let held = state.locks.held();
        held.map(|(r, h)| (r.clone(), h.exclusive, h.ids.iter().filter_map(proto).collect(), waits_for(r))).collect()
    }

    /// Forgets results that were kept long enough.
    pub fn evict(&self) -> Result<(), MasterError> {
        let now = self.services.clock.now_ms();
        let keep = self.services.config.get(keys::PROCEDURE_KEEP);
        let keep_acked = self.services.config.get(keys::PROCEDURE_KEEP_ACKED);
        let old: Vec<u64> = {
            let state = self.state.lock();
            let is_old = |e: &&Entry| {
                let age = now.saturating_sub(e.proto.last_update);
                e.is_finished() && age > if e.acked { keep_acked } else { keep }
            };
            state.procedures.values().filter(is_old).map(|e| e.proto.proc_id).collect()
        };
        if old.is_empty() {
            return Ok(());
        }
        self.services.store.delete_procedures(&old, self.services.now_ms())?;
        let mut state = self.state.lock();
        for id in &old {
            state.procedures.remove(id);
        }
        state.nonces.retain(|_, id| old.binary_search(id).is_err());
        Ok(())
    }

    /// Lets running steps finish, starts no more, and waits for the threads.
    pub fn stop(&self) {
        self.state.lock().stopping = true;
        self.changed.notify_all();
        for thread in std::mem::take(&mut *self.threads.lock()) {
            if thread.join().is_err() {
                tracing::error!("a thread for procedures panicked");
            }
        }
    }

    fn work(&self) {
        loop {
            let (id, body) = {
                let mut state = self.state.lock();
                loop {
                    if state.stopping || state.broken {
                        return;
                    }
                    if let Some(next) = state.next() {
                        break next;
                    }
                    self.changed.wait(&mut state);
                }
            };
            self.run(id, body);
        }
    }

    fn run_queue(&self) {
        loop {
            let next = {
                let mut state = self.state.lock();
                if state.stopping || state.broken { None } else { state.next() }
            };
            match next {
                Some((id, body)) => self.run(id, body),
                None => return,
            }
        }
    }

    /// Runs a procedure that has its locks, to its end.
    fn run(&self, id: u64, mut body: Box<dyn Procedure>) {
        let mut attempt = 0;
        let outcome = loop {
            if self.undoing(id) {
                break self.undo(id, &mut *body);
            }
            match body.step(&self.services) {
                Ok(Flow::More) => {
                    attempt = 0;
                    let encoded = body.encode();
                    if let Err(error) = self.save(id, |proto| proto.state_data = Some(encoded.into())) {
                        break Err(error);
                    }
                    if self.state.lock().stopping {
                        break Ok(());
                    }
                }
                Ok(Flow::Done(result)) => {
                    let done = self.save(id, |proto| {
                        proto.state = ProcedureState::Success as i32;
                        proto.result = (!result.is_empty()).then_some(result);
                        proto.state_data = None;
                    });
                    if done.is_ok() {
                        self.note_time(id, body.class());
                    }
                    break done;
                }
                Err(error) => {
                    tracing::warn!(pid = id, class = body.class(), %error, "a step of a procedure failed");
                    attempt += 1;
                    let undo = body.can_roll_back();
                    if (undo || attempt >= MAX_ATTEMPTS)
                        && let Err(error) = self.fail(id, &error, undo)
                    {
                        break Err(error);
                    }
                    if !undo && (attempt >= MAX_ATTEMPTS || !self.pause(attempt)) {
                        break Ok(());
                    }
                }
            }
        };
        if let Err(error) = outcome {
            self.break_down(&error);
        }
        let mut state = self.state.lock();
        state.locks.release(id);
        drop(state);
        self.changed.notify_all();
    }

    fn note_time(&self, id: u64, class: &'static str) {
        if let Some(Info { proto, .. }) = self.get(id, false) {
            let took = Duration::from_millis(proto.last_update.saturating_sub(proto.submitted_time));
            self.times.lock().entry(class).or_default().record(took);
        }
    }

    /// How long procedures took, by class.
    pub fn times(&self) -> Vec<(&'static str, Snapshot)> {
        self.times.lock().iter().map(|(class, times)| (*class, times.snapshot())).collect()
    }

    fn undoing(&self, id: u64) -> bool {
        let state = self.state.lock();
        state.procedures.get(&id).is_some_and(|e| e.proto.state == ProcedureState::Failed as i32)
    }

    /// Notes a failure; with `undo`, the procedure is on its way back from here on, after a crash too.
    fn fail(&self, id: u64, error: &MasterError, undo: bool) -> Result<(), MasterError> {
        self.save(id, |proto| {
            proto.state = ProcedureState::Failed as i32;
            proto.exception = Some(to_foreign(error));
            if !undo {
                proto.state_data = None;
            }
        })
    }

    fn undo(&self, id: u64, body: &mut dyn Procedure) -> Result<(), MasterError> {
        let mut attempt = 0;
        while let Err(error) = body.roll_back(&self.services) {
            attempt += 1;
            tracing::error!(pid = id, class = body.class(), %error, "a procedure could not be undone");
            if attempt >= MAX_ATTEMPTS || !self.pause(attempt) {
                break;
            }
        }
        self.save(id, |proto| {
            proto.state = ProcedureState::Rolledback as i32;
            proto.state_data = None;
        })
    }

    /// Waits longer each time; false if the executor stops meanwhile.
    fn pause(&self, attempt: u32) -> bool {
        let mut state = self.state.lock();
        if self.threaded && !state.stopping {
            let pause = Duration::from_millis(FIRST_PAUSE_MS << attempt.min(8));
            self.changed.wait_for(&mut state, pause);
        }
        !state.stopping && !state.broken
    }

    /// Changes the saved form of a procedure, on disk and then here.
    fn save(&self, id: u64, change: impl FnOnce(&mut pb::Procedure)) -> Result<(), MasterError> {
        let now = self.services.now_ms();
        let Some(mut proto) = self.state.lock().procedures.get(&id).map(|e| e.proto.clone()) else { return Ok(()) };
        change(&mut proto);
        proto.last_update = now;
        self.services.store.put_procedure(&proto, now)?;
        if let Some(entry) = self.state.lock().procedures.get_mut(&id) {
            entry.proto = proto;
        }
        Ok(())
    }

    fn break_down(&self, error: &MasterError) {
        self.state.lock().broken = true;
        self.changed.notify_all();
        self.services.host.abort(&format!("the master cannot save the state of a procedure: {error}"));
    }
}

impl State {
    /// The first procedure in the queue that can have its locks without passing one that waits for them.
    fn next(&mut self) -> Option<(u64, Box<dyn Procedure>)> {
        let mut waiting: Vec<&[Lock]> = Vec::new();
        let mut found = None;
        for (at, id) in self.queue.iter().enumerate() {
            let Some(entry) = self.procedures.get(id) else { continue };
            if self.locks.is_free(&entry.locks) && !waiting.iter().any(|w| conflict(w, &entry.locks)) {
                found = Some((at, *id));
                break;
            }
            waiting.push(&entry.locks);
        }
        let (at, id) = found?;
        self.queue.remove(at);
        let entry = self.procedures.get_mut(&id)?;
        self.locks.take(id, &entry.locks);
        Some((id, entry.body.take()?))
    }
}

fn new_proto(id: u64, body: &dyn Procedure, caller: &Caller, nonce: NonceKey, now_ms: u64) -> pb::Procedure {
    pb::Procedure {
        class_name: full_class(body.class()),
        proc_id: id,
        submitted_time: now_ms,
        owner: Some(caller.user.clone()),
        state: ProcedureState::Runnable as i32,
        last_update: now_ms,
        state_data: Some(body.encode().into()),
        nonce_group: Some(nonce.0),
        nonce: Some(nonce.1),
        ..pb::Procedure::default()
    }
}

fn nonce_of(proto: &pb::Procedure) -> NonceKey {
    (proto.nonce_group.unwrap_or(0), proto.nonce.unwrap_or(0))
}

fn to_foreign(error: &MasterError) -> pb::ForeignExceptionMessage {
    pb::ForeignExceptionMessage {
        source: Some("master".into()),
        generic_exception: Some(pb::GenericExceptionMessage {
            class_name: Some(error.class.clone()),
            message: Some(error.message.clone()),
            error_info: None,
            trace: Vec::new(),
        }),
    }
}

fn from_foreign(exception: &pb::ForeignExceptionMessage) -> MasterError {
    let generic = exception.generic_exception.clone().unwrap_or_default();
    MasterError::new(generic.class_name.as_deref().unwrap_or(class::IO), generic.message.unwrap_or_default())
}
