//! The steps, one after the other, on one server that is stopped and started again.

use super::counters::Counters;
use super::options::BeyondMemory;
use super::results::StepResults;
use crate::drive::{Load, Outcome, Timing, drive};
use crate::op::Op;
use crate::op::get::Get;
use crate::op::scan::{Passing, Scan};
use crate::process::Process;
use crate::progress::Progress;
use crate::results::Numbers;
use crate::rows::SINGLE;
use crate::server::martite::{Spawned, spawn};
use crate::target::Target;
use crate::zipfian::Keys;
use crate::{Error, setup};
use martite_catalog::TableName;
use martite_client::Cluster;
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Lines of progress.
pub const STEPS: u64 = 10;
/// How often the server's memory is looked at.
const SAMPLE: Duration = Duration::from_millis(50);
/// Rows of a scan beside Gets, which begins anywhere: few enough that many scans end within a measurement.
const RANGE: u64 = 20_000;
/// The hot set is read so many times longer before it is measured.
const WARM_UP: u32 = 2;

pub struct Found {
    pub load: Numbers,
    pub steps: Vec<StepResults>,
    pub most_memory_mib: Vec<u64>,
    pub restarted_in_ms: f64,
}

/// Which rows Gets are of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// The first of the table, by Zipf's law.
    Hot,
    /// All, each as often.
    All,
}

struct Run<'a> {
    options: &'a BeyondMemory,
    child: Spawned,
    target: Arc<Target>,
    hot: Arc<Target>,
}

pub async fn all(options: &BeyondMemory, data: &Path, progress: &Progress) -> Result<Found, Error> {
    progress.step("start");
    let server = start(options, data).await?;
    progress.step("load");
    let (target, table) = setup::prepare(&server.server()?, SINGLE, options.making()).await?;
    let run = Run::new(options, server, target);
    let mut steps = Vec::new();
    progress.step("hot Gets, warm up");
    run.gets("warm up", Rows::Hot, false, WARM_UP, 0.0).await?;
    progress.step("hot Gets");
    steps.push(run.gets("hot Gets", Rows::Hot, false, 1, 0.0).await?);
    progress.step("scan of all");
    let scan = run.scan().await?;
    let scan_misses = (scan.look_ups.all() - scan.look_ups.memory) as f64 / scan.numbers.rows.max(1) as f64;
    steps.push(scan);
    progress.step("hot Gets after a scan");
    steps.push(run.gets("hot Gets after it", Rows::Hot, false, 1, 0.0).await?);
    progress.step("hot Gets beside a scan");
    steps.push(run.gets("hot Gets beside scans", Rows::Hot, true, 1, scan_misses).await?);
    steps.push(run.gets("hot Gets after them", Rows::Hot, false, 1, 0.0).await?);
    progress.step("Gets of all rows");
    steps.push(run.gets("Gets of all", Rows::All, false, 1, 0.0).await?);
    let mut most_memory_mib = vec![run.process().memory_mib()?.1];

    progress.step("stop and start");
    run.child.stop().await?;
    let server = start(options, data).await?;
    let restarted_in_ms = server.started_in.as_secs_f64() * 1e3;
    let target = find(&server, options.rows()).await?;
    let run = Run::new(options, server, target);
    progress.step("Gets of all rows after the start");
    steps.push(run.gets("Gets of all after a restart", Rows::All, false, 1, 0.0).await?);
    most_memory_mib.push(run.process().memory_mib()?.1);
    Ok(Found { load: table.load, steps, most_memory_mib, restarted_in_ms })
}

/// Starts the server; its cache files and their index lie beside its data.
async fn start(options: &BeyondMemory, data: &Path) -> Result<Spawned, Error> {
    let mut arguments = vec![format!("--memory={}m", options.memory_mib), "--regionserver-info-port=0".to_owned()];
    if options.tier_mib() > 0 {
        let path = |name: &str| data.join(name).display().to_string();
        arguments.push(format!("-Dhbase.bucketcache.ioengine=file:{}", path("cache")));
        arguments.push(format!("-Dhbase.bucketcache.size={}", options.tier_mib()));
        arguments.push(format!("-Dhbase.bucketcache.persistent.path={}", path("cache-index")));
    }
    spawn(data, &arguments, None).await
}

/// The table of a server that was started again.
async fn find(child: &Spawned, rows: u64) -> Result<Arc<Target>, Error> {
    let cluster = Cluster::connect(&child.address("master")?).await?;
    let name = TableName::parse(SINGLE.table).map_err(martite_client::Error::from)?;
    Ok(Arc::new(Target::new(SINGLE, rows, cluster.regions(&name).await?).await?))
}

impl<'a> Run<'a> {
    fn new(options: &'a BeyondMemory, child: Spawned, target: Arc<Target>) -> Run<'a> {
        let hot = Arc::new(Target { rows: options.hot_rows(), ..(*target).clone() });
        Run { options, child, target, hot }
    }

    fn process(&self) -> Process {
        self.child.process
    }

    async fn counters(&self) -> Result<Counters, Error> {
        Counters::read(&self.child.address("regionserverinfo")?, self.options.tier_mib() > 0).await
    }

    /// Gets for the seconds of the options, `factor` times; a scan beside them takes `scan_misses` blocks a row from outside memory.
    async fn gets(
        &self,
        name: &'static str,
        rows: Rows,
        beside_scans: bool,
        factor: u32,
        scan_misses: f64,
    ) -> Result<StepResults, Error> {
        let (target, keys) = match rows {
            Rows::Hot => (&self.hot, Keys::zipfian()),
            Rows::All => (&self.target, Keys::Uniform),
        };
        let make = |seed| {
            let get = Get::new(target.clone(), keys.clone(), seed);
            Box::new(get.checking_all()) as Box<dyn Op>
        };
        let mut loads = vec![Load::closed(target.address, self.options.threads, 1, Box::new(make))];
        if beside_scans {
            let make = |seed| Box::new(self.scan_of(RANGE, seed)) as Box<dyn Op>;
            loads.push(Load::closed(target.address, 1, 1, Box::new(make)));
        }
        let length = Duration::from_secs_f64(self.options.seconds) * factor;
        let (outcome, look_ups, memory_mib) = self.sampled(&loads, Some(length)).await?;
        let numbers = Numbers::of(&outcome, 0);
        let scanned_rows = outcome.loads.get(1).map_or(0, |scans| scans.total.rows);
        let outside = (look_ups.all() - look_ups.memory) as f64 - scanned_rows as f64 * scan_misses;
        let gets = numbers.operations.max(1) as f64;
        let in_memory_percent = ((1.0 - outside / gets) * 100.0).clamp(0.0, 100.0);
        Ok(StepResults { name, numbers, look_ups, scanned_rows, in_memory_percent, memory_mib })
    }

    fn scan_of(&self, rows: u64, seed: u64) -> Scan {
        Scan::new(self.target.clone(), Passing::All, rows, seed).checking_all()
    }

    /// One scan of the whole table.
    async fn scan(&self) -> Result<StepResults, Error> {
        let make = |seed| Box::new(setup::Once::new(self.scan_of(self.target.rows, seed))) as Box<dyn Op>;
        let loads = [Load::closed(self.target.address, 1, 1, Box::new(make))];
        let (outcome, look_ups, memory_mib) = self.sampled(&loads, None).await?;
        let numbers = Numbers::of(&outcome, 0);
        let in_memory_percent = look_ups.percent()[0];
        Ok(StepResults { name: "scan of all", numbers, look_ups, scanned_rows: 0, in_memory_percent, memory_mib })
    }

    /// Drives the loads; what the caches counted meanwhile, and the most memory that was seen.
    async fn sampled(&self, loads: &[Load<'_>], length: Option<Duration>) -> Result<(Outcome, Counters, u64), Error> {
        let before = self.counters().await?;
        let timing = Timing { warmup: Duration::ZERO, length, client_threads: 1, polls: false, rest: None };
        let most = Cell::new(0);
        let outcome = tokio::select! {
            outcome = drive(loads, timing, Some(self.process())) => outcome?,
            e = sample(self.process(), &most) => return Err(e),
        };
        Ok((outcome, self.counters().await?.since(before), most.get()))
    }
}

/// Looks at the process's memory until it cannot.
async fn sample(process: Process, most: &Cell<u64>) -> Error {
    loop {
        match process.memory_mib() {
            Ok((now, _)) => most.set(most.get().max(now)),
            Err(e) => return e,
        }
        tokio::time::sleep(SAMPLE).await;
    }
}
