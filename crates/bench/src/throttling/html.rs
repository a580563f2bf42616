//! One page with everything in it: how well limits hold, the study's table, isolation, each run second by second, all numbers.

use super::options::{Experiment, Throttling};
use super::plan::{CHANGES, FREE, LIMITED, Unit};
use super::results::{Report, Run, ServerResults};
use super::text::{LATENCY_HEADS, RATE_HEADS, latencies, limit, rates, remarks};
use crate::cores::who_has_which;
use crate::report::frame::{self, Origin};
use crate::report::svg::{Plot, Series};
use martite_plot::number::{or_dash, share, short, three, time, trimmed};
use maud::{Markup, html};

/// Colours of users and of the limit; servers have those before.
const LIMITED_COLOUR: usize = 3;
const FREE_COLOUR: usize = 2;
const LIMIT_COLOUR: usize = 5;
/// What of observed / limit is shown at least: how far the worst second may be off.
const SHOWN: (f64, f64) = (0.95, 1.05);
/// A plot whose greatest value is so many times its least has a logarithmic axis.
const FAR: f64 = 8.0;
/// Seconds that a plot's axis can name.
const LABELS: usize = 12;

pub fn page(report: &Report) -> String {
    let body = html! {
        (about(report))
        (accuracy(report))
        (study(report))
        (isolation(report))
        (remarked(report))
        (second_by_second(report))
        (tables(report))
    };
    frame::page("Limits", "Limits", report.servers.iter().map(|server| server.title.as_str()), &body)
}

fn about(report: &Report) -> Markup {
    let o: &Throttling = &report.options;
    html! {
        p {
            "Two users of one table of " (trimmed(&short(o.rows as f64))) " rows of 1,000 bytes in the block cache, keys by Zipf's law as in "
            "YCSB. " b { (LIMITED) } " has the limit, " b { (FREE) } " reads single rows beside it (get+get; scan+get: " (LIMITED)
            " scans 100 rows at a time; multi+get: it sends 100 Gets in a call). In a closed loop each has " (o.threads) " threads with one operation under way. In an open loop "
            "operations are due at a fixed rate, " (LIMITED) " wants " (trimmed(&three(o.demand))) " times its limit, " (FREE) " "
            (trimmed(&short(o.free_rate))) " Gets a second, and latency counts from when an operation was due. Each run "
            (trimmed(&three(o.seconds))) " s after " (trimmed(&three(o.warmup))) " s of warming up; " (who_has_which(o.cores.as_ref()))
            ". Every answer was checked."
        }
        p {
            "An RpcThrottlingException is waited out as HBase's Java client does: exactly as long as it says, and after 16 tries the "
            "operation has failed; so it has after any other error. Of rows (READ_NUMBER) Martite charges a scan what it read, HBase one for each call; of bytes "
            "(READ_SIZE) HBase charges the blocks that were read if they are more than the result. Observed is what the client got."
        }
        (frame::origin(&Origin {
            machine: &report.machine,
            date: &report.date,
            version: report.version,
            most_other_cores: report.most_other_cores(),
        }))
        (frame::legend(report.servers.iter().map(|server| html! { b { (server.title) } }).enumerate()))
    }
}

/// Runs of open loops with a limit of a unit.
fn with_limit(server: &ServerResults, unit: Unit) -> impl Iterator<Item = &Run> {
    let of = [Experiment::Accuracy, Experiment::Rows, Experiment::Bytes, Experiment::Multi];
    server
        .runs
        .iter()
        .filter(move |run| of.contains(&run.experiment) && run.limit.is_some_and(|limit| limit.unit == unit))
}

/// Observed / limit of all limits, and the worst second of each.
fn accuracy(report: &Report) -> Markup {
    let units = [
        (Unit::Requests, "requests"),
        (Unit::Actions, "requests in Multis"),
        (Unit::Rows, "rows"),
        (Unit::Bytes, "bytes"),
    ];
    let any = |unit: Unit| report.servers.iter().any(|server| with_limit(server, unit).next().is_some());
    if !units.iter().any(|(unit, _)| any(*unit)) {
        return html! {};
    }
    html! {
        h2 { "Do limits hold?" }
        p {
            "Open loops. The mark is observed ÷ limit over the whole run, the line goes from the worst second with the least to the "
            "one with the most, looked at every 100 ms. A limit holds within 1 % on the whole (rows and bytes 2 %) and 5 % in any second, "
            "or one operation where that is more. Where " (LIMITED) " did not get what it is allowed and was not throttled, the server "
            "could not do more."
        }
        div.plots { @for (unit, name) in units { @if any(unit) { (accuracy_plot(report, unit, name)) } } }
        div.wide { table {
            tr {
                th { "limit" } th.name { "server" } th { "observed ÷ limit" } th { "least 1 s" } th { "most 1 s" } th { "holds" }
                th { "throttled" } th { "failed" } th { "not begun" } th { "p50" } th { "p99" }
            }
            @for (unit, _) in units {
                @for (i, server) in report.servers.iter().enumerate() {
                    @for (nth, run) in with_limit(server, unit).enumerate() { (accuracy_line(run, &server.name, i, nth == 0)) }
                }
            }
        } }
    }
}

fn accuracy_line(run: &Run, name: &str, colour: usize, first: bool) -> Markup {
    let Some((user, a)) = run.limited.as_ref().and_then(|user| Some((user, user.accuracy?))) else { return html! {} };
    html! {
        tr.first[first] {
            td { (limit(run.limit)) }
            (frame::server(name, colour))
            td { (share(a.of_limit)) } td { (or_dash(a.least_second, share)) } td { (or_dash(a.most_second, share)) }
            td { (if a.holds { "yes" } else { "no" }) }
            td { (user.throttled) } td { (user.failed) } td { (user.not_begun) }
            td { (time(user.latency.p50_us)) } td { (time(user.latency.p99_us)) }
        }
    }
}

fn accuracy_plot(report: &Report, unit: Unit, name: &str) -> Markup {
    let mut limits: Vec<u64> = report
        .servers
        .iter()
        .flat_map(|server| with_limit(server, unit))
        .filter_map(|run| run.limit.map(|limit| limit.per_second))
        .collect();
    limits.sort_unstable();
    limits.dedup();
    let labels: Vec<String> = limits.iter().map(|limit| label(*limit)).collect();
    let of = |server: &ServerResults, per_second: u64| {
        let run = with_limit(server, unit).find(|run| run.limit.is_some_and(|limit| limit.per_second == per_second))?;
        run.limited.as_ref()?.accuracy
    };
    let (mut series, mut ends) = (Vec::new(), Vec::new());
    for (colour, server) in report.servers.iter().enumerate() {
        let all: Vec<_> = limits.iter().map(|limit| of(server, *limit)).collect();
        let values = all.iter().map(|a| a.map(|a| a.of_limit)).collect();
        series.push(Series { name: server.title.clone(), values, colour, faint: false });
        ends.push(all.iter().map(|a| a.and_then(|a| a.least_second.zip(a.most_second))).collect());
    }
    let title = format!("observed ÷ limit of {name} a second, by limit");
    Plot { title: &title, labels: &labels, series: &series, write: share, logarithmic: false }.ranges(&ends, SHOWN)
}

/// A limit under an axis: whole if it is short.
fn label(limit: u64) -> String {
    if limit < 10_000 { limit.to_string() } else { trimmed(&short(limit as f64)) }
}

/// The study's columns, server beside server.
fn study(report: &Report) -> Markup {
    if !report.options.has(Experiment::Study) {
        return html! {};
    }
    html! {
        h2 { "The study: closed loops" }
        p {
            "Limits in requests a second of " (LIMITED) ". Errors are throttled calls, in percent of all its calls: they come back, and "
            "the server works for them, too."
        }
        @for (workload, name) in [("get+get", "read+read"), ("scan+get", "read+scan")] {
            h3 { (name) }
            div.wide { table {
                tr {
                    th { "limit" } th.name { "server" } th { (LIMITED) " ops/s" } th { "÷ limit" } th { "mean" } th { "p99" } th { "errors" }
                    th { "failed" } th { (FREE) " ops/s" } th { "mean" } th { "p99" } th { "total ops/s" } th { "server CPU/op" }
                }
                @for nth in 0..=report.options.limits.len() {
                    @for (i, server) in report.servers.iter().enumerate() {
                        @if let Some(run) = server.runs.iter().filter(|run| run.is_of(Experiment::Study, workload)).nth(nth) {
                            (study_line(run, &server.name, i))
                        }
                    }
                }
            } }
        }
    }
}

fn study_line(run: &Run, name: &str, colour: usize) -> Markup {
    let Some(limited) = &run.limited else { return html! {} };
    let calls = limited.operations + limited.throttled;
    let errors = 100.0 * limited.throttled as f64 / calls.max(1) as f64;
    let (of_limited, of_free) = (limited.latency, run.free.latency);
    html! {
        tr.first[colour == 0] {
            td { @if colour == 0 { (run.limit.map_or_else(|| "none".to_owned(), |limit| limit.per_second.to_string())) } }
            (frame::server(name, colour))
            td { (short(limited.operations_per_s)) } td { (or_dash(limited.accuracy.map(|a| a.of_limit), share)) }
            td { (time(of_limited.mean_us)) } td { (time(of_limited.p99_us)) } td { (three(errors)) " %" } td { (limited.failed) }
            td { (short(run.free.operations_per_s)) } td { (time(of_free.mean_us)) } td { (time(of_free.p99_us)) }
            td { (short(run.operations_per_s)) } td { (or_dash(run.server_cpu_us_per_operation, time)) }
        }
    }
}

/// Whether the other user notices.
fn isolation(report: &Report) -> Markup {
    let compared = |server: &ServerResults| server.runs.iter().any(|run| run.beside.is_some());
    if !report.servers.iter().any(compared) {
        return html! {};
    }
    html! {
        h2 { "Whom it spares" }
        p { "The user " (FREE) " beside " (LIMITED) ", compared with the same load alone (the first line of each server)." }
        div.wide { table {
            tr {
                th { (LIMITED) } th.name { "server" } th { "p50" } th { "÷ alone" } th { "p99" } th { "÷ alone" } th { "p99 more" } th { "p99.9" }
                th { "max" } th { "throttled calls of " (LIMITED) } th { "server CPU/op" }
            }
            @for (i, server) in report.servers.iter().enumerate() {
                @for run in server.runs.iter().filter(|run| run.beside.is_some() || (run.limited.is_none() && run.free.user == FREE && run.experiment != Experiment::Total)) {
                    tr.first[run.limited.is_none()] {
                        td { @match &run.limited {
                            None => "absent",
                            Some(user) => {
                                @if run.experiment == Experiment::Priority { (user.user) ", as much as it can: " (user.does.name()) }
                                @else { (limit(run.limit)) }
                                @if run.experiment == Experiment::Isolation { ", wants " (or_dash(user.demand_per_s, short)) " ops/s" }
                            }
                        } }
                        (frame::server(&server.name, i))
                        td { (time(run.free.latency.p50_us)) } td { (or_dash(run.beside.map(|b| b.p50_of_alone), three)) }
                        td { (time(run.free.latency.p99_us)) } td { (or_dash(run.beside.map(|b| b.p99_of_alone), three)) }
                        td { (or_dash(run.beside.map(|b| b.p99_more_us), time)) }
                        td { (time(run.free.latency.p999_us)) } td { (time(run.free.latency.max_us)) }
                        td { (run.limited.as_ref().map_or(0, |user| user.throttled)) }
                        td { (or_dash(run.server_cpu_us_per_operation, time)) }
                    }
                }
            }
        } }
    }
}

/// Totals, changes, many users.
fn remarked(report: &Report) -> Markup {
    let series: Vec<Series> = report
        .servers
        .iter()
        .enumerate()
        .filter_map(|(colour, server)| {
            let crowd = server.crowd.as_ref()?;
            let values = (0..=20).map(|i| Some(crowd.quantile(f64::from(i) / 20.0))).collect();
            Some(Series { name: server.title.clone(), values, colour, faint: false })
        })
        .collect();
    let labels: Vec<String> =
        (0..=20).map(|i| if i % 5 == 0 { format!("{} %", i * 5) } else { String::new() }).collect();
    let title = format!("observed ÷ limit of {} users, from the least to the most", report.options.users);
    html! {
        @if report.servers.iter().any(|server| !remarks(server).is_empty()) {
            h2 { "Totals, changes, many users" }
            @for (i, server) in report.servers.iter().enumerate() {
                p class=(format!("s{i}")) { span.dot {} b { (server.title) } }
                ul { @for remark in remarks(server) { li { (remark) } } }
            }
        }
        @if !series.is_empty() {
            div.plots { (Plot { title: &title, labels: &labels, series: &series, write: share, logarithmic: false }.ranges(&[], SHOWN)) }
        }
    }
}

/// Both users' operations in each second of each run.
fn second_by_second(report: &Report) -> Markup {
    let colours = [(LIMITED_COLOUR, LIMITED), (FREE_COLOUR, FREE), (LIMIT_COLOUR, "limit")];
    html! {
        h2 { "Second by second" }
        p { "Operations that ended in each second, and the limit; of scans a limit in rows or bytes is drawn in scans." }
        (frame::legend(colours.into_iter().map(|(colour, name)| (colour, html! { (name) }))))
        @for (i, server) in report.servers.iter().enumerate() {
            h3 class=(format!("s{i}")) { span.dot {} (server.title) }
            div.plots.seconds { @for run in &server.runs { (run_plot(run, server)) } }
        }
    }
}

fn run_plot(run: &Run, server: &ServerResults) -> Markup {
    let seconds = run.free.per_second.len();
    let labels = frame::seconds(seconds, LABELS);
    let counts = |per_second: &[u64]| per_second.iter().map(|n| Some(*n as f64)).collect::<Vec<_>>();
    let mut series = Vec::new();
    // First, so that it is below the others.
    if let Some(first) = run.limit_in_operations() {
        let changes = if run.experiment == Experiment::Change { server.changes.as_slice() } else { &[] };
        // In force in most of the second.
        let at = |second: usize| changes.iter().rev().find(|change| change.at_s < second as f64 + 0.5);
        let values = (0..seconds).map(|i| Some(at(i).map_or(first, |change| change.to as f64))).collect();
        series.push(Series { name: "limit".to_owned(), values, colour: LIMIT_COLOUR, faint: true });
    }
    if let Some(limited) = &run.limited {
        let values = counts(&limited.per_second);
        series.push(Series { name: LIMITED.to_owned(), values, colour: LIMITED_COLOUR, faint: false });
    }
    let values = counts(&run.free.per_second);
    series.push(Series { name: FREE.to_owned(), values, colour: FREE_COLOUR, faint: false });
    let values = || series.iter().flat_map(|s| s.values.iter().flatten().copied());
    let (least, most) =
        values().fold((f64::MAX, 0.0), |(least, most): (f64, f64), v| (least.min(v.max(1.0)), most.max(v)));
    let title = format!(
        "{} {}, {}",
        run.experiment.name(),
        if run.limited.is_some() { run.workload } else { "alone" },
        match run.limit {
            Some(_) if run.experiment == Experiment::Change => format!("limits {}", CHANGES.map(label).join(", ")),
            Some(_) => format!("limit {}", limit(run.limit)),
            None => "no limit".to_owned(),
        },
    );
    Plot { title: &title, labels: &labels, series: &series, write: short, logarithmic: most > least * FAR }.lines()
}

fn tables(report: &Report) -> Markup {
    html! {
        h2 { "All numbers" }
        @for server in &report.servers {
            h3 { (server.title) }
            div.wide { table {
                tr { @for head in RATE_HEADS { th { (head) } } }
                @for run in &server.runs { tr { @for cell in rates(run) { td { (cell) } } } }
            } }
            div.wide { table {
                tr { @for head in LATENCY_HEADS { th { (head) } } }
                @for line in server.runs.iter().flat_map(latencies) { tr { @for cell in line { td { (cell) } } } }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::throttling::results::tests::report;

    #[test]
    fn the_page_stands_alone_and_says_everything() {
        let report = report();
        let page = page(&report);
        for said in [
            "martite &lt;1&gt;",
            "Do limits hold?",
            "read+scan",
            "Whom it spares",
            "1000 → 500",
            "limits 1000, 500, 2000",
            "5000 rows/s",
        ] {
            assert!(page.contains(said), "{said}");
        }
        for elsewhere in ["http:", "https:", "<script", "<link", "src=", "NaN"] {
            assert!(!page.contains(elsewhere), "{elsewhere}");
        }
        let runs: usize = report.servers.iter().map(|server| server.runs.len()).sum();
        // Four units, the crowd, and one for each run.
        assert_eq!(page.matches("<svg").count(), 4 + 1 + runs);
    }

    #[test]
    fn what_was_not_measured_is_not_there() {
        let mut report = report();
        report.options.experiments = vec![Experiment::Users];
        for server in &mut report.servers {
            server.runs.clear();
        }
        let page = page(&report);
        for absent in ["The study", "Do limits hold?", "Whom it spares"] {
            assert!(!page.contains(absent), "{absent}");
        }
        assert_eq!(page.matches("<svg").count(), 1);
    }
}
