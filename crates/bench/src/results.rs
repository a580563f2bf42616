//! What a run found, as report.json has it.

use crate::beside::Beside;
use crate::by_turns::{ByTurns, rows_per_cpu_s};
use crate::drive::Outcome;
use crate::machine::Machine;
use crate::of_peak::OfPeak;
use crate::options::Offheap;
use crate::profile::Stacks;
use crate::recorder::Recorded;
use crate::workload::Workload;
use serde::Serialize;
use std::time::Duration;

#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// When the run began, in UTC.
    pub date: String,
    pub version: &'static str,
    pub machine: Machine,
    pub options: Offheap,
    pub servers: Vec<ServerResults>,
    /// The first server and each other, where all ran at the same time.
    pub by_turns: Vec<ByTurns>,
}

#[derive(Debug, Clone, Serialize)]
pub struct ServerResults {
    pub name: String,
    pub title: String,
    pub started_in_ms: Option<f64>,
    pub memory: Option<Memory>,
    pub tables: Vec<TableResults>,
    pub measurements: Vec<Measurement>,
    /// Where there was more than one round.
    pub of_peak: Vec<OfPeak>,
    pub beside: Vec<Beside>,
    /// Where CPU time went, by workload.
    #[serde(skip)]
    pub profiles: Vec<(Workload, Stacks)>,
}

/// Resident memory in MiB.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Memory {
    pub idle: u64,
    pub at_the_end: u64,
    pub most: u64,
}

/// How a table came to be: written, then read once with every value compared.
#[derive(Debug, Clone, Serialize)]
pub struct TableResults {
    pub table: &'static str,
    /// Connections that loaded it. An operation is a batch of a megabyte.
    pub threads: u64,
    pub load: Numbers,
    pub first_read: Numbers,
}

/// One workload by so many threads.
#[derive(Debug, Clone, Serialize)]
pub struct Measurement {
    pub workload: Workload,
    pub threads: usize,
    #[serde(flatten)]
    pub numbers: Numbers,
}

/// What was measured in one window. A row is one that the server looked at, returned or not.
#[derive(Debug, Clone, Serialize)]
pub struct Numbers {
    pub seconds: f64,
    pub operations: u64,
    pub rows: u64,
    pub operations_per_s: f64,
    pub rows_per_s: f64,
    pub p50_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub max_us: f64,
    /// The longest time in which no operation ended, on any connection.
    pub longest_gap_us: f64,
    /// Absent where the server's process is not known; of several loads at once it is that of all.
    pub server_cpu_us_per_row: Option<f64>,
    pub server_cores: Option<f64>,
    pub client_cpu_us_per_row: f64,
    pub client_cores: f64,
    /// Cores that neither server nor client had: other processes, interrupts, a hypervisor's other guests.
    pub other_cores: Option<f64>,
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

impl Numbers {
    /// Of the load at `index`.
    pub fn of(outcome: &Outcome, index: usize) -> Numbers {
        let Recorded { latencies_ns, total, longest_gap, .. } = &outcome.loads[index];
        let rows = total.rows;
        let seconds = outcome.elapsed.as_secs_f64().max(1e-9);
        let quantile = |q: f64| latencies_ns.value_at_quantile(q) as f64 / 1e3;
        let per_row = |cpu: Duration| if rows == 0 { 0.0 } else { micros(cpu) / rows as f64 };
        Numbers {
            seconds,
            operations: latencies_ns.len(),
            rows,
            operations_per_s: latencies_ns.len() as f64 / seconds,
            rows_per_s: rows as f64 / seconds,
            p50_us: quantile(0.5),
            p99_us: quantile(0.99),
            p999_us: quantile(0.999),
            max_us: latencies_ns.max() as f64 / 1e3,
            longest_gap_us: micros(*longest_gap),
            server_cpu_us_per_row: outcome.server_cpu.map(per_row),
            server_cores: outcome.server_cpu.map(|cpu| cpu.as_secs_f64() / seconds),
            client_cpu_us_per_row: per_row(outcome.client_cpu),
            client_cores: outcome.client_cpu.as_secs_f64() / seconds,
            other_cores: outcome
                .server_cpu
                .map(|server| outcome.machine_cpu.saturating_sub(server + outcome.client_cpu).as_secs_f64() / seconds),
        }
    }
}

/// What all of a workload's measurements on one server say together.
#[derive(Debug, Clone, Copy)]
pub struct Summary {
    pub best_rows_per_s: f64,
    pub best_threads: usize,
    /// Throughput by the most threads, as a share of the best.
    pub held_percent: f64,
    /// Over all measurements.
    pub rows_per_cpu_s: Option<f64>,
    /// The longest single operation and the longest silence of all measurements.
    pub max_us: f64,
    pub longest_gap_us: f64,
}

impl Report {
    /// The most cores that other work had during a measurement.
    pub fn most_other_cores(&self) -> f64 {
        let measured = self.servers.iter().flat_map(|s| &s.measurements);
        measured.filter_map(|m| m.numbers.other_cores).fold(0.0, f64::max)
    }
}

impl ServerResults {
    pub fn of(&self, workload: Workload) -> impl Iterator<Item = &Measurement> {
        self.measurements.iter().filter(move |m| m.workload == workload)
    }

    pub fn of_peak(&self, workload: Workload) -> Option<&OfPeak> {
        self.of_peak.iter().find(|kept| kept.workload == workload)
    }

    pub fn summary(&self, workload: Workload) -> Option<Summary> {
        let best = self.of(workload).max_by(|a, b| a.numbers.rows_per_s.total_cmp(&b.numbers.rows_per_s))?;
        let most = self.of(workload).max_by_key(|m| m.threads)?;
        let all = || self.of(workload).map(|m| &m.numbers);
        Some(Summary {
            best_rows_per_s: best.numbers.rows_per_s,
            best_threads: best.threads,
            held_percent: 100.0 * most.numbers.rows_per_s / best.numbers.rows_per_s.max(1e-9),
            rows_per_cpu_s: rows_per_cpu_s(all()),
            max_us: all().map(|n| n.max_us).fold(0.0, f64::max),
            longest_gap_us: all().map(|n| n.longest_gap_us).fold(0.0, f64::max),
        })
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::recorder::{Recorder, Window};
    use std::time::Instant;

    pub fn numbers(rows_per_s: f64, cpu_us: Option<f64>) -> Numbers {
        Numbers {
            seconds: 2.0,
            operations: (rows_per_s * 2.0) as u64,
            rows: (rows_per_s * 2.0) as u64,
            operations_per_s: rows_per_s,
            rows_per_s,
            p50_us: 50.0,
            p99_us: 99.0,
            p999_us: 999.0,
            max_us: 1500.0,
            longest_gap_us: 700.0,
            server_cpu_us_per_row: cpu_us,
            server_cores: cpu_us.map(|us| us * rows_per_s / 1e6),
            client_cpu_us_per_row: 1.0,
            client_cores: 0.5,
            other_cores: cpu_us.map(|_| 0.25),
        }
    }

    /// Two servers, the first with its CPU.
    pub fn report() -> Report {
        #[derive(Debug, clap::Parser)]
        struct Line {
            #[command(flatten)]
            options: Offheap,
        }
        let server = |name: &str, factor: f64, cpu: Option<f64>| ServerResults {
            name: name.to_owned(),
            title: format!("{name} <1>"),
            started_in_ms: Some(31.4),
            memory: Some(Memory { idle: 30, at_the_end: 5000, most: 5100 }),
            tables: vec![TableResults {
                table: "TestTable",
                threads: 8,
                load: numbers(90_000.0 * factor, cpu),
                first_read: numbers(400_000.0 * factor, cpu),
            }],
            measurements: [(1, 10_000.0), (5, 50_000.0), (75, 48_000.0)]
                .into_iter()
                .map(|(threads, rate)| Measurement {
                    workload: Workload::Get,
                    threads,
                    numbers: numbers(rate * factor, cpu),
                })
                .collect(),
            of_peak: OfPeak::of(Workload::Get, &[5, 75], &[vec![1.0, 1.0], vec![0.96, 0.98]]).into_iter().collect(),
            beside: vec![crate::beside::tests::beside()],
            profiles: vec![(Workload::Get, crate::profile::tests::stacks())],
        };
        Report {
            date: "2026-01-02T03:04:05Z".to_owned(),
            version: "0.1.0",
            machine: Machine { cores: 2, cpu: "A CPU".to_owned(), memory_gib: 24, kernel: "Linux 6".to_owned() },
            options: <Line as clap::Parser>::parse_from(["bench"]).options,
            servers: vec![server("martite", 1.0, Some(10.0)), server("hbase", 0.25, None)],
            by_turns: ByTurns::of(
                Workload::Get,
                "hbase",
                &[vec![numbers(10_000.0, Some(10.0)); 2]],
                &[vec![numbers(1_000.0, Some(80.0)), numbers(1_000.0, Some(125.0))]],
            )
            .into_iter()
            .collect(),
        }
    }

    #[test]
    fn numbers_follow_from_what_was_recorded() {
        let begin = Instant::now();
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let mut recorder = Recorder::new(Window { begin, end: Some(at(2000)) }, 3).unwrap();
        for i in 0..100 {
            recorder.done(at(i * 10), at(i * 10 + 10), 100, 0);
        }
        let outcome = Outcome {
            loads: vec![recorder.finish()],
            began: begin,
            elapsed: Duration::from_secs(2),
            server_cpu: Some(Duration::from_secs(1)),
            client_cpu: Duration::from_millis(500),
            machine_cpu: Duration::from_millis(1700),
            rest: None,
        };
        let n = Numbers::of(&outcome, 0);
        assert_eq!((n.operations, n.rows, n.rows_per_s), (100, 10_000, 5_000.0));
        assert_eq!((n.server_cpu_us_per_row, n.server_cores), (Some(100.0), Some(0.5)));
        assert_eq!((n.client_cpu_us_per_row, n.client_cores, n.longest_gap_us), (50.0, 0.25, 1e6));
        assert_eq!(n.other_cores, Some(0.1));
        assert!((9_980.0..10_020.0).contains(&n.p99_us), "{}", n.p99_us);
    }

    #[test]
    fn a_summary_is_over_all_thread_counts() {
        let report = report();
        let s = report.servers[0].summary(Workload::Get).unwrap();
        assert_eq!((s.best_rows_per_s, s.best_threads, s.held_percent), (50_000.0, 5, 96.0));
        assert_eq!(s.rows_per_cpu_s.map(f64::round), Some(100_000.0));
        assert_eq!(report.servers[1].summary(Workload::Get).unwrap().rows_per_cpu_s, None);
        assert_eq!(report.most_other_cores(), 0.25);
        assert!(report.servers[0].summary(Workload::ScanTen).is_none());
        assert_eq!(report.servers[0].beside[0].growth_percent().map(f64::round), Some(21.0));
    }
}
