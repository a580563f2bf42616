//! The command line of `martite bench`.

use crate::beside::Other;
use crate::beyond::options::BeyondMemory;
pub use crate::cores::Cores;
use crate::server::Spec;
use crate::setup::Making;
pub use crate::throttling::options::Throttling;
use crate::workload::Workload;
pub use crate::ycsb::experiment::options::YcsbBench;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Reads from memory: Gets and scans of data that is in the block cache, by 1 to 75 client threads
    ///
    /// Starts the servers by itself, loads two tables in the shape of HBase's PerformanceEvaluation (1,000 bytes in one
    /// column; ten columns of 100 bytes), compacts them, reads them into the cache while it compares every value, and
    /// measures each workload with each number of threads: rows/s, latencies, CPU of the server and of this client, the
    /// longest stall. At last, Gets alone, beside scans of the whole table, and beside a major compaction of it. Every answer
    /// is checked; a wrong one ends the run.
    ///
    /// A table goes to standard output; report.json and report.html (self-contained, with plots) to the folder --out.
    Offheap(Offheap),
    /// Limits: do they hold, what do they cost, whom do they spare? Two users, one of them limited, as in the study of HBase
    ///
    /// Starts the servers by itself with quotas, loads a table in the shape of HBase's PerformanceEvaluation (1,000 bytes in
    /// one column), and sets limits by the API that HBase's shell uses. Keys are those of YCSB (zipfian). The user `limited`
    /// has the limit, the user `free` reads beside it: single Gets, or, where it says read+scan, `limited` scans 100 rows at
    /// a time. A closed loop has so many threads, each with one operation under way; an RpcThrottlingException is waited out
    /// as HBase's Java client does. An open loop has operations due at a fixed rate; latency counts from then.
    ///
    /// Tables go to standard output; report.json and report.html (self-contained, with plots) to the folder --out.
    Throttling(Throttling),
    /// YCSB's workloads A to F: throughput, latencies, what a second of the server's CPU does, each second of each run
    ///
    /// Starts the servers by itself, loads records of ten fields of 100 bytes with YCSB's keys, and runs each workload by one
    /// client thread and by ten: mean and p99 of each operation, operations for each second of the server's CPU, and for each
    /// second throughput, p99, the server's CPU, what it read from and wrote to disks. An operation that fails is counted.
    /// To run a workload on a server of one's own, by YCSB's property files, there is `martite ycsb`.
    ///
    /// Tables go to standard output; report.json and report.html (self-contained, with plots) to the folder --out.
    Ycsb(YcsbBench),
    /// More data than memory: is the budget held, do scans keep the hot set, who serves what memory cannot?
    ///
    /// Starts this server with --memory and cache files on the disk (hbase.bucketcache.ioengine=file:), loads four times as much,
    /// and measures Gets of a small hot set by Zipf's law, alone, after and beside scans of everything, then Gets of all rows,
    /// before and after a restart: how many look-ups of data blocks memory answered, how many the cache files, how many the
    /// store files, and the most memory that the server's process had. Every value is compared; a wrong one ends the run.
    ///
    /// A table goes to standard output, report.json to the folder --out.
    BeyondMemory(BeyondMemory),
}

#[derive(Debug, Clone, Args, Serialize)]
pub struct Offheap {
    /// Servers, one after the other or --by-turns: `martite` (this program), `hbase` (Apache HBase 2.6.4 from Maven Central; needs
    /// bash, Maven and a JDK), or one that runs, as NAME=HOST:PORT of its master, with @PID of its region server if
    /// its CPU is to be read. On one that runs, the tables TestTable and TestTable10 must not be there; they stay.
    #[arg(long, value_delimiter = ',', default_value = "martite", value_name = "SERVER,…", verbatim_doc_comment)]
    pub servers: Vec<Spec>,
    /// Workloads [default: all]
    #[arg(long, value_delimiter = ',', value_name = "WORKLOAD,…")]
    pub workloads: Vec<Workload>,
    /// Client threads: each has one operation under way
    #[arg(long, value_delimiter = ',', default_value = "1,5,10,20,25,50,75", value_name = "N,…")]
    pub threads: Vec<usize>,
    /// Rows of each table
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub rows: u64,
    /// Regions of each table
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub regions: u64,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 5.0)]
    pub seconds: f64,
    /// Seconds before each measurement that do not count; five times as many before a workload's first
    #[arg(long, default_value_t = 2.0)]
    pub warmup: f64,
    /// Times that each workload is measured with all numbers of threads, in turned order; the middle one by rows/s counts. All of them
    /// tell what the most threads keep of the best number of threads
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=99))]
    pub rounds: u64,
    /// Start and load all servers first, and measure them by turns, in each of the --rounds. The report compares what the first does for
    /// a second of its CPU with each other one, whatever the machine does from one minute to the next, and has the error of that
    #[arg(long)]
    pub by_turns: bool,
    /// What Gets are measured beside, at last, if `get` is among the workloads
    #[arg(long, value_delimiter = ',', default_value = "scan,compaction", value_name = "WORK,…")]
    pub beside: Vec<Other>,
    /// Client threads of Gets beside other work
    #[arg(long, value_delimiter = ',', default_value = "1,10", value_name = "N,…")]
    pub beside_threads: Vec<usize>,
    /// Connections that scan at once beside them
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub beside_scans: u64,
    /// Times that Gets are measured alone and beside other work, by turns; the middle one by the growth of p99 is shown, and what all
    /// tell together. A compaction of a million rows takes half a minute each time [default: as --rounds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=999))]
    pub beside_rounds: Option<u64>,
    /// Other programs on the machine that want a processor all the time, once the tables are loaded
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=1000))]
    pub other_programs: u64,
    /// Threads of this process that serve the client's connections
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub client_threads: u64,
    /// Connections that load the tables
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub load_threads: u64,
    /// Block cache of a server that is started, in MiB; HBase has a heap of 6 GB (environment: HEAP) beside it
    #[arg(long, default_value_t = 4096)]
    pub cache_mib: u64,
    /// Sample with Linux' perf where the server's CPU time goes, once more for each workload with the most threads; the
    /// report gets flame graphs. Not of HBase, whose functions perf does not know
    #[arg(long)]
    pub profile: bool,
    /// Cores of servers that are started, and of the load generator, as in 0-3:4-7 [default: all for both]
    #[arg(long, value_name = "SERVER:CLIENT")]
    pub cores: Option<Cores>,
    /// Where the report goes, and the servers' data while they run
    #[arg(long, value_name = "DIR", default_value = "bench-offheap")]
    pub out: PathBuf,
}

impl Offheap {
    pub fn making(&self) -> Making {
        let Offheap { rows, regions, load_threads, client_threads, .. } = *self;
        Making { rows, regions, load_threads, client_threads }
    }

    /// How often Gets are measured beside other work.
    pub fn beside_rounds(&self) -> u64 {
        if self.workloads().contains(&Workload::Get) { self.beside_rounds.unwrap_or(self.rounds) } else { 0 }
    }

    pub fn workloads(&self) -> Vec<Workload> {
        if self.workloads.is_empty() { Workload::ALL.to_vec() } else { self.workloads.clone() }
    }
}
