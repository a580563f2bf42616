//! The tables that a terminal shows.

use super::work::work;
use crate::beside::{Beside, InTurns};
use crate::by_turns::ByTurns;
use crate::cores;
use crate::of_peak::OfPeak;
use crate::results::{Measurement, Numbers, Report, ServerResults};
use crate::rounds::{Compared, Estimate};
use martite_plot::number::{or_dash, share, short, three, time};
use std::fmt::Write;

/// Heads of a measurement's columns.
pub const HEADS: [&str; 12] = [
    "workload",
    "threads",
    "rows/s",
    "ops/s",
    "p50",
    "p99",
    "p99.9",
    "max",
    "server CPU/row",
    "client CPU/row",
    "longest stall",
    "other cores",
];

/// What stands under them.
pub fn columns(name: &str, threads: &str, n: &Numbers) -> [String; 12] {
    [
        name.to_owned(),
        threads.to_owned(),
        short(n.rows_per_s),
        short(n.operations_per_s),
        time(n.p50_us),
        time(n.p99_us),
        time(n.p999_us),
        time(n.max_us),
        or_dash(n.server_cpu_us_per_row, time),
        time(n.client_cpu_us_per_row),
        time(n.longest_gap_us),
        or_dash(n.other_cores, three),
    ]
}

/// The lines of a server: its tables' first, then the measurements, then Gets beside other work.
pub fn lines(server: &ServerResults) -> Vec<[String; 12]> {
    let mut lines = Vec::new();
    for table in &server.tables {
        lines.push(columns(&format!("load {}", table.table), &table.threads.to_string(), &table.load));
        lines.push(columns(&format!("first read {}", table.table), "1", &table.first_read));
    }
    for Measurement { workload, threads, numbers } in &server.measurements {
        lines.push(columns(workload.name(), &threads.to_string(), numbers));
    }
    for beside in &server.beside {
        let threads = beside.threads.to_string();
        lines.push(columns("get, alone", &threads, &beside.alone));
        lines.push(columns(&format!("get, beside {}", work(&beside.work)), &threads, &beside.beside));
    }
    lines
}

pub fn text(report: &Report) -> String {
    let (rows, rounds) = (report.options.rows, report.options.rounds);
    let mut out = format!("{rows} rows a table. {}. {}\n", report.machine, report.date);
    out += &cores::note(report.options.cores.as_ref());
    if report.options.other_programs > 0 {
        out +=
            &format!("Programs that want a processor all the time beside them: {}.\n", report.options.other_programs);
    }
    if rounds > 1 {
        out += &format!("Each figure is of the middle one of {rounds} measurements.\n");
    }
    if report.options.by_turns {
        out += "All servers run at once and are measured by turns.\n";
    }
    for server in &report.servers {
        let started = or_dash(server.started_in_ms, |ms| time(ms * 1e3));
        let memory = server.memory.map_or_else(|| "–".to_owned(), |m| format!("{} MiB", m.at_the_end));
        let _ = writeln!(out, "\n{}: served after {started}, memory at the end {memory}", server.title);
        out.push_str(&table(&HEADS, &lines(server)));
        for kept in &server.of_peak {
            let name = kept.workload.name();
            let _ = writeln!(out, "{name}: {}", of_peak(kept));
        }
        for together in server.beside.iter().filter_map(in_turns) {
            let _ = writeln!(out, "{together}");
        }
    }
    if !report.by_turns.is_empty() {
        out.push('\n');
    }
    for compared in by_turns(report) {
        let _ = writeln!(out, "{compared}");
    }
    out
}

/// What the first server does for a second of its CPU, beside each other one.
pub fn by_turns(report: &Report) -> impl Iterator<Item = String> {
    let first = report.servers.first().map_or("", |server| server.name.as_str());
    report.by_turns.iter().map(move |ByTurns { workload, server, rows_per_cpu_s: times }| {
        let (workload, rounds, (least, most)) = (workload.name(), times.ratios.len(), times.spread());
        let (mean, error) = (times.mean, times.standard_error);
        format!("{workload}: rows of {first} for a second of its CPU, {mean:.2} ± {error:.2} times those of {server}, {rounds} rounds by turns ({least:.2} to {most:.2})")
    })
}

/// What all rounds tell together.
pub fn of_peak(OfPeak { threads, best_threads, kept, .. }: &OfPeak) -> String {
    let (mean, error) = (100.0 * kept.mean, 100.0 * kept.standard_error);
    format!("{threads} threads keep {mean:.1} ± {error:.1} % of the best, by {best_threads}")
}

/// What all rounds of Gets beside other work tell together.
pub fn in_turns(beside: &Beside) -> Option<String> {
    let InTurns { rounds, p50, p99, p99_of_tenths } = beside.in_turns.as_ref()?;
    let tenths =
        p99_of_tenths.map_or_else(String::new, |of| format!("; p99 of the middle tenth of a second {}", compared(&of)));
    let (threads, work) = (beside.threads, work(&beside.work));
    Some(format!(
        "get by {threads} beside {work}, {rounds} rounds together: p50 {}; p99 {}{tenths}",
        compared(p50),
        compared(p99)
    ))
}

pub fn estimate(of: &Estimate) -> String {
    format!("{} ± {}", share(of.value), share(of.standard_error))
}

/// Latencies beside others and alone.
pub fn compared(Compared { alone_us, beside_us, of_alone, more_us }: &Compared) -> String {
    let more = format!("{:+.0} ± {:.0} µs", more_us.value, more_us.standard_error);
    format!("{} instead of {}, {} of that ({more})", time(*beside_us), time(*alone_us), estimate(of_alone))
}

/// Columns as wide as their widest; the first to the left, the others to the right.
pub fn table<const N: usize>(heads: &[&str; N], lines: &[[String; N]]) -> String {
    let heads = heads.map(str::to_owned);
    let all = || std::iter::once(&heads).chain(lines);
    let width = |column: usize| all().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut out = String::new();
    for line in all() {
        let _ = write!(out, "{:<1$}", line[0], widths[0]);
        for (cell, width) in line.iter().zip(&widths).skip(1) {
            let _ = write!(out, "  {cell:>width$}");
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::report;

    #[test]
    fn columns_stand_under_their_heads() {
        let text = text(&report());
        let table: Vec<&str> = text.lines().skip_while(|l| !l.starts_with("workload")).take(8).collect();
        assert!(table.iter().all(|l| l.chars().count() == table[0].chars().count()), "{text}");
        assert!(table[3].starts_with("get "), "{text}");
        let words: Vec<&str> = table[4].split_whitespace().collect();
        assert_eq!(words[..6], ["get", "5", "50.0", "K", "50.0", "K"]);
        assert!(text.contains("served after 31.4 ms, memory at the end 5000 MiB"), "{text}");
        assert!(text.contains("get, beside a scan, 1.00 M rows/s"), "{text}");
        let said = "get by 5 beside a scan, 1.00 M rows/s, 2 rounds together: p50 ";
        assert!(text.contains(said) && text.contains("; p99 of the middle tenth of a second 99.0 µs instead of 90.0 µs, 1.100 ± 0.000 of that (+9 ± 0 µs)"), "{text}");
        assert!(text.contains("get: 75 threads keep 97.0 ± 1.0 % of the best, by 5"), "{text}");
        let said = "get: rows of martite for a second of its CPU, 10.00 ± 2.23 times those of hbase, 2 rounds by turns (8.00 to 12.50)";
        assert!(text.contains(said), "{text}");
    }
}
