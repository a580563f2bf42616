//! The tables that a terminal shows: for each server a line an operation, then how the servers compare.

use super::results::{Measurement, OperationResults, Report};
use crate::cores;
use crate::report::table;
use martite_plot::number::{or_dash, short, three, time};
use std::fmt::Write;

pub const HEADS: [&str; 15] = [
    "workload",
    "threads",
    "ops/s",
    "operation",
    "count",
    "mean",
    "p50",
    "p95",
    "p99",
    "p99.9",
    "max",
    "failed",
    "ops/server CPU s",
    "server cores",
    "client cores",
];

/// A line for each operation; what is of the whole measurement stands in the first.
pub fn lines(m: &Measurement) -> Vec<[String; 15]> {
    let line = |(nth, o): (usize, &OperationResults)| {
        let whole = |text: String| if nth == 0 { text } else { String::new() };
        [
            whole(m.workload.clone()),
            whole(m.threads.to_string()),
            whole(short(m.operations_per_s)),
            o.operation.to_owned(),
            o.count.to_string(),
            time(o.mean_us),
            time(o.p50_us),
            time(o.p95_us),
            time(o.p99_us),
            time(o.p999_us),
            time(o.max_us),
            o.failed.to_string(),
            whole(or_dash(m.operations_per_server_cpu_s, short)),
            whole(or_dash(m.server_cores, three)),
            whole(three(m.client_cores)),
        ]
    };
    m.operations.iter().enumerate().map(line).collect()
}

const COMPARED: [&str; 6] = ["workload", "threads", "server", "ops/s", "ops/server CPU s", "first ÷ this"];

fn compared(report: &Report) -> Vec<[String; 6]> {
    let mut lines = Vec::new();
    for mix in report.options.workloads() {
        for &threads in &report.options.threads {
            for (nth, server) in report.servers.iter().enumerate() {
                let Some(m) = server.of(mix.name(), threads) else { continue };
                let ratio = report.ratio(server, mix.name(), threads).filter(|_| nth > 0);
                lines.push([
                    mix.name().to_owned(),
                    threads.to_string(),
                    server.name.clone(),
                    short(m.operations_per_s),
                    or_dash(m.operations_per_server_cpu_s, short),
                    or_dash(ratio, three),
                ]);
            }
        }
    }
    lines
}

pub fn text(report: &Report) -> String {
    let mut out = format!("{} records. {}. {}\n", report.settings.records, report.machine, report.date);
    out += &cores::note(report.options.cores.as_ref());
    for server in &report.servers {
        let _ = writeln!(out, "\n{}", server.title);
        let lines: Vec<_> = server.all().flat_map(lines).collect();
        out.push_str(&table(&HEADS, &lines));
    }
    if report.servers.len() > 1 {
        let _ = write!(out, "\n{}", table(&COMPARED, &compared(report)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ycsb::experiment::results::tests::report;

    #[test]
    fn a_line_for_each_operation_and_a_comparison() {
        let text = text(&report());
        let lines = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
        // Once for each server and number of threads, and once more for each in the comparison.
        assert_eq!((lines("load "), lines("A "), lines("F ")), (2, 8, 8), "{text}");
        assert_eq!(text.matches("READ-MODIFY-WRITE").count(), 4, "{text}");
        let last = text.lines().last().unwrap();
        let words: Vec<&str> = last.split_whitespace().collect();
        assert_eq!(words, ["F", "10", "hbase", "1.00", "K", "10.0", "K", "6.00"], "{text}");
        let mut alone = report();
        alone.servers.truncate(1);
        assert!(!super::text(&alone).contains("first ÷ this"));
    }
}
