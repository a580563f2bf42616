//! The command line of `martite bench throttling`.

use crate::Error;
use crate::cores::Cores;
use crate::run::{MOST_SECONDS, MOST_THREADS};
use crate::server::Spec;
use crate::setup::Making;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Rows of a scan.
pub const SCAN_ROWS: u64 = 100;
/// Rows of a range that batch work looks through.
pub const SIFTED_ROWS: u64 = 10_000;
/// Operations under way that a run may ask for.
const MOST_OUTSTANDING: usize = 1_000_000;

/// What is found out, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// The study: closed loops, without a limit and with each of --limits, read+read and read+scan
    Study,
    /// What both users get together of a server that has more to do than it can, with a limit and without. As much is due in
    /// both; operations of `limited` that wait do not count as work for the server, and `free` may have as many more under way
    Total,
    /// Open loops, each of --open-limits in requests
    Accuracy,
    /// The same with --row-limits, on scans
    Rows,
    /// The same with --byte-limits, on scans
    Bytes,
    /// The same with --multi-limits in requests, on batches of 100 Gets in one call, of which each counts
    Multi,
    /// `free` beside a user that wants ten times its limit
    Isolation,
    /// `free` beside a user of the priority `batch` that wants all it can get of --batch-work (HBase has no such priority)
    Priority,
    /// A limit that is changed while it is in use
    Change,
    /// Many users with a limit each
    Users,
    /// Quotas switched on, without any limit, and off: CPU of an operation on two servers beside each other, by turns (of this
    /// program's own only)
    Switched,
}

impl Experiment {
    const ALL: [Experiment; 11] = [
        Experiment::Study,
        Experiment::Total,
        Experiment::Accuracy,
        Experiment::Rows,
        Experiment::Bytes,
        Experiment::Multi,
        Experiment::Isolation,
        Experiment::Priority,
        Experiment::Change,
        Experiment::Users,
        Experiment::Switched,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Experiment::Study => "study",
            Experiment::Total => "total",
            Experiment::Accuracy => "accuracy",
            Experiment::Rows => "rows",
            Experiment::Bytes => "bytes",
            Experiment::Multi => "multi",
            Experiment::Isolation => "isolation",
            Experiment::Priority => "priority",
            Experiment::Change => "change",
            Experiment::Users => "users",
            Experiment::Switched => "switched",
        }
    }
}

/// What a user of the priority `batch` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchWork {
    /// Looks through 10,000 rows by a filter of values that lets none pass: the server has all the work, the load generator none
    Sift,
    /// Scans 100 rows, which come back: the load generator judges the answers, and their cells by their length
    Scan,
}

#[derive(Debug, Clone, Args, Serialize)]
pub struct Throttling {
    /// Servers, one after the other: `martite` (this program), `hbase` (Apache HBase 2.6.4 from Maven Central; needs
    /// bash, Maven and a JDK), or one that runs with hbase.quota.enabled, as NAME=HOST:PORT of its master, with @PID of
    /// its region server if its CPU is to be read. On one that runs, the table TestTable must not be there; it
    /// stays, and so do the limits of a run that is interrupted.
    #[arg(long, value_delimiter = ',', default_value = "martite", value_name = "SERVER,…", verbatim_doc_comment)]
    pub servers: Vec<Spec>,
    /// Experiments [default: all]
    #[arg(long, value_delimiter = ',', value_name = "EXPERIMENT,…")]
    pub experiments: Vec<Experiment>,
    /// Limits of the study, in requests a second
    #[arg(long, value_delimiter = ',', default_value = "2500,2000,1500,1000,500", value_name = "N,…")]
    pub limits: Vec<u64>,
    /// Limits of the open loops, in requests a second
    #[arg(long, value_delimiter = ',', default_value = "10,100,999,1500,1999,10000,100000", value_name = "N,…")]
    pub open_limits: Vec<u64>,
    /// Limits in rows a second (READ_NUMBER)
    #[arg(long, value_delimiter = ',', default_value = "10000", value_name = "N,…")]
    pub row_limits: Vec<u64>,
    /// Limits in bytes a second (READ_SIZE)
    #[arg(long, value_delimiter = ',', default_value = "10485760", value_name = "N,…")]
    pub byte_limits: Vec<u64>,
    /// Limits in requests a second (REQUEST_NUMBER) of who sends a hundred in one call
    #[arg(long, value_delimiter = ',', default_value = "10000", value_name = "N,…")]
    pub multi_limits: Vec<u64>,
    /// Threads of each user in a closed loop
    #[arg(long, default_value_t = 20)]
    pub threads: usize,
    /// What `limited` wants in an open loop, in times of its limit
    #[arg(long, default_value_t = 1.2)]
    pub demand: f64,
    /// The same in `isolation`; below 1 the user stays within its limit, and costs others what its calls cost without one
    #[arg(long, default_value_t = 10.0)]
    pub isolation_demand: f64,
    /// Gets a second of `free` in an open loop
    #[arg(long, default_value_t = 2000.0)]
    pub free_rate: f64,
    /// Gets a second of `free` in `isolation` and `priority`: so many that they take this share of the server's cores, as several runs
    /// tell that are made first; on eight connections at least (instead of --free-rate)
    #[arg(long, value_name = "SHARE")]
    pub free_share: Option<f64>,
    /// Batch work of `priority`
    #[arg(long, value_enum, default_value_t = BatchWork::Sift)]
    pub batch_work: BatchWork,
    /// Operations of a user that may be under way in an open loop; those due beyond it are counted
    #[arg(long, default_value_t = 1000)]
    pub outstanding: usize,
    /// Users of the experiment with many
    #[arg(long, default_value_t = 1000)]
    pub users: usize,
    /// The limit of each of them, in requests a second
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub user_limit: u64,
    /// Times that the total with a limit is compared with that without; the first two are shown in full
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    pub total_rounds: u64,
    /// Times that `free` beside a user far over its limit (`isolation`), and beside batch work (`priority`), is compared with `free` alone
    /// (in `isolation`: with the other user connected, but idle) once more, in turns; all rounds count together, with standard errors,
    /// and the p99 of the middle tenth of a second of all, which a machine's pauses do not make; 1: not
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub beside_rounds: u64,
    /// Times that quotas switched on are compared with off, a tenth of --seconds each
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    pub rounds: u64,
    /// Rows of the table
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub rows: u64,
    /// Regions of the table
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub regions: u64,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 10.0)]
    pub seconds: f64,
    /// Seconds before each measurement that do not count; five times as many before a server's first
    #[arg(long, default_value_t = 1.0)]
    pub warmup: f64,
    /// Connections of each user
    #[arg(long, default_value_t = 1)]
    pub connections: usize,
    /// Threads of this process that serve the client's connections
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub client_threads: u64,
    /// Connections that load the table
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub load_threads: u64,
    /// Block cache of a server that is started, in MiB; HBase has a heap of 6 GB (environment: HEAP) beside it
    #[arg(long, default_value_t = 1024)]
    pub cache_mib: u64,
    /// Cores of servers that are started, and of the load generator, as in 0-3:4-7 [default: all for both]. On its own, the load
    /// generator does not sleep between operations of open loops, so that it can offer more of them
    #[arg(long, value_name = "SERVER:CLIENT")]
    pub cores: Option<Cores>,
    /// Where the report goes, and the servers' data while they run
    #[arg(long, value_name = "DIR", default_value = "bench-throttling")]
    pub out: PathBuf,
}

impl Throttling {
    /// In the order in which they are made.
    pub fn experiments(&self) -> Vec<Experiment> {
        let wanted = |e: &Experiment| self.experiments.is_empty() || self.experiments.contains(e);
        Experiment::ALL.into_iter().filter(wanted).collect()
    }

    pub fn has(&self, experiment: Experiment) -> bool {
        self.experiments().contains(&experiment)
    }

    /// Whether what Gets take of the processor has to be known for `free`.
    pub fn wants_capacity(&self) -> bool {
        let uses = self.has(Experiment::Isolation) || self.has(Experiment::Priority);
        uses && self.free_share.is_some()
    }

    pub fn making(&self) -> Making {
        let Throttling { rows, regions, load_threads, client_threads, .. } = *self;
        Making { rows, regions, load_threads, client_threads }
    }

    /// What clap's types let pass.
    pub fn check(&self) -> Result<(), Error> {
        let positive = |rate: f64| rate > 0.0 && rate <= 1e9;
        let lists = [&self.limits, &self.open_limits, &self.row_limits, &self.byte_limits, &self.multi_limits];
        let wrong = if !(self.seconds > 0.0 && self.seconds <= MOST_SECONDS) {
            "--seconds must be above 0 and at most 3600"
        } else if !(0.0..=MOST_SECONDS).contains(&self.warmup) {
            "--warmup must be from 0 to 3600"
        } else if lists.iter().any(|limits| limits.contains(&0)) {
            "a limit must be above 0"
        } else if ![self.demand, self.isolation_demand, self.free_rate].into_iter().all(positive) {
            "--demand, --isolation-demand and --free-rate must be above 0 and at most 1000000000"
        } else if self.free_share.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
            "--free-share must be above 0 and at most 1"
        } else if !(1..=MOST_THREADS).contains(&self.threads) || !(1..=MOST_THREADS).contains(&self.users) {
            "--threads and --users must be from 1 to 10000"
        } else if self.connections == 0 || !self.threads.is_multiple_of(self.connections) {
            "--threads must be a multiple of --connections"
        } else if !(self.connections..=MOST_OUTSTANDING).contains(&self.outstanding) {
            "--outstanding must be from the number of --connections to 1000000"
        } else if self.rows < self.regions * SCAN_ROWS {
            "--rows must be at least 100 for each of the --regions"
        } else {
            return Ok(());
        };
        Err(Error::Setup(wrong.to_owned()))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use clap::ValueEnum;

    /// From the command line's words.
    pub fn options(words: &[&str]) -> Throttling {
        #[derive(Debug, clap::Parser)]
        struct Line {
            #[command(flatten)]
            options: Throttling,
        }
        <Line as clap::Parser>::parse_from(std::iter::once(&"bench").chain(words)).options
    }

    #[test]
    fn what_cannot_be_measured_is_refused_by_name() {
        assert!(options(&[]).check().is_ok());
        for (words, named) in [
            (["--seconds", "0"], "--seconds"),
            (["--seconds", "NaN"], "--seconds"),
            (["--warmup", "4000"], "--warmup"),
            (["--limits", "5,0"], "limit"),
            (["--byte-limits", "0"], "limit"),
            (["--demand", "inf"], "--demand"),
            (["--isolation-demand", "0"], "--isolation-demand"),
            (["--free-rate", "0"], "--free-rate"),
            (["--free-share", "1.1"], "--free-share"),
            (["--threads", "0"], "--threads"),
            (["--users", "20000"], "--users"),
            (["--connections", "3"], "--connections"),
            (["--outstanding", "0"], "--outstanding"),
            (["--rows", "399"], "--rows"),
        ] {
            let told = options(&words).check().unwrap_err().to_string();
            assert!(told.contains(named), "{words:?}: {told}");
        }
    }

    #[test]
    fn experiments_have_an_order_and_names() {
        let some = options(&["--experiments", "users,study"]);
        assert_eq!(some.experiments(), [Experiment::Study, Experiment::Users]);
        assert_eq!(options(&[]).experiments(), Experiment::value_variants());
        for experiment in Experiment::ALL {
            assert_eq!(serde_json::to_value(experiment).unwrap(), experiment.name());
        }
    }
}
