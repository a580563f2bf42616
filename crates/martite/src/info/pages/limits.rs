//! Quotas as they are set, and what users under limits had.

use super::Answer;
use super::calls::summary;
use crate::info::Shown;
use crate::info::quotas::OPERATIONS;
use martite_quota::space::Usage;
use martite_quota::{Priority, all_limits};
use martite_web::Asked;
use martite_web::view::{Body, Cell, Table, Tone, View};

/// The page of the master: what is set.
pub fn quotas(shown: &Shown, _: &Asked) -> Answer {
    let (settings, throttling) = shown.regions.throttles.settings();
    let mut view = View::new("Quotas", "As hbase:quota has them");
    let switch = |on: bool, yes: &str, no: &str| {
        Cell::Tone(if on { Tone::Good } else { Tone::Busy }, (if on { yes } else { no }).to_owned())
    };
    view.add(
        "Switches",
        Body::Facts(vec![
            ("Limits", switch(throttling, "hold", "switched off")),
            ("Exceed throttle", switch(!settings.exceed, "off", "on: the server's limits count")),
            ("Calls that wait now", Cell::Count(shown.regions.throttles.parked() as u64)),
        ]),
    );
    let mut limits = Table::new("Nobody has a limit.", &["Whose", "Limit"]);
    for (owner, of_owner) in all_limits(&settings) {
        limits
            .rows
            .extend(of_owner.iter().map(|limit| vec![Cell::code(owner.to_string()), Cell::text(limit.to_string())]));
    }
    view.add("Limits", Body::Table(limits));
    view.add("Priorities", Body::Table(priorities(&settings.priorities)));
    view.add("Space", Body::Table(space(shown)));
    Ok(view)
}

fn priorities(priorities: &martite_quota::Priorities) -> Table {
    let mut table = Table::new("All work has the same priority.", &["Whose", "Priority"]);
    for (kind, owners) in
        [("USER", &priorities.users), ("TABLE", &priorities.tables), ("NAMESPACE", &priorities.namespaces)]
    {
        table.rows.extend(owners.iter().map(|(owner, priority)| {
            let priority = match priority {
                Priority::Online => "online",
                Priority::Default => "default",
                Priority::Batch => "batch",
            };
            vec![Cell::code(format!("{kind} => {owner}")), Cell::text(priority)]
        }));
    }
    table
}

fn space(shown: &Shown) -> Table {
    let usage = shown.master.space_usage();
    let mut table =
        Table::new("No table and no namespace has a space quota.", &["Whose", "Used", "Limit", "Share", "State"]);
    let row = |owner: String, usage: &Usage| {
        let state = match usage.violated {
            None => Cell::Tone(Tone::Good, "within".to_owned()),
            Some(policy) => Cell::Tone(Tone::Bad, format!("violated: {}", policy.as_str_name())),
        };
        let (used, limit) = (usage.used_bytes, usage.limit_bytes);
        vec![Cell::code(owner), Cell::Bytes(used), Cell::Bytes(limit), Cell::Share(used as f64, limit as f64), state]
    };
    table.rows.extend(usage.tables.iter().map(|(name, usage)| row(format!("TABLE => {name}"), usage)));
    table.rows.extend(usage.namespaces.iter().map(|(name, usage)| row(format!("NAMESPACE => {name}"), usage)));
    table
}

/// The page of the region server: what users under limits had.
pub fn usage(shown: &Shown, _: &Asked) -> Answer {
    let mut view = View::new(
        "Limits",
        "Users under limits since the server's start: what their calls waited for, and what they took",
    );
    let columns = ["User", "Table", "Operation", "Part", "Calls", "p50", "p95", "p99", "p99.9", "Longest"];
    let mut times = Table::new("Nobody was under a limit.", &columns);
    let mut refused = Table::new("No call was refused.", &["User", "Table", "For", "Calls"]);
    for (key, usage) in shown.regions.throttles.usage.all() {
        let who = || [Cell::text(&*key.user), Cell::text(&*key.table)];
        for (operation, kind) in OPERATIONS {
            let of = usage.operation(kind);
            for (part, times_of) in
                [("queue", &of.queue), ("waited for its limit", &of.parked), ("service", &of.service)]
            {
                let snapshot = times_of.snapshot();
                if snapshot.count() > 0 {
                    let mut row = who().to_vec();
                    row.extend([Cell::text(operation), Cell::text(part)]);
                    row.extend(summary(&snapshot));
                    times.rows.push(row);
                }
            }
        }
        for (kind, count) in usage.refused() {
            let mut row = who().to_vec();
            row.extend([Cell::text(kind.exception()), Cell::Count(count)]);
            refused.rows.push(row);
        }
    }
    view.add_noted("Times", "Only calls that waited are among those that waited for their limit.", Body::Table(times));
    view.add_noted(
        "Refused",
        "Answered with RpcThrottlingException: they would have waited longer than their caller.",
        Body::Table(refused),
    );
    Ok(view)
}
