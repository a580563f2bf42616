//! The command line of `martite bench ycsb`.

use crate::Error;
use crate::cores::Cores;
use crate::run::{MOST_SECONDS, MOST_THREADS};
use crate::server::Spec;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// YCSB's core workloads, in the order that YCSB's documentation prescribes: those that insert come last, and E has a table that
/// was loaded for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mix {
    /// Half reads, half updates of a field
    A,
    /// 95 % reads, 5 % updates
    B,
    /// Reads
    C,
    /// Half reads, half read-modify-writes
    F,
    /// 95 % reads of the latest records, 5 % inserts
    D,
    /// 95 % scans of 1 to 100 records, 5 % inserts
    E,
}

impl Mix {
    pub const ALL: [Mix; 6] = [Mix::A, Mix::B, Mix::C, Mix::F, Mix::D, Mix::E];

    pub fn name(self) -> &'static str {
        match self {
            Mix::A => "A",
            Mix::B => "B",
            Mix::C => "C",
            Mix::F => "F",
            Mix::D => "D",
            Mix::E => "E",
        }
    }

    pub fn about(self) -> &'static str {
        match self {
            Mix::A => "50 % reads of a record, 50 % updates of a field",
            Mix::B => "95 % reads, 5 % updates",
            Mix::C => "reads only",
            Mix::F => "50 % reads, 50 % read-modify-writes",
            Mix::D => "95 % reads, mostly of what came last, 5 % inserts",
            Mix::E => "95 % scans of 1 to 100 records, 5 % inserts",
        }
    }

    /// Whether the table is deleted and loaded anew, if others have run on it.
    pub fn wants_fresh_table(self) -> bool {
        self == Mix::E
    }

    /// Proportions and distributions, as YCSB's files have them.
    pub fn properties(self) -> &'static [(&'static str, &'static str)] {
        const NONE: (&str, &str) = ("updateproportion", "0");
        const ZIPFIAN: (&str, &str) = ("requestdistribution", "zipfian");
        match self {
            Mix::A => &[("readproportion", "0.5"), ("updateproportion", "0.5"), ZIPFIAN],
            Mix::B => &[("readproportion", "0.95"), ("updateproportion", "0.05"), ZIPFIAN],
            Mix::C => &[("readproportion", "1"), NONE, ZIPFIAN],
            Mix::F => &[("readproportion", "0.5"), NONE, ("readmodifywriteproportion", "0.5"), ZIPFIAN],
            Mix::D => {
                &[("readproportion", "0.95"), NONE, ("insertproportion", "0.05"), ("requestdistribution", "latest")]
            }
            Mix::E => &[
                ("readproportion", "0"),
                NONE,
                ("scanproportion", "0.95"),
                ("insertproportion", "0.05"),
                ("maxscanlength", "100"),
                ZIPFIAN,
            ],
        }
    }
}

#[derive(Debug, Clone, Args, Serialize)]
pub struct YcsbBench {
    /// Servers, one after the other: `martite` (this program), `hbase` (Apache HBase 2.6.4 from Maven Central; needs
    /// bash, Maven and a JDK), or one that runs, as NAME=HOST:PORT of its master, with @PID of its region server if
    /// its CPU and disk are to be read. On one that runs, the table usertable must not be there; it stays.
    #[arg(long, value_delimiter = ',', default_value = "martite", value_name = "SERVER,…", verbatim_doc_comment)]
    pub servers: Vec<Spec>,
    /// Workloads [default: all]; A, B, C, F, D, E is their order, and before E the table is deleted and loaded anew, as
    /// YCSB's documentation has it
    #[arg(long, value_delimiter = ',', value_name = "WORKLOAD,…", ignore_case = true)]
    pub workloads: Vec<Mix>,
    /// Client threads: each has one operation under way; all share one connection, as in HBase's client
    #[arg(long, value_delimiter = ',', default_value = "1,10", value_name = "N,…")]
    pub threads: Vec<usize>,
    /// Records of ten fields of 100 bytes [default: 300000, with --short 100000]
    #[arg(long, value_parser = clap::value_parser!(u64).range(100..=1_000_000_000))]
    pub records: Option<u64>,
    /// Regions of the table
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub regions: u64,
    /// Seconds of each measurement [default: 15, with --short 5]
    #[arg(long)]
    pub seconds: Option<f64>,
    /// Seconds before each measurement that do not count; four times as many by the most threads before each workload
    /// [default: 3, with --short 1]
    #[arg(long)]
    pub warmup: Option<f64>,
    /// Threads that load the table
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub load_threads: u64,
    /// Whether servers that are started force each write to the disk before they answer (hbase.wal.hsync) [default: as each has it:
    /// Martite does, HBase does not; on a local file system HBase cannot, whatever it is told]
    #[arg(long, value_name = "BOOL")]
    pub hsync: Option<bool>,
    /// A run of about five minutes for two servers
    #[arg(long)]
    pub short: bool,
    /// Block cache of a server that is started, in MiB; HBase has a heap of 6 GB (environment: HEAP) beside it
    #[arg(long, default_value_t = 2048)]
    pub cache_mib: u64,
    /// Cores of servers that are started, and of the load generator, as in 0-3:4-7 [default: all for both]
    #[arg(long, value_name = "SERVER:CLIENT")]
    pub cores: Option<Cores>,
    /// Where the report goes, and the servers' data while they run
    #[arg(long, value_name = "DIR", default_value = "bench-ycsb")]
    pub out: PathBuf,
}

/// What the options say once the defaults are known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Lengths {
    pub records: u64,
    pub seconds: f64,
    pub warmup: f64,
}

impl YcsbBench {
    pub fn settings(&self) -> Lengths {
        let [records, seconds, warmup] = if self.short { [100_000.0, 5.0, 1.0] } else { [300_000.0, 15.0, 3.0] };
        Lengths {
            records: self.records.unwrap_or(records as u64),
            seconds: self.seconds.unwrap_or(seconds),
            warmup: self.warmup.unwrap_or(warmup),
        }
    }

    /// In the order in which they run.
    pub fn workloads(&self) -> Vec<Mix> {
        let wanted = |mix: &Mix| self.workloads.is_empty() || self.workloads.contains(mix);
        Mix::ALL.into_iter().filter(wanted).collect()
    }

    pub fn most_threads(&self) -> usize {
        self.threads.iter().copied().max().unwrap_or(1)
    }

    /// What clap's types let pass.
    pub fn check(&self) -> Result<(), Error> {
        let Lengths { seconds, warmup, .. } = self.settings();
        let wrong = if !(1.0..=MOST_SECONDS).contains(&seconds) {
            "--seconds must be from 1 to 3600"
        } else if !(0.0..=MOST_SECONDS).contains(&warmup) {
            "--warmup must be from 0 to 3600"
        } else if self.threads.is_empty() || !self.threads.iter().all(|n| (1..=MOST_THREADS).contains(n)) {
            "--threads must be from 1 to 10000"
        } else {
            return Ok(());
        };
        Err(Error::Setup(wrong.to_owned()))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::ycsb::properties::Properties;
    use crate::ycsb::workload::Workload;

    /// From the command line's words.
    pub fn options(words: &[&str]) -> YcsbBench {
        #[derive(Debug, clap::Parser)]
        struct Line {
            #[command(flatten)]
            options: YcsbBench,
        }
        <Line as clap::Parser>::parse_from(std::iter::once(&"bench").chain(words)).options
    }

    #[test]
    fn what_cannot_be_measured_is_refused_by_name() {
        assert!(options(&[]).check().is_ok() && options(&["--short"]).check().is_ok());
        for (words, named) in [
            (["--seconds", "0.5"], "--seconds"),
            (["--seconds", "NaN"], "--seconds"),
            (["--warmup", "4000"], "--warmup"),
            (["--threads", "0"], "--threads"),
        ] {
            let told = options(&words).check().unwrap_err().to_string();
            assert!(told.contains(named), "{words:?}: {told}");
        }
    }

    #[test]
    fn short_runs_are_short_unless_said() {
        let lengths = |words: &[&str]| options(words).settings();
        assert_eq!(lengths(&[]), Lengths { records: 300_000, seconds: 15.0, warmup: 3.0 });
        assert_eq!(lengths(&["--short", "--seconds", "7"]), Lengths { records: 100_000, seconds: 7.0, warmup: 1.0 });
        assert_eq!(options(&["--workloads", "e,A"]).workloads(), [Mix::A, Mix::E]);
        assert_eq!(options(&["--threads", "1,10,5"]).most_threads(), 10);
    }

    #[test]
    fn every_mix_is_a_workload() {
        for mix in Mix::ALL {
            let mut p = Properties::default();
            p.parse("workload=site.ycsb.workloads.CoreWorkload\nrecordcount=1000");
            mix.properties().iter().for_each(|(name, value)| p.set(name, value));
            let workload = Workload::new(&p).unwrap();
            assert!(workload.operation(&martite_env::SeededRandom::new(1)).is_some(), "{}", mix.name());
            let sum: f64 = ["read", "update", "insert", "scan", "readmodifywrite"]
                .map(|kind| p.number(&format!("{kind}proportion"), 0.0).unwrap())
                .iter()
                .sum();
            assert!((sum - 1.0).abs() < 1e-9, "{}", mix.name());
        }
    }
}
