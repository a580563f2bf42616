//! Calls: how long they took, by method and by table.

use super::Answer;
use crate::info::Shown;
use crate::info::regions::by_method;
use martite_metrics::{CallSnapshot, Snapshot};
use martite_web::Asked;
use martite_web::view::{Body, Cell, Table, View};

const PERCENTILES: [f64; 4] = [50.0, 95.0, 99.0, 99.9];

pub fn page(shown: &Shown, _: &Asked) -> Answer {
    let mut view = View::new("Calls", "Times since the server's start; plots of the last half an hour at most");
    view.add("Lately", Body::Plots(shown.sampler.of_calls()));
    view.add_noted(
        "By method",
        "From the read that brought a call until its answer was ready, and what of that it waited to be looked at, was worked on and waited for the disk.",
        Body::Table(methods(shown)),
    );
    view.add("By table", Body::Table(tables(shown)));
    Ok(view)
}

fn methods(shown: &Shown) -> Table {
    let columns = [
        "Method",
        "Calls",
        "p50",
        "p95",
        "p99",
        "p99.9",
        "Longest",
        "Queue p50",
        "Queue p99",
        "Work p50",
        "Work p99",
        "Disk p99",
    ];
    let mut table = Table::new("No call was answered yet.", &columns);
    for (method, times) in shown.regionserver.times() {
        let CallSnapshot { total, queue, process, disk } = &times;
        if total.count() == 0 {
            continue;
        }
        let mut row = vec![Cell::text(if method.is_empty() { "all others" } else { method })];
        row.extend(summary(total));
        row.extend([(queue, 50.0), (queue, 99.0), (process, 50.0), (process, 99.0), (disk, 99.0)].map(percentile));
        table.rows.push(row);
    }
    table
}

fn tables(shown: &Shown) -> Table {
    let mut table =
        Table::new("No table was asked yet.", &["Table", "Method", "Calls", "p50", "p95", "p99", "p99.9", "Longest"]);
    for (name, times) in shown.regions.online.tables.all() {
        for (method, times) in by_method(&times) {
            let times = times.snapshot();
            if times.count() > 0 {
                let mut row = vec![Cell::text(&name), Cell::text(method)];
                row.extend(summary(&times));
                table.rows.push(row);
            }
        }
    }
    table
}

/// Count, percentiles, the longest.
pub fn summary(times: &Snapshot) -> Vec<Cell> {
    let mut cells = vec![Cell::Count(times.count())];
    cells.extend(PERCENTILES.map(|percent| percentile((times, percent))));
    cells.push(if times.count() > 0 { Cell::Duration(times.max_ns()) } else { Cell::None });
    cells
}

fn percentile((times, percent): (&Snapshot, f64)) -> Cell {
    if times.count() == 0 { Cell::None } else { Cell::Duration(times.percentile_ns(percent)) }
}
