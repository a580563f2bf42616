//! The run: server after server, or all of them by turns; table after table, workload after workload.

use crate::beside::{Beside, Other, Round, Seen, Work};
use crate::by_turns::ByTurns;
use crate::drive::{Load, Outcome, Timing, drive};
use crate::machine::Machine;
use crate::of_peak::OfPeak;
use crate::options::Offheap;
use crate::profile::{self, Recording};
use crate::programs::Programs;
use crate::progress::Progress;
use crate::results::{Measurement, Memory, Numbers, Report, ServerResults};
use crate::rounds::middle;
use crate::rows::{SINGLE, Shape, TEN};
use crate::server::{Server, Settings, Spec};
use crate::target::Target;
use crate::workload::{Workload, full_scans};
use crate::{Error, report, setup};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// A server's first run of a workload warms up so many times longer: a JIT compiler wants to see it first.
pub const FIRST: u32 = 5;
pub const MOST_THREADS: usize = 10_000;
pub const MOST_SECONDS: f64 = 3600.0;

/// Runs `martite bench offheap`; the report is printed and written.
pub fn offheap(options: &Offheap) -> Result<(), Error> {
    check(options)?;
    let report = to_its_end(measure(options))?;
    print!("{}", report::text(&report));
    for path in report::write(&report, report::page(&report), &options.out)? {
        println!("{}", path.display());
    }
    Ok(())
}

/// Runs a benchmark that a signal may end.
pub fn to_its_end<R>(measure: impl Future<Output = Result<R, Error>>) -> Result<R, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        tokio::select! {
            report = measure => report,
            outcome = interrupted() => Err(outcome.err().map_or(Error::Interrupted, Error::from)),
        }
    })
}

/// What clap's types let pass.
fn check(options: &Offheap) -> Result<(), Error> {
    let wrong = |what: &str| Err(Error::Setup(what.to_owned()));
    for (name, threads) in [("threads", &options.threads), ("beside-threads", &options.beside_threads)] {
        if threads.is_empty() || !threads.iter().all(|n| (1..=MOST_THREADS).contains(n)) {
            return wrong(&format!("--{name} must be from 1 to {MOST_THREADS}"));
        }
    }
    if !(options.seconds > 0.0 && options.seconds <= MOST_SECONDS && (0.0..=MOST_SECONDS).contains(&options.warmup)) {
        return wrong("--seconds must be above 0, --warmup must not be below, and neither above 3600");
    }
    if options.by_turns && (options.servers.len() < 2 || options.rounds < 2) {
        return wrong(
            "--by-turns compares servers round by round: --servers must name two or more, --rounds must be 2 or more",
        );
    }
    if options.profile { profile::check() } else { Ok(()) }
}

/// Waits for SIGINT or SIGTERM: the servers that were started here must not outlive this process.
async fn interrupted() -> std::io::Result<()> {
    let (mut int, mut term) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        _ = int.recv() => {}
        _ = term.recv() => {}
    }
    Ok(())
}

async fn measure(options: &Offheap) -> Result<Report, Error> {
    std::fs::create_dir_all(&options.out).map_err(Error::file(&options.out))?;
    let mut report = Report {
        date: jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string(),
        version: env!("CARGO_PKG_VERSION"),
        machine: Machine::read(),
        options: options.clone(),
        servers: Vec::new(),
        by_turns: Vec::new(),
    };
    let progress = Progress::new(steps(options));
    for servers in groups(options) {
        let mut runs = Vec::new();
        for spec in servers {
            runs.push(Run::start(spec, options, &progress).await?);
        }
        for run in &runs {
            setup::quiet(run.server.process).await?;
        }
        let programs = Programs::start(options.other_programs).map_err(|e| Error::Setup(format!("sh: {e}")))?;
        for workload in options.workloads() {
            report.by_turns.extend(measure_on_all(&mut runs, workload, options).await?);
            for run in &mut runs {
                run.profile(workload).await?;
            }
        }
        for run in &mut runs {
            run.besides().await?;
        }
        drop(programs);
        for run in runs {
            report.servers.push(run.finish()?);
        }
    }
    progress.finish();
    Ok(report)
}

/// The servers that run at the same time.
fn groups(options: &Offheap) -> std::slice::Chunks<'_, Spec> {
    options.servers.chunks(if options.by_turns { options.servers.len() } else { 1 })
}

/// 0 to `count`, backwards in every second round.
fn turned(count: usize, round: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

/// Measures a workload on servers that run: in each round by all numbers of threads, by each on all servers.
async fn measure_on_all(runs: &mut [Run<'_>], workload: Workload, options: &Offheap) -> Result<Vec<ByTurns>, Error> {
    let threads = &options.threads;
    let mut measured: Vec<Vec<Vec<Numbers>>> = runs.iter().map(|_| vec![Vec::new(); threads.len()]).collect();
    for round in 0..options.rounds {
        for nth in turned(threads.len(), round) {
            for which in turned(runs.len(), round) {
                let first = measured[which].iter().all(Vec::is_empty);
                let numbers = runs[which].workload(workload, threads[nth], if first { FIRST } else { 1 }).await?;
                measured[which][nth].push(numbers);
            }
        }
    }
    let mut compared = Vec::new();
    if let Some((first, others)) = measured.split_first() {
        let compare = |(numbers, run): (&Vec<_>, &Run)| ByTurns::of(workload, run.spec.name(), first, numbers);
        compared.extend(others.iter().zip(&runs[1..]).filter_map(compare));
    }
    for (run, measured) in runs.iter_mut().zip(measured) {
        run.keep(workload, measured);
    }
    Ok(compared)
}

/// The tables that the workloads use.
fn shapes(options: &Offheap) -> Vec<Shape> {
    let used = |shape: &Shape| options.workloads().iter().any(|w| w.shape() == *shape);
    [SINGLE, TEN].into_iter().filter(used).collect()
}

/// Whether this server is profiled: of a Java program perf sees no functions.
fn has_profile(options: &Offheap, spec: &Spec) -> bool {
    options.profile && *spec != Spec::HBase
}

fn steps(options: &Offheap) -> u64 {
    let workloads = options.workloads().len();
    let beside = options.beside_threads.len() * options.beside_rounds() as usize;
    let measured = workloads * options.threads.len() * options.rounds as usize + beside;
    let each = 1 + shapes(options).len() + measured;
    let profiled = options.servers.iter().filter(|spec| has_profile(options, spec)).count();
    (options.servers.len() * each + profiled * workloads) as u64
}

/// One server's part.
struct Run<'a> {
    spec: &'a Spec,
    options: &'a Offheap,
    progress: &'a Progress,
    server: Server,
    targets: Vec<Arc<Target>>,
    /// In MiB, before the tables were loaded.
    idle: Option<u64>,
    results: ServerResults,
    /// Kept while the server runs.
    _data: tempfile::TempDir,
}

impl<'a> Run<'a> {
    /// Starts the server and loads its tables.
    async fn start(spec: &'a Spec, options: &'a Offheap, progress: &'a Progress) -> Result<Run<'a>, Error> {
        let data = tempfile::Builder::new().prefix("data-").tempdir_in(&options.out)?;
        progress.step(&format!("{}: start", spec.name()));
        let settings = Settings { cache_mib: options.cache_mib, quotas: None, hsync: None, cores: options.cores };
        let server = Server::start(spec, data.path(), settings).await?;
        let idle = server.process.map(|p| p.memory_mib()).transpose()?.map(|(now, _)| now);
        let results = ServerResults {
            name: spec.name().to_owned(),
            title: server.title.clone(),
            started_in_ms: server.started_in.map(|d| d.as_secs_f64() * 1e3),
            memory: None,
            tables: Vec::new(),
            measurements: Vec::new(),
            of_peak: Vec::new(),
            beside: Vec::new(),
            profiles: Vec::new(),
        };
        let mut run = Run { spec, options, progress, server, targets: Vec::new(), idle, results, _data: data };
        for shape in shapes(options) {
            run.step(&format!("load {}", shape.table));
            let (target, table) = setup::prepare(&run.server, shape, options.making()).await?;
            run.targets.push(target);
            run.results.tables.push(table);
        }
        Ok(run)
    }

    /// The table in which a workload reads: there is one for each of them.
    fn target(&self, shape: Shape) -> Result<Arc<Target>, Error> {
        self.targets.iter().find(|t| t.shape == shape).cloned().ok_or_else(|| Error::no_table(shape.table))
    }

    async fn workload(&self, workload: Workload, threads: usize, warmups: u32) -> Result<Numbers, Error> {
        self.step(&format!("{} by {threads}", workload.name()));
        let target = self.target(workload.shape())?;
        let outcome = self.drive(&[workload.load(&target, threads)], warmups).await?;
        Ok(Numbers::of(&outcome, 0))
    }

    /// `rounds`: for each number of threads, round by round.
    fn keep(&mut self, workload: Workload, rounds: Vec<Vec<Numbers>>) {
        let threads = &self.options.threads;
        let rows_per_s = |rounds: &Vec<Numbers>| rounds.iter().map(|numbers| numbers.rows_per_s).collect();
        let kept = OfPeak::of(workload, threads, &rounds.iter().map(rows_per_s).collect::<Vec<_>>());
        self.results.of_peak.extend(kept);
        self.results.measurements.extend(threads.iter().zip(rounds).filter_map(|(&threads, rounds)| {
            Some(Measurement { workload, threads, numbers: middle(rounds, |numbers| numbers.rows_per_s)? })
        }));
    }

    /// Samples a run of its own, because taking them costs the server time.
    async fn profile(&mut self, workload: Workload) -> Result<(), Error> {
        if let Some(process) = self.server.process
            && has_profile(self.options, self.spec)
        {
            let threads = self.options.threads.iter().copied().max().unwrap_or(1);
            self.step(&format!("{} by {threads}, profile", workload.name()));
            let length = Duration::from_secs_f64(self.options.warmup + self.options.seconds);
            let recording = Recording::start(process, length, &self.options.out)?;
            self.drive(&[workload.load(&self.target(workload.shape())?, threads)], 1).await?;
            self.results.profiles.push((workload, recording.stacks().await?));
        }
        Ok(())
    }

    async fn besides(&mut self) -> Result<(), Error> {
        if self.options.beside_rounds() > 0 {
            let target = self.target(SINGLE)?;
            for &threads in &self.options.beside_threads {
                let beside = self.beside(&target, threads).await?;
                self.results.beside.extend(beside);
            }
        }
        Ok(())
    }

    /// Gets alone and beside each other work, by turns.
    async fn beside(&self, target: &Arc<Target>, threads: usize) -> Result<Vec<Beside>, Error> {
        let works = &self.options.beside;
        let mut rounds: Vec<Vec<Round>> = works.iter().map(|_| Vec::new()).collect();
        for _ in 0..self.options.beside_rounds() {
            self.step(&format!("get by {threads}, alone and beside other work"));
            for (work, rounds) in works.iter().zip(&mut rounds) {
                let gets = || Workload::Get.load(target, threads);
                let alone = self.drive(&[gets()], 1).await?;
                let (work, beside) = match work {
                    Other::Scan | Other::Export => {
                        let (at_once, returns) = (self.options.beside_scans as usize, *work == Other::Export);
                        let beside = self.drive(&[gets(), full_scans(target, at_once, returns)], 1).await?;
                        (Work::Scan { at_once, returns, rows_per_s: Numbers::of(&beside, 1).rows_per_s }, beside)
                    }
                    Other::Compaction => {
                        let compaction = setup::Compaction::start(&self.server, target.shape).await?;
                        let beside = self.drive(&[gets()], 1).await?;
                        let outlasted = compaction.is_under_way().await?;
                        compaction.wait().await?;
                        (Work::Compaction { outlasted }, beside)
                    }
                };
                let both = Seen::of(alone).zip(Seen::of(beside));
                rounds.extend(both.map(|(alone, beside)| Round { alone, work, beside }));
            }
        }
        Ok(rounds.into_iter().filter_map(|rounds| Beside::of(threads, rounds)).collect())
    }

    async fn drive(&self, loads: &[Load<'_>], warmups: u32) -> Result<Outcome, Error> {
        let timing = Timing {
            warmup: Duration::from_secs_f64(self.options.warmup) * warmups,
            length: Some(Duration::from_secs_f64(self.options.seconds)),
            client_threads: self.options.client_threads as usize,
            polls: false,
            rest: None,
        };
        drive(loads, timing, self.server.process).await
    }

    fn finish(mut self) -> Result<ServerResults, Error> {
        let memory = self.server.process.map(|p| p.memory_mib()).transpose()?;
        self.results.memory = memory.zip(self.idle).map(|((at_the_end, most), idle)| Memory { idle, at_the_end, most });
        Ok(self.results)
    }

    fn step(&self, what: &str) {
        self.progress.step(&format!("{}: {what}", self.spec.name()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::report;

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let sound = report().options;
        assert!(check(&sound).is_ok());
        for threads in [vec![], vec![0], vec![1, 10_001]] {
            assert!(check(&Offheap { beside_threads: threads.clone(), ..sound.clone() }).is_err());
            assert!(check(&Offheap { threads, ..sound.clone() }).is_err());
        }
        for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert!(check(&Offheap { seconds, ..sound.clone() }).is_err(), "{seconds}");
            assert_eq!(check(&Offheap { warmup: seconds, ..sound.clone() }).is_ok(), seconds == 0.0, "{seconds}");
        }
    }

    #[test]
    fn by_turns_there_are_two_servers_and_two_rounds() {
        let mut options = report().options;
        options.by_turns = true;
        assert!(check(&options).is_err());
        options.servers = vec![Spec::Martite, Spec::HBase];
        assert!(check(&options).is_err());
        options.rounds = 2;
        assert!(check(&options).is_ok());
        assert_eq!(groups(&options).map(<[Spec]>::len).collect::<Vec<_>>(), [2]);
        options.by_turns = false;
        assert_eq!(groups(&options).map(<[Spec]>::len).collect::<Vec<_>>(), [1, 1]);
        assert_eq!([0, 1, 2].map(|round| turned(3, round)), [vec![0, 1, 2], vec![2, 1, 0], vec![0, 1, 2]]);
    }

    #[test]
    fn steps_are_counted_and_only_the_tables_in_use_are_made() {
        let mut options = report().options;
        options.threads = vec![1, 2];
        assert_eq!((steps(&options), shapes(&options)), (1 + 2 + 8 * 2 + 2, vec![SINGLE, TEN]));
        options.workloads = vec![Workload::ScanTen];
        assert_eq!((steps(&options), shapes(&options)), (1 + 1 + 2, vec![TEN]));
        options.rounds = 3;
        assert_eq!(steps(&options), 1 + 1 + 2 * 3);
        options.workloads = vec![Workload::Get];
        assert_eq!((steps(&options), shapes(&options)), (1 + 1 + 2 * 3 + 2 * 3, vec![SINGLE]));
        options.beside_rounds = Some(0);
        assert_eq!(steps(&options), 1 + 1 + 2 * 3);
    }
}
