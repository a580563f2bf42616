//! What a run found, as report.json has it.

use super::options::{Lengths, YcsbBench};
use super::record::Operation;
use crate::machine::Machine;
use crate::ycsb::measurement::Name;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// When the run began, in UTC.
    pub date: String,
    pub version: &'static str,
    pub machine: Machine,
    pub settings: Lengths,
    pub options: YcsbBench,
    pub servers: Vec<ServerResults>,
}

#[derive(Debug, Clone, Serialize)]
pub struct ServerResults {
    pub name: String,
    pub title: String,
    pub started_in_ms: Option<f64>,
    /// Resident at the end.
    pub memory_mib: Option<u64>,
    pub load: Measurement,
    pub measurements: Vec<Measurement>,
}

/// One workload by so many threads. An operation is one of YCSB's: a read-modify-write is one.
#[derive(Debug, Clone, Serialize)]
pub struct Measurement {
    pub workload: String,
    pub threads: usize,
    pub seconds: f64,
    pub operations_per_s: f64,
    /// Operations that answered an error, or found no record.
    pub failed: u64,
    /// Absent where the server's process is not known.
    pub operations_per_server_cpu_s: Option<f64>,
    pub server_cores: Option<f64>,
    pub client_cores: f64,
    pub client_cpu_us_per_operation: f64,
    /// Cores that neither server nor client had.
    pub other_cores: Option<f64>,
    pub read_bytes: Option<u64>,
    pub written_bytes: Option<u64>,
    pub operations: Vec<OperationResults>,
    pub per_second: Vec<SecondResults>,
}

#[derive(Debug, Clone, Serialize)]
pub struct OperationResults {
    pub operation: &'static str,
    pub count: u64,
    pub failed: u64,
    pub mean_us: f64,
    pub p50_us: f64,
    pub p95_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub max_us: f64,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct SecondResults {
    /// Calls to the server: of a read-modify-write two.
    pub operations_per_s: f64,
    /// None where nothing ended.
    pub p99_us: Option<f64>,
    pub server_cores: Option<f64>,
    pub read_bytes_per_s: Option<f64>,
    pub written_bytes_per_s: Option<f64>,
}

impl OperationResults {
    pub fn of(operation: &Operation) -> OperationResults {
        let h = &operation.latencies_ns;
        let at = |q: f64| h.value_at_quantile(q) as f64 / 1e3;
        OperationResults {
            operation: operation.name.text(),
            count: h.len(),
            failed: operation.failed,
            mean_us: h.mean() / 1e3,
            p50_us: at(0.5),
            p95_us: at(0.95),
            p99_us: at(0.99),
            p999_us: at(0.999),
            max_us: h.max() as f64 / 1e3,
        }
    }

    /// YCSB's operations: the read and the update of a read-modify-write are not counted beside it.
    pub fn count(all: &[OperationResults]) -> u64 {
        let of = |name: Name| all.iter().find(|o| o.operation == name.text()).map_or(0, |o| o.count);
        let sum: u64 = all.iter().map(|o| o.count).sum();
        sum.saturating_sub(2 * of(Name::ReadModifyWrite))
    }
}

impl Measurement {
    pub fn operation(&self, name: &str) -> Option<&OperationResults> {
        self.operations.iter().find(|operation| operation.operation == name)
    }
}

impl ServerResults {
    pub fn of(&self, workload: &str, threads: usize) -> Option<&Measurement> {
        self.measurements.iter().find(|m| m.workload == workload && m.threads == threads)
    }

    /// The load and then everything else.
    pub fn all(&self) -> impl Iterator<Item = &Measurement> {
        std::iter::once(&self.load).chain(&self.measurements)
    }
}

impl Report {
    /// The most cores that other work had during a measurement.
    pub fn most_other_cores(&self) -> f64 {
        let all = self.servers.iter().flat_map(ServerResults::all);
        all.filter_map(|m| m.other_cores).fold(0.0, f64::max)
    }

    /// How many operations the first server does with the CPU with which another does one.
    pub fn ratio(&self, other: &ServerResults, workload: &str, threads: usize) -> Option<f64> {
        let of = |server: &ServerResults| server.of(workload, threads)?.operations_per_server_cpu_s;
        Some(of(self.servers.first()?)? / of(other)?)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::ycsb::experiment::options::tests::options;

    pub fn operation(operation: &'static str, count: u64) -> OperationResults {
        OperationResults {
            operation,
            count,
            failed: 0,
            mean_us: 100.0,
            p50_us: 90.0,
            p95_us: 200.0,
            p99_us: 300.0,
            p999_us: 400.0,
            max_us: 5000.0,
        }
    }

    /// Two servers, A and F by 1 and 10 threads.
    pub fn report() -> Report {
        let second = SecondResults {
            operations_per_s: 1000.0,
            p99_us: Some(300.0),
            server_cores: Some(0.5),
            read_bytes_per_s: Some(0.0),
            written_bytes_per_s: Some(1e6),
        };
        let measurement = |workload: &str, threads: usize, per_cpu_s: f64| Measurement {
            workload: workload.to_owned(),
            threads,
            seconds: 3.0,
            operations_per_s: 1000.0,
            failed: 0,
            operations_per_server_cpu_s: Some(per_cpu_s),
            server_cores: Some(0.5),
            client_cores: 0.25,
            client_cpu_us_per_operation: 4.0,
            other_cores: Some(0.3),
            read_bytes: Some(0),
            written_bytes: Some(3_000_000),
            operations: match workload {
                "load" => vec![operation("INSERT", 3000)],
                "A" => vec![operation("READ", 1500), operation("UPDATE", 1500)],
                _ => vec![operation("READ", 3000), operation("UPDATE", 1500), operation("READ-MODIFY-WRITE", 1500)],
            },
            per_second: vec![second; 3],
        };
        let server = |name: &str, per_cpu_s: f64| ServerResults {
            name: name.to_owned(),
            title: format!("{name} <1>"),
            started_in_ms: Some(31.4),
            memory_mib: Some(700),
            load: measurement("load", 10, per_cpu_s),
            measurements: [("A", 1), ("A", 10), ("F", 1), ("F", 10)].map(|(w, t)| measurement(w, t, per_cpu_s)).into(),
        };
        let options = options(&["--workloads", "a,f"]);
        Report {
            date: "2026-01-02 03:04 UTC".to_owned(),
            version: "0.1.0",
            machine: Machine { cores: 2, cpu: "A CPU".to_owned(), memory_gib: 24, kernel: "Linux 6".to_owned() },
            settings: options.settings(),
            options,
            servers: vec![server("martite", 60_000.0), server("hbase", 10_000.0)],
        }
    }

    #[test]
    fn a_read_modify_write_counts_once() {
        let report = report();
        let f = report.servers[0].of("F", 10).unwrap();
        assert_eq!(OperationResults::count(&f.operations), 3000);
        assert_eq!(OperationResults::count(&report.servers[0].load.operations), 3000);
        assert_eq!(f.operation("UPDATE").map(|o| o.count), Some(1500));
        assert!(f.operation("SCAN").is_none());
    }

    #[test]
    fn servers_are_compared_by_what_their_cpu_does() {
        let report = report();
        assert_eq!(report.ratio(&report.servers[1], "A", 10), Some(6.0));
        assert_eq!(report.ratio(&report.servers[1], "E", 10), None);
        assert_eq!(report.most_other_cores(), 0.3);
    }
}
