//! The command line of `martite bench beyond-memory`.

use crate::Error;
use crate::run::{MOST_SECONDS, MOST_THREADS};
use crate::setup::Making;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Bytes of a row's value, by which data are counted.
const ROW_BYTES: f64 = 1000.0;
const MIB: f64 = (1 << 20) as f64;

#[derive(Debug, Clone, Args, Serialize)]
pub struct BeyondMemory {
    /// The server's --memory, in MiB
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u64).range(64..=1_000_000))]
    pub memory_mib: u64,
    /// The values that are loaded, as a multiple of the memory
    #[arg(long, default_value_t = 4.0)]
    pub times: f64,
    /// Cache files on the disk, in MiB; 0: none [default: 1.25 times the values]
    #[arg(long)]
    pub tier_mib: Option<u64>,
    /// Values of the hot set, in MiB [default: an eighth of the memory]
    #[arg(long)]
    pub hot_mib: Option<f64>,
    /// Client threads: each has one Get under way on a connection of its own
    #[arg(long, default_value_t = 10)]
    pub threads: usize,
    /// Regions of the table
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub regions: u64,
    /// Seconds of each measurement of Gets; twice as many before the first, to bring the hot set into memory
    #[arg(long, default_value_t = 10.0)]
    pub seconds: f64,
    /// Where report.json goes, and the server's data while it runs
    #[arg(long, value_name = "DIR", default_value = "bench-beyond-memory")]
    pub out: PathBuf,
}

impl BeyondMemory {
    pub fn rows(&self) -> u64 {
        (self.times * self.memory_mib as f64 * MIB / ROW_BYTES) as u64
    }

    pub fn hot_rows(&self) -> u64 {
        let hot_mib = self.hot_mib.unwrap_or(self.memory_mib as f64 / 8.0);
        (hot_mib * MIB / ROW_BYTES) as u64
    }

    pub fn tier_mib(&self) -> u64 {
        self.tier_mib.unwrap_or((self.times * self.memory_mib as f64 * 1.25).ceil() as u64)
    }

    pub fn making(&self) -> Making {
        Making { rows: self.rows(), regions: self.regions, load_threads: 8, client_threads: 1 }
    }

    /// What clap's types let pass.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = if !(0.01..=1000.0).contains(&self.times) {
            "--times must be from 0.01 to 1000"
        } else if !(1..=self.rows()).contains(&self.hot_rows()) {
            "--hot-mib must be at least a row and at most all values"
        } else if !(1..=MOST_THREADS).contains(&self.threads) {
            "--threads must be from 1 to 10000"
        } else if !(self.seconds > 0.0 && self.seconds <= MOST_SECONDS) {
            "--seconds must be above 0 and at most 3600"
        } else {
            return Ok(());
        };
        Err(Error::Setup(wrong.to_owned()))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// From the command line's words.
    pub fn options(words: &[&str]) -> BeyondMemory {
        #[derive(Debug, clap::Parser)]
        struct Line {
            #[command(flatten)]
            options: BeyondMemory,
        }
        <Line as clap::Parser>::parse_from(std::iter::once(&"bench").chain(words)).options
    }

    #[test]
    fn sizes_follow_from_the_memory() {
        let usual = options(&[]);
        assert!(usual.check().is_ok());
        assert_eq!((usual.rows(), usual.hot_rows(), usual.tier_mib()), (2_147_483, 67_108, 2560));
        let small = options(&["--memory-mib", "100", "--times", "2", "--tier-mib", "0", "--hot-mib", "0.5"]);
        assert_eq!((small.rows(), small.hot_rows(), small.tier_mib()), (209_715, 524, 0));
    }

    #[test]
    fn what_cannot_be_measured_is_refused_by_name() {
        for (words, named) in [
            (["--times", "0"], "--times"),
            (["--times", "NaN"], "--times"),
            (["--hot-mib", "3000"], "--hot-mib"),
            (["--hot-mib", "0"], "--hot-mib"),
            (["--threads", "0"], "--threads"),
            (["--seconds", "-0.5"], "--seconds"),
        ] {
            let words = [format!("{}={}", words[0], words[1])];
            let told = options(&[&words[0]]).check().unwrap_err().to_string();
            assert!(told.contains(named), "{words:?}: {told}");
        }
    }
}
