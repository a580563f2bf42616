//! One page with everything in it: summary, plots, tables. No script, nothing from elsewhere.

use super::flame;
use super::frame::{self, Origin};
use super::svg::{Plot, Series};
use super::text::{HEADS, by_turns, in_turns, lines, of_peak};
use super::work::work;
use crate::cores::who_has_which;
use crate::results::{Measurement, Report, ServerResults};
use crate::workload::Workload;
use martite_plot::number::{or_dash, short, three, time, trimmed};
use maud::{Markup, html};

pub fn page(report: &Report) -> String {
    let body = html! {
        (about(report))
        (summary(report))
        (beside(report))
        @for workload in report.options.workloads() { (section(report, workload)) }
        (tables(report))
    };
    frame::page(
        "Reads from memory",
        "Reads from memory",
        report.servers.iter().map(|server| server.title.as_str()),
        &body,
    )
}

fn about(report: &Report) -> Markup {
    let o = &report.options;
    let line = |server: &ServerResults| {
        html! {
            b { (server.title) }
            @if let Some(ms) = server.started_in_ms { ", served after " (time(ms * 1e3)) }
            @if let Some(m) = server.memory { ", memory " (m.idle) " MiB idle, " (m.at_the_end) " MiB at the end" }
        }
    };
    html! {
        p {
            "Two tables of " (trimmed(&short(o.rows as f64))) " rows in " (o.regions) " regions each, in the shape of HBase's "
            "PerformanceEvaluation: one column of 1,000 bytes, ten columns of 100 bytes. Compacted, in the block cache, "
            "read by closed loops: a client thread has one operation under way. Each measurement " (trimmed(&three(o.seconds)))
            " s after " (trimmed(&three(o.warmup))) " s of warming up"
            @if o.rounds > 1 { ", the middle one of " (o.rounds) }
            "; " (who_has_which(o.cores.as_ref()))
            @if o.by_turns { "; all servers run at once and are measured by turns" }
            @if o.other_programs > 0 { "; beside them programs that want a processor all the time: " (o.other_programs) }
            ". Every answer was checked."
        }
        (frame::origin(&Origin {
            machine: &report.machine,
            date: &report.date,
            version: report.version,
            most_other_cores: report.most_other_cores(),
        }))
        (frame::legend(report.servers.iter().map(line).enumerate()))
    }
}

/// A line for each workload: what each server reached, and how many times as much the first reached as the others.
fn summary(report: &Report) -> Markup {
    let (compared, rounds) = (report.servers.len() > 1, report.options.rounds > 1);
    html! {
        h2 { "Summary" }
        div.wide { table {
            tr {
                th { "workload" } th.name { "server" } th { "best rows/s" } th { "by threads" }
                th { "kept by most threads" } @if rounds { th.name { "the same, all rounds" } } th { "rows per second of server CPU" }
                @if compared { th { "first ÷ this" } }
                th { "longest operation" } th { "longest stall" }
            }
            @for workload in report.options.workloads() {
                @let first = report.servers.first().and_then(|s| s.summary(workload)).and_then(|s| s.rows_per_cpu_s);
                @for (i, server) in report.servers.iter().enumerate() {
                    @if let Some(s) = server.summary(workload) {
                        tr.first[i == 0] {
                            td { @if i == 0 { (workload.name()) } }
                            (frame::server(&server.name, i))
                            td { (short(s.best_rows_per_s)) } td { (s.best_threads) }
                            td { (three(s.held_percent)) " %" }
                            @if rounds { td.name { (server.of_peak(workload).map_or_else(|| "–".to_owned(), of_peak)) } }
                            td { (or_dash(s.rows_per_cpu_s, short)) }
                            @if compared {
                                td { @if i > 0 { (or_dash(first.zip(s.rows_per_cpu_s).map(|(a, b)| a / b), three)) } }
                            }
                            td { (time(s.max_us)) } td { (time(s.longest_gap_us)) }
                        }
                    }
                }
            }
        } }
        p.note {
            "A row is one that the server looked at, returned or not. Server CPU is user and system time of its process. "
            "A stall is a time in which no operation ended on any connection."
            @if rounds { " All rounds: each compares the most threads with the number of threads that is best in all other rounds." }
        }
        @for compared in by_turns(report) { p { (compared) } }
    }
}

fn beside(report: &Report) -> Markup {
    if report.servers.iter().all(|s| s.beside.is_empty()) {
        return html! {};
    }
    html! {
        h2 { "Gets beside other work" }
        p {
            "Gets of random rows, alone, while one connection scans the whole table again and again, and during a major compaction of it. "
            "Of several rounds the middle one by the growth of p99."
        }
        div.wide { table {
            tr {
                th.name { "server" } th { "threads" } th.name { "beside" } th { "p50 alone" } th { "beside" } th { "p99 alone" } th { "beside" }
                th { "growth of p99" } th { "p99.9 alone" } th { "beside" } th { "max alone" } th { "beside" }
            }
            @for (i, server) in report.servers.iter().enumerate() {
                @for b in &server.beside {
                    tr {
                        (frame::server(&server.name, i)) td { (b.threads) } td.name { (work(&b.work)) }
                        td { (time(b.alone.p50_us)) } td { (time(b.beside.p50_us)) }
                        td { (time(b.alone.p99_us)) } td { (time(b.beside.p99_us)) }
                        td { (or_dash(b.growth_percent(), three)) " %" }
                        td { (time(b.alone.p999_us)) } td { (time(b.beside.p999_us)) }
                        td { (time(b.alone.max_us)) } td { (time(b.beside.max_us)) }
                    }
                }
            }
        } }
        @for server in &report.servers {
            @for together in server.beside.iter().filter_map(in_turns) { p { (server.title) ": " (together) } }
        }
    }
}

/// Throughput, CPU and latency of one workload.
fn section(report: &Report, workload: Workload) -> Markup {
    let mut threads = report.options.threads.clone();
    threads.sort_unstable();
    threads.dedup();
    let labels: Vec<String> = threads.iter().map(usize::to_string).collect();
    let series = |suffix: &str, faint: bool, value: &dyn Fn(&Measurement) -> Option<f64>| -> Vec<Series> {
        let one = |(colour, server): (usize, &ServerResults)| Series {
            name: format!("{}{suffix}", server.title),
            values: threads.iter().map(|t| server.of(workload).find(|m| m.threads == *t).and_then(value)).collect(),
            colour,
            faint,
        };
        report.servers.iter().enumerate().map(one).collect()
    };
    // Of nothing there is no latency.
    let latency_of = |m: &Measurement, us: f64| (m.numbers.operations > 0).then_some(us);
    let rate = series("", false, &|m| Some(m.numbers.rows_per_s));
    let cpu = series("", false, &|m| m.numbers.server_cpu_us_per_row);
    let mut latency = series(" p50", true, &|m| latency_of(m, m.numbers.p50_us));
    latency.extend(series(" p99", false, &|m| latency_of(m, m.numbers.p99_us)));
    latency.extend(series(" p99.9", true, &|m| latency_of(m, m.numbers.p999_us)));
    let plot = |title, series, write, logarithmic| Plot { title, labels: &labels, series, write, logarithmic };
    html! {
        h2 id=(workload.name()) { (workload.name()) }
        p { (workload.about()) }
        div.plots {
            (plot("rows/s by client threads", &rate, short, false).lines())
            (plot("µs of server CPU a row", &cpu, three, false).bars())
            (plot("latency: p50, p99 (bold), p99.9", &latency, time, true).lines())
        }
        @for server in &report.servers {
            @for (_, stacks) in server.profiles.iter().filter(|(profiled, _)| *profiled == workload) {
                details {
                    summary { "Flame graph of " (server.title) ", " (stacks.samples) " samples of CPU time" }
                    (flame::graph(stacks))
                }
            }
        }
    }
}

fn tables(report: &Report) -> Markup {
    html! {
        h2 { "All measurements" }
        @for server in &report.servers {
            h3 { (server.title) }
            div.wide { table {
                tr { @for head in HEADS { th { (head) } } }
                @for line in lines(server) { tr { @for cell in &line { td { (cell) } } } }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::report;

    #[test]
    fn the_page_stands_alone_and_says_everything() {
        let page = page(&report());
        for said in [
            "martite &lt;1&gt;",
            "hbase &lt;1&gt;",
            "Gets beside other work",
            "2 rounds together",
            "2 rounds by turns",
            "a scan, 1.00 M rows/s",
            "96.0 %",
            "21.2 %",
            "24 GiB",
            "not quiet",
        ] {
            assert!(page.contains(said), "{said}");
        }
        for elsewhere in ["http:", "https:", "<script", "<link", "src="] {
            assert!(!page.contains(elsewhere), "{elsewhere}");
        }
        let flames = 2;
        let plots = 3 * report().options.workloads().len() + flames;
        assert_eq!(page.matches("<svg").count(), plots);
        assert_eq!(page.matches("</svg>").count(), plots);
    }

    #[test]
    fn one_server_is_not_compared() {
        let mut alone = report();
        alone.servers.truncate(1);
        assert!(!page(&alone).contains("first ÷ this"));
        assert!(page(&report()).contains("first ÷ this"));
    }
}
