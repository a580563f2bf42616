//! What `martite bench beyond-memory` found: report.json, and the table of the terminal.

use super::counters::Counters;
use super::options::BeyondMemory;
use crate::machine::Machine;
use crate::report::table;
use crate::results::Numbers;
use martite_plot::number::{short, three, time};
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// When the run began, in UTC.
    pub date: String,
    pub version: &'static str,
    pub machine: Machine,
    pub options: BeyondMemory,
    pub rows: u64,
    pub hot_rows: u64,
    pub tier_mib: u64,
    pub load: Numbers,
    pub steps: Vec<StepResults>,
    /// Resident memory of the server, at most, as the kernel knows it: until it was stopped, and after it was started again.
    pub most_memory_mib: Vec<u64>,
    /// From its second start until it served.
    pub restarted_in_ms: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct StepResults {
    pub name: &'static str,
    #[serde(flatten)]
    pub numbers: Numbers,
    /// Of Gets, and of the scan if one ran beside them.
    pub look_ups: Counters,
    /// Rows that a scan beside Gets read.
    pub scanned_rows: u64,
    /// Of the Gets alone: the share that found its block in memory, in percent. Beside a scan it is an estimate: the scan is taken to miss as
    /// often as it does alone.
    pub in_memory_percent: f64,
    /// Resident memory, at most, of what was sampled twenty times a second.
    pub memory_mib: u64,
}

impl Report {
    /// The most memory that the server had, as a multiple of its budget.
    pub fn memory_ratio(&self) -> f64 {
        let most = self.most_memory_mib.iter().copied().max().unwrap_or(0);
        most as f64 / self.options.memory_mib as f64
    }
}

const HEADS: [&str; 10] =
    ["step", "rows/s", "p50", "p99", "max", "look-ups", "memory %", "cache files %", "store files %", "RSS MiB"];

fn line(step: &StepResults) -> [String; 10] {
    let n = &step.numbers;
    let [memory, cache_files, store_files] = step.look_ups.percent().map(three);
    [
        step.name.to_owned(),
        short(n.rows_per_s),
        time(n.p50_us),
        time(n.p99_us),
        time(n.max_us),
        step.look_ups.all().to_string(),
        memory,
        cache_files,
        store_files,
        step.memory_mib.to_string(),
    ]
}

pub fn text(report: &Report) -> String {
    let options = &report.options;
    let lines: Vec<_> = report.steps.iter().map(line).collect();
    let mut out = format!(
        "{} rows of 1,000 bytes, {} times the memory of {} MiB; {} rows are hot; cache files of {} MiB. {}. {}\n",
        report.rows,
        three(options.times),
        options.memory_mib,
        report.hot_rows,
        report.tier_mib,
        report.machine,
        report.date
    );
    out += &format!("loaded by {} rows/s\n\n", short(report.load.rows_per_s));
    out += &table(&HEADS, &lines);
    for step in report.steps.iter().filter(|step| step.scanned_rows > 0) {
        let rate = step.scanned_rows as f64 / step.numbers.seconds;
        out += &format!(
            "\n{}: {} rows/s scanned; of the Gets about {} % found their block in memory\n",
            step.name,
            short(rate),
            three(step.in_memory_percent)
        );
    }
    let most: Vec<String> = report.most_memory_mib.iter().map(u64::to_string).collect();
    out += &format!(
        "\nmost memory {} MiB (before and after the restart): {} times the budget. Started again in {}. Every value was compared.\n",
        most.join(" and "),
        three(report.memory_ratio()),
        time(report.restarted_in_ms * 1e3)
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beyond::options::tests::options;

    #[test]
    fn a_line_a_step_and_what_memory_was_taken() {
        let numbers = crate::results::tests::report().servers[0].measurements[0].numbers.clone();
        let step = |name: &'static str, scanned_rows: u64| StepResults {
            name,
            numbers: numbers.clone(),
            look_ups: Counters { memory: 980, cache_files: 15, store_files: 5 },
            scanned_rows,
            in_memory_percent: 97.0,
            memory_mib: 500,
        };
        let report = Report {
            date: "today".to_owned(),
            version: "0",
            machine: Machine::read(),
            options: options(&[]),
            rows: 10,
            hot_rows: 2,
            tier_mib: 3,
            load: numbers.clone(),
            steps: vec![step("hot", 0), step("hot beside a scan", 1000)],
            most_memory_mib: vec![520, 530],
            restarted_in_ms: 40.0,
        };
        let told = text(&report);
        assert!(told.contains("most memory 520 and 530 MiB (before and after the restart): 1.04 times"), "{told}");
        assert!(told.contains("about 97.0 % found"), "{told}");
        let hot = told.lines().find(|line| line.starts_with("hot  ")).unwrap();
        let words: Vec<&str> = hot.split_whitespace().collect();
        assert_eq!(words[words.len() - 5..], ["1000", "98.0", "1.50", "0.500", "500"]);
    }
}
