//! One page with everything in it: how the servers compare, each operation, each second.

use super::options::Mix;
use super::results::{Measurement, Report, SecondResults, ServerResults};
use super::text::{HEADS, lines};
use crate::cores::who_has_which;
use crate::report::frame::{self, Origin};
use crate::report::svg::{Plot, Series};
use martite_plot::number::{or_dash, short, three, time, trimmed};
use maud::{Markup, html};

/// Seconds that a plot's axis can name.
const LABELS: usize = 10;
/// A plot whose greatest value is so many times its least has a logarithmic axis.
const FAR: f64 = 20.0;

pub fn page(report: &Report) -> String {
    let body = html! {
        (about(report))
        (summary(report))
        (latencies(report))
        (load(report))
        @for mix in report.options.workloads() { (section(report, mix)) }
        (tables(report))
    };
    frame::page("YCSB", "YCSB, workloads A to F", report.servers.iter().map(|server| server.title.as_str()), &body)
}

fn about(report: &Report) -> Markup {
    let (o, lengths) = (&report.options, &report.settings);
    let line = |server: &ServerResults| {
        html! {
            b { (server.title) }
            @if let Some(ms) = server.started_in_ms { ", served after " (time(ms * 1e3)) }
            @if let Some(mib) = server.memory_mib { ", memory " (mib) " MiB at the end" }
        }
    };
    html! {
        p {
            "YCSB's core workloads by " code { "martite ycsb" } "'s generators, which are those of YCSB: "
            (trimmed(&short(lengths.records as f64))) " records of ten fields of 100 bytes in " (o.regions)
            " regions, keys hashed. A client thread has one operation under way; all threads share one connection, as in HBase's own "
            "client. Each measurement " (trimmed(&three(lengths.seconds))) " s after " (trimmed(&three(lengths.warmup)))
            " s of warming up, and each workload is warmed up before by the most threads; " (who_has_which(o.cores.as_ref()))
            ". The order is A, B, C, F, D, E, and before E the table is deleted and loaded anew, as YCSB's documentation has it."
        }
        p { (durability(o.hsync)) }
        (frame::origin(&Origin {
            machine: &report.machine,
            date: &report.date,
            version: report.version,
            most_other_cores: report.most_other_cores(),
        }))
        (frame::legend(report.servers.iter().map(line).enumerate()))
    }
}

/// What an answered write means.
fn durability(hsync: Option<bool>) -> &'static str {
    match hsync {
        None => {
            "Each server answers a write as it does by default: Martite when it is on the disk (fdatasync), HBase when the system has it, \
             which on a local file system is all that it can."
        }
        Some(true) => "Writes are answered when they are on the disk; HBase cannot do that on a local file system.",
        Some(false) => {
            "Writes are answered when the system has them; nothing waits for the disk (hbase.wal.hsync=false)."
        }
    }
}

/// Each workload and number of threads.
fn rows(report: &Report) -> Vec<(Mix, usize)> {
    let threads = |mix: Mix| report.options.threads.iter().map(move |threads| (mix, *threads));
    report.options.workloads().into_iter().flat_map(threads).collect()
}

/// Throughput, and what a second of the server's CPU does.
fn summary(report: &Report) -> Markup {
    let compared = report.servers.len() > 1;
    html! {
        h2 { "Throughput and CPU" }
        div.wide { table {
            tr {
                th { "threads" } th.name { "server" } th { "ops/s" } th { "ops per second of server CPU" }
                @if compared { th { "first ÷ this" } }
                th { "server cores" } th { "client cores" } th { "client CPU/op" } th { "disk read" } th { "disk written" } th { "failed" }
            }
            @for (mix, threads) in rows(report) {
                @if report.options.threads.first() == Some(&threads) {
                    tr.group { td colspan="12" { b { (mix.name()) } ": " (mix.about()) } }
                }
                @for (i, server) in report.servers.iter().enumerate() {
                    @if let Some(m) = server.of(mix.name(), threads) {
                        tr.first[i == 0] {
                            td { @if i == 0 { (threads) } }
                            (frame::server(&server.name, i))
                            td { (short(m.operations_per_s)) }
                            td { (or_dash(m.operations_per_server_cpu_s, short)) }
                            @if compared {
                                td { @if i > 0 { (or_dash(report.ratio(server, mix.name(), threads), three)) } }
                            }
                            td { (or_dash(m.server_cores, three)) } td { (three(m.client_cores)) }
                            td { (time(m.client_cpu_us_per_operation)) }
                            td { (or_dash(m.read_bytes.map(|b| b as f64), bytes)) }
                            td { (or_dash(m.written_bytes.map(|b| b as f64), bytes)) }
                            td { (m.failed) }
                        }
                    }
                }
            }
        } }
        p.note {
            "An operation is one of YCSB's; a read-modify-write is one. Server CPU is user and system time of its process. Disk is what the "
            "process had read from and written to disks, by the kernel's count, during the measurement."
        }
    }
}

fn bytes(value: f64) -> String {
    let number = trimmed(&short(value));
    if number.contains(' ') { number + "B" } else { number + " B" }
}

/// Mean and p99 of each operation, server beside server.
fn latencies(report: &Report) -> Markup {
    html! {
        h2 { "Latency of each operation" }
        div.wide { table {
            tr {
                th { "workload" } th { "threads" } th.name { "operation" }
                @for server in &report.servers {
                    @for what in ["mean", "p99", "p99.9"] { th { (server.name) " " (what) } }
                }
            }
            @for (mix, threads) in rows(report) {
                @let first = report.servers.first().and_then(|s| s.of(mix.name(), threads));
                @for (nth, operation) in first.iter().flat_map(|m| &m.operations).enumerate() {
                    tr.first[nth == 0] {
                        td { @if nth == 0 { (mix.name()) } } td { @if nth == 0 { (threads) } } td.name { (operation.operation) }
                        @for (i, server) in report.servers.iter().enumerate() {
                            @let of = server.of(mix.name(), threads).and_then(|m| m.operation(operation.operation));
                            @for us in [of.map(|o| o.mean_us), of.map(|o| o.p99_us), of.map(|o| o.p999_us)] {
                                td class=(format!("s{i}")) { (or_dash(us, time)) }
                            }
                        }
                    }
                }
            }
        } }
    }
}

/// How the table was loaded.
fn load(report: &Report) -> Markup {
    html! {
        h2 { "Load" }
        p {
            "A tenth of the records by single inserts of " (report.options.load_threads)
            " threads, into an empty table. The rest come in batches, which are not shown."
        }
        div.plots.four { (plots(report, |server| Some(&server.load))) }
    }
}

fn section(report: &Report, mix: Mix) -> Markup {
    html! {
        h2 id=(mix.name()) { "Workload " (mix.name()) ": " (mix.about()) }
        @for &threads in &report.options.threads {
            h3 { (threads) @if threads == 1 { " thread" } @else { " threads" } }
            div.plots.four { (plots(report, |server| server.of(mix.name(), threads))) }
        }
    }
}

/// Second by second: throughput, p99, CPU, disk.
fn plots<'a>(report: &'a Report, of: impl Fn(&'a ServerResults) -> Option<&'a Measurement>) -> Markup {
    let measurements: Vec<Option<&Measurement>> = report.servers.iter().map(of).collect();
    let seconds = measurements.iter().flatten().map(|m| m.per_second.len()).max().unwrap_or(0);
    let labels = frame::seconds(seconds, LABELS);
    let series = |suffix: &str, faint: bool, value: &dyn Fn(&SecondResults) -> Option<f64>| -> Vec<Series> {
        let one = |(colour, m): (usize, &Option<&Measurement>)| {
            let m = (*m)?;
            let values = (0..seconds).map(|i| m.per_second.get(i).and_then(value)).collect();
            Some(Series { name: format!("{}{suffix}", report.servers[colour].title), values, colour, faint })
        };
        measurements.iter().enumerate().filter_map(one).collect()
    };
    let throughput = series("", false, &|s| Some(s.operations_per_s));
    let p99 = series("", false, &|s| s.p99_us);
    let cpu = series("", false, &|s| s.server_cores);
    let mut disk = series(" written", false, &|s| s.written_bytes_per_s);
    disk.extend(series(" read", true, &|s| s.read_bytes_per_s));
    let values = |all: &[Series]| all.iter().flat_map(|s| s.values.iter().flatten().copied()).collect::<Vec<f64>>();
    let far = {
        let all = values(&p99);
        let (least, most) = all.iter().fold((f64::MAX, 0.0f64), |(least, most), v| (least.min(*v), most.max(*v)));
        most > FAR * least
    };
    let plot = |title, series, write, logarithmic| Plot { title, labels: &labels, series, write, logarithmic }.lines();
    html! {
        (plot("calls/s", &throughput, short, false))
        (plot("p99 of each second", &p99, time, far))
        (plot("server CPU, cores", &cpu, three, false))
        (plot("disk, B/s: written, read (faint)", &disk, bytes, false))
    }
}

fn tables(report: &Report) -> Markup {
    html! {
        h2 { "All measurements" }
        @for server in &report.servers {
            h3 { (server.title) }
            div.wide { table {
                tr { @for head in HEADS { th { (head) } } }
                @for line in server.all().flat_map(lines) { tr { @for cell in &line { td { (cell) } } } }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ycsb::experiment::results::tests::report;

    #[test]
    fn the_page_stands_alone_and_says_everything() {
        let page = page(&report());
        for said in [
            "martite &lt;1&gt;",
            "hbase &lt;1&gt;",
            "READ-MODIFY-WRITE",
            "6.00",
            "60.0 K",
            "3 MB",
            "not quiet",
            "24 GiB",
        ] {
            assert!(page.contains(said), "{said}");
        }
        for elsewhere in ["http:", "https:", "<script", "<link", "src=", "NaN"] {
            assert!(!page.contains(elsewhere), "{elsewhere}");
        }
        // Four for the load and for each workload by each number of threads.
        assert_eq!(page.matches("<svg").count(), 4 * (1 + 2 * 2));
    }

    #[test]
    fn one_server_is_not_compared() {
        let mut alone = report();
        alone.servers.truncate(1);
        alone.servers[0].measurements.iter_mut().for_each(|m| m.per_second.clear());
        let page = page(&alone);
        assert!(!page.contains("first ÷ this") && !page.contains("NaN"));
    }
}
