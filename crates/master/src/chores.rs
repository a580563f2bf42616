//! Background duties, each at its own period, in one thread.

use crate::procedure::Executor;
use crate::services::Services;
use crate::switches::Switch;
use crate::{MasterError, cleaner, janitor, normalizer, snapshots, space};
use martite_config::keys;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between two looks at what is due.
const TICK: Duration = Duration::from_secs(1);
const EVICT_PERIOD_MS: u64 = 30_000;
/// The duty whose first time is a setting, too.
const SPACE: &str = "space quotas";
/// Time between looks whether hbase:quota is to be read again.
const QUOTA_CHECK_MS: u64 = 1000;
/// HBase flushes its master region at least this often.
const STORE_FLUSH_PERIOD_MS: u64 = 900_000;

struct Stop {
    stopped: Mutex<bool>,
    changed: Condvar,
}

pub(crate) struct Chores {
    stop: Arc<Stop>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Chores {
    /// No thread: nothing happens by itself.
    pub fn none() -> Chores {
        let stop = Stop { stopped: Mutex::new(false), changed: Condvar::new() };
        Chores { stop: Arc::new(stop), thread: Mutex::new(None) }
    }

    pub fn start(services: &Arc<Services>, procedures: &Arc<Executor>) -> Chores {
        let chores = Chores::none();
        let (services, procedures, stop) = (services.clone(), procedures.clone(), chores.stop.clone());
        let spawned =
            std::thread::Builder::new().name("master-chores".into()).spawn(move || run(&services, &procedures, &stop));
        match spawned {
            Ok(thread) => *chores.thread.lock() = Some(thread),
            Err(error) => tracing::error!(%error, "no thread for the master's chores"),
        }
        chores
    }

    pub fn stop(&self) {
        *self.stop.stopped.lock() = true;
        self.stop.changed.notify_all();
        let thread = self.thread.lock().take();
        if thread.is_some_and(|t| t.join().is_err()) {
            tracing::error!("the thread of the master's chores panicked");
        }
    }
}

type Duty = fn(&Services, &Executor) -> Result<(), MasterError>;

fn duties(services: &Services) -> [(&'static str, u64, Duty); 9] {
    let period = |key| services.config.get(key);
    [
        ("evict procedures", EVICT_PERIOD_MS, |_, procedures| procedures.evict()),
        ("catalog janitor", period(keys::CATALOG_JANITOR_PERIOD), |services, _| {
            if services.is_on(Switch::CatalogJanitor) { janitor::run(services).map(|_| ()) } else { Ok(()) }
        }),
        ("normalizer", period(keys::NORMALIZER_PERIOD), |services, procedures| {
            normalizer::run(services, procedures, |_| true).map(|_| ())
        }),
        ("cleaner", period(keys::CLEANER_PERIOD), |services, _| {
            if services.is_on(Switch::Cleaner) { cleaner::run(services).map(|_| ()) } else { Ok(()) }
        }),
        ("expired snapshots", period(keys::SNAPSHOT_CLEANER_PERIOD), |services, _| {
            snapshots::delete_expired(services).map(|_| ())
        }),
        ("quotas", QUOTA_CHECK_MS, |services, _| services.quotas.refresh(services)),
        ("sizes of snapshots", period(keys::SNAPSHOT_SIZES_PERIOD), |services, _| space::measure_snapshots(services)),
        (SPACE, period(keys::SPACE_OBSERVER_PERIOD), space::observe),
        ("flush the master's store", STORE_FLUSH_PERIOD_MS, |services, _| services.store.flush()),
    ]
}

/// Does every duty once.
pub(crate) fn run_all(services: &Services, procedures: &Executor) {
    for (name, _, duty) in duties(services) {
        if let Err(error) = duty(services, procedures) {
            tracing::warn!(%error, "chore failed: {name}");
        }
    }
}

fn run(services: &Services, procedures: &Executor, stop: &Stop) {
    let duties = duties(services);
    let start = services.clock.now_ms();
    let delay = services.config.get(keys::SPACE_OBSERVER_DELAY);
    let first = |name: &str, period: u64| if name == SPACE { delay } else { period };
    let mut due: Vec<u64> = duties.iter().map(|(name, period, _)| start + first(name, *period)).collect();
    loop {
        {
            let mut stopped = stop.stopped.lock();
            if !*stopped {
                stop.changed.wait_for(&mut stopped, TICK);
            }
            if *stopped {
                return;
            }
        }
        let now = services.clock.now_ms();
        for ((name, period, duty), due) in duties.iter().zip(&mut due) {
            if now < *due || *period == 0 {
                continue;
            }
            *due = now + period;
            if let Err(error) = duty(services, procedures) {
                tracing::warn!(%error, "chore failed: {name}");
            }
        }
    }
}
