//! The tables that a terminal shows: for each server what the limits did, then the latencies, then what was asked beside.

use super::in_turns::{Around, InTurns};
use super::options::Experiment;
use super::plan::{Limit, Unit};
use super::results::{AtShare, Change, Crowd, Kept, Left, Report, Run, ServerResults, User};
use super::switched::Switched;
use crate::cores;
use crate::report::{compared, estimate, table};
use crate::rounds::{Compared, Rounds};
use crate::timeline::BIN;
use martite_plot::number::{or_dash, share, short, three, time, trimmed};
use std::fmt::Write;

pub const RATE_HEADS: [&str; 18] = [
    "experiment",
    "workload",
    "loop",
    "limit",
    "wanted",
    "observed",
    "÷ limit",
    "least 1 s",
    "most 1 s",
    "holds",
    "throttled",
    "failed",
    "other errors",
    "not begun",
    "free ops/s",
    "total ops/s",
    "CPU/op",
    "other cores",
];

pub const LATENCY_HEADS: [&str; 14] = [
    "experiment",
    "workload",
    "limit",
    "user",
    "does",
    "ops/s",
    "mean",
    "p50",
    "p95",
    "p99",
    "p99.9",
    "max",
    "p50 ÷ alone",
    "p99 ÷ alone",
];

/// An amount of a unit each second.
fn amount(unit: Unit, per_second: f64) -> String {
    let number = trimmed(&short(per_second));
    match (unit, number.split_once(' ')) {
        // `12.6 MB/s`
        (Unit::Bytes, Some(_)) => number + unit.name(),
        _ => number + " " + unit.name(),
    }
}

/// Limits are exact: 999 is not a thousand.
pub fn limit(limit: Option<Limit>) -> String {
    limit.map_or_else(|| "–".to_owned(), |limit| format!("{} {}", limit.per_second, limit.unit.name()))
}

/// Demand, in what the limit counts.
fn wanted(run: &Run, user: &User) -> String {
    let unit = run.limit.map_or(Unit::Requests, |limit| limit.unit);
    let rate = user.demand_per_s.zip(user.of_an_operation(unit)).map(|(rate, of_operation)| rate * of_operation);
    or_dash(rate, |rate| amount(unit, rate))
}

fn observed(run: &Run, user: &User) -> String {
    let unit = run.limit.map_or(Unit::Requests, |limit| limit.unit);
    let per_second = user.accuracy.map_or(user.operations_per_s, |accuracy| accuracy.observed_per_s);
    amount(unit, per_second)
}

pub fn rates(run: &Run) -> [String; 18] {
    let user = run.limited.as_ref();
    let of = |write: &dyn Fn(&User) -> String| user.map_or_else(|| "–".to_owned(), write);
    let accuracy = user.and_then(|user| user.accuracy);
    [
        run.experiment.name().to_owned(),
        run.workload.to_owned(),
        if run.open { "open" } else { "closed" }.to_owned(),
        limit(run.limit),
        of(&|user| wanted(run, user)),
        of(&|user| observed(run, user)),
        or_dash(accuracy.map(|a| a.of_limit), share),
        or_dash(accuracy.and_then(|a| a.least_second), share),
        or_dash(accuracy.and_then(|a| a.most_second), share),
        accuracy.map_or("–", |a| if a.holds { "yes" } else { "no" }).to_owned(),
        of(&|user| user.throttled.to_string()),
        run.users().map(|user| user.failed).sum::<u64>().to_string(),
        run.users().map(|user| user.other_errors).sum::<u64>().to_string(),
        run.users().map(|user| user.not_begun).sum::<u64>().to_string(),
        short(run.free.operations_per_s),
        short(run.operations_per_s),
        or_dash(run.server_cpu_us_per_operation, time),
        or_dash(run.other_cores, three),
    ]
}

pub fn latencies(run: &Run) -> Vec<[String; 14]> {
    let line = |user: &User| {
        let beside = run.beside.filter(|_| user.user == run.free.user);
        let (does, l) = (user.does.name(), user.latency);
        let [mean, p50, p95, p99, p999, max] = if user.operations == 0 {
            ["–"; 6].map(str::to_owned)
        } else {
            [l.mean_us, l.p50_us, l.p95_us, l.p99_us, l.p999_us, l.max_us].map(time)
        };
        [
            run.experiment.name().to_owned(),
            run.workload.to_owned(),
            limit(run.limit),
            user.user.to_owned(),
            does.to_owned(),
            short(user.operations_per_s),
            mean,
            p50,
            p95,
            p99,
            p999,
            max,
            or_dash(beside.map(|b| b.p50_of_alone), three),
            or_dash(beside.map(|b| b.p99_of_alone), three),
        ]
    };
    run.users().map(line).collect()
}

/// What a change of a limit did.
pub fn change(change: &Change) -> String {
    let Change { from, to, set_in_ms, followed_after_ms, .. } = change;
    let bin_ms = BIN.as_secs_f64() * 1e3;
    let followed = match followed_after_ms {
        None => "not followed".to_owned(),
        Some(ms) if *ms < bin_ms => format!("followed within {}", time(bin_ms * 1e3)),
        Some(ms) => format!("followed after {}", time(ms * 1e3)),
    };
    format!("limit {from} → {to} req/s: set in {}, {followed}", time(set_in_ms * 1e3))
}

/// What a crowd got.
pub fn crowd(crowd: &Crowd) -> String {
    let quantiles = [0.0, 0.01, 0.5, 0.99, 1.0].map(|q| share(crowd.quantile(q)));
    let [least, p1, p50, p99, most] = quantiles;
    format!(
        "{} users with {} req/s each: observed ÷ limit {least} (least), {p1} (p1), {p50} (p50), {p99} (p99), {most} (most); \
         held for {}; {} ops/s, {} throttled, {} failed, {} not begun, CPU/op {}; limits set in {}",
        crowd.users,
        crowd.limit,
        crowd.held,
        short(crowd.operations_per_s),
        crowd.throttled,
        crowd.failed,
        crowd.not_begun,
        or_dash(crowd.server_cpu_us_per_operation, time),
        time(crowd.set_in_ms * 1e3),
    )
}

/// What the other user did.
pub fn at_share(at: &AtShare) -> String {
    format!(
        "`free` in isolation and priority: {} Gets/s, which alone take {} of the server's cores",
        short(at.per_s),
        three(at.taken)
    )
}

/// What a limit left of the total.
pub fn kept(kept: &Kept) -> String {
    let Kept { of_both, of_alone } = kept;
    format!(
        "both users together with a limit, in {} rounds: {} of their total without it, {} of what the other one gets alone",
        of_both.ratios.len(),
        in_rounds(of_both),
        in_rounds(of_alone)
    )
}

fn in_rounds(rounds: &Rounds) -> String {
    let (least, most) = rounds.spread();
    format!("{} ± {} ({} to {})", share(rounds.mean), share(rounds.standard_error), share(least), share(most))
}

/// `free` beside others, by turns.
pub fn in_turns(of: &InTurns) -> String {
    let InTurns { experiment, rounds, p50, p99, p99_of_tenths, around, of_left } = of;
    let left =
        of_left.as_ref().map_or_else(String::new, |left| format!("; batch gets {} of what they leave", estimate(left)));
    let around = around.iter().map(|Around { quantile, compared: Compared { of_alone, .. } }| {
        format!("p{} {}", (1000.0 * quantile).round() / 10.0, estimate(of_alone))
    });
    let around = around.collect::<Vec<_>>().join(", ");
    let tenths = p99_of_tenths
        .as_ref()
        .map_or_else(String::new, |of| format!("; p99 of the middle tenth of a second {}", compared(of)));
    let reference = if *experiment == Experiment::Isolation { "beside the same user idle" } else { "alone" };
    format!(
        "{}, {rounds} rounds together, Gets compared with those {reference}: p50 {}; p99 {}{tenths}; {around}{left}",
        experiment.name(),
        compared(p50),
        compared(p99),
    )
}

/// What low priority costs and gets.
pub fn left(left: &Left) -> String {
    let Left { beside, alone_per_s, per_s, rest, of_left } = left;
    format!(
        "beside batch work, p50 of Gets is {} and p99 {} of that alone; batch alone {} operations/s, beside Gets, which leave {} of the server's cores, {}: {} of what they leave",
        three(beside.p50_of_alone),
        three(beside.p99_of_alone),
        short(*alone_per_s),
        three(*rest),
        short(*per_s),
        three(*of_left),
    )
}

/// What quotas cost where nobody has a limit.
pub fn switched(switched: &Switched) -> String {
    let Switched { on_us, off_us, rounds } = switched;
    let (least, most) = rounds.spread();
    format!(
        "quotas on without a limit: CPU/op {} of that with quotas off, ± {} (standard error of {} rounds, which were {} to {}); {} and {}",
        share(rounds.mean),
        share(rounds.standard_error),
        rounds.ratios.len(),
        share(least),
        share(most),
        time(*on_us),
        time(*off_us),
    )
}

/// The lines under the tables.
pub fn remarks(server: &ServerResults) -> Vec<String> {
    let at_share = server.at_share.as_ref().map(at_share);
    let kept = server.kept.as_ref().map(kept);
    let left = server.left.as_ref().map(left);
    at_share
        .into_iter()
        .chain(kept)
        .chain(left)
        .chain(server.in_turns.iter().map(in_turns))
        .chain(server.changes.iter().map(change))
        .chain(server.crowd.iter().map(crowd))
        .chain(server.switched.iter().map(switched))
        .collect()
}

pub fn text(report: &Report) -> String {
    let mut out = format!("{} rows. {}. {}\n", report.options.rows, report.machine, report.date);
    out += &cores::note(report.options.cores.as_ref());
    for server in &report.servers {
        let _ = writeln!(out, "\n{}", server.title);
        let rates: Vec<_> = server.runs.iter().map(rates).collect();
        let latencies: Vec<_> = server.runs.iter().flat_map(latencies).collect();
        if !rates.is_empty() {
            let _ = write!(out, "{}\n{}", table(&RATE_HEADS, &rates), table(&LATENCY_HEADS, &latencies));
        }
        for remark in remarks(server) {
            let _ = writeln!(out, "{remark}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::throttling::results::tests::report;

    #[test]
    fn a_line_for_each_run_and_each_user_and_remarks() {
        let text = text(&report());
        let lines = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
        // Two servers; two workloads with and without a limit, once the rates, twice the latencies.
        assert_eq!(lines("study "), 2 * 4 * 3, "{text}");
        assert_eq!(lines("isolation "), 2 * (2 + 3), "{text}");
        let line = text.lines().find(|line| line.starts_with("rows ")).unwrap();
        for said in ["5000 rows/s", "scan+get", "open", "300 rows/s", "5 K rows/s", "1.000", "yes"] {
            assert!(line.contains(said), "{said}: {line}");
        }
        assert!(text.contains(" 98.8 K Gets/s, which alone take 0.705 of the server's cores"), "{text}");
        assert!(text.contains("limit 1000 → 500 req/s: set in 3.00 ms, followed after 100 ms"), "{text}");
        assert!(text.contains("2 users with 1000 req/s each: observed ÷ limit 0.900 (least)"), "{text}");
        let said =
            "in 2 rounds: 0.995 ± 0.005 (0.990 to 1.000) of their total without it, 0.985 ± 0.005 (0.980 to 0.990) of";
        assert!(text.contains(said), "{text}");
        let said =
            "CPU/op 1.010 of that with quotas off, ± 0.010 (standard error of 2 rounds, which were 1.000 to 1.020)";
        assert!(text.contains(said), "{text}");
        // Gets that leave four fifths of the cores leave 1,600 of 2,000 operations.
        assert!(
            text.contains("beside Gets, which leave 0.800 of the server's cores, 1.00 K: 0.625 of what they leave"),
            "{text}"
        );
        let said = "priority, 2 rounds together, Gets compared with those alone: p50 1.00 ms instead of 1.00 ms, 1.000 ± 0.000 of that \
                    (+0 ± 0 µs); p99";
        assert!(text.contains(said), "{text}");
        let said = "; p90 1.000 ± 0.000, p95 1.000 ± 0.000, p98 1.000 ± 0.000, p99.9 1.000 ± 0.000; batch gets 0.625 ± 0.000 of what they leave";
        assert!(text.contains(said), "{text}");
    }
}
