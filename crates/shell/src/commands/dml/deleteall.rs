//! `deleteall`: a row, a family or a column of it, in all versions; or the same of all rows with a prefix.

use super::mutation::{Extras, timestamp_and_options, with_extras};
use crate::cells::split_column;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use bytes::Bytes;
use martite_client::{Action, Delete, Get, Scan, Table};
use martite_filter::build;

/// Deletes of one call, unless CACHE says otherwise.
const ROWS_A_CALL: i64 = 100;

pub const COMMAND: Command = Command {
    name: "deleteall",
    aliases: &[],
    summary: "delete a row, a column in all versions, or all rows with a prefix",
    help: "\
Deletes all cells of a row, or of a family or column of it, that are not younger than the given timestamp. With
ROWPREFIXFILTER it does so for all rows that begin so; CACHE says how many rows go into one call (100).

  hbase> deleteall 'ns1:t1', 'r1'
  hbase> deleteall 't1', 'r1', 'f'
  hbase> deleteall 't1', 'r1', 'f:q', 1700000000000
  hbase> deleteall 't1', 'r1', '', 1700000000000
  hbase> deleteall 't1', 'r1', 'f:q', 1700000000000, {VISIBILITY => 'PRIVATE|SECRET'}
  hbase> deleteall 't1', {ROWPREFIXFILTER => 'prefix'}
  hbase> deleteall 't1', {ROWPREFIXFILTER => 'prefix', CACHE => 1000}, 'f:q'

With a reference to the table:

  hbase> t.deleteall 'r1'
",
    arity: Arity::between(2, 5),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = arguments.text(0);
    let table = session.table(&name)?;
    session.restart_clock();
    let column = arguments.get(2).map(Value::to_bytes);
    let (timestamp, options) = timestamp_and_options(&arguments, 3)?;
    if let Some(Value::Hash(_)) = arguments.get(1) {
        if name == "hbase:meta" {
            return Err(Failure::argument("deleteall with ROWPREFIXFILTER in hbase:meta is not allowed."));
        }
        return prefix(session, &table, &arguments, |row| {
            let options = arguments.options(4).unwrap_or_default();
            Ok(delete_of(row, column.as_ref(), timestamp, Extras::of(options)?, true))
        });
    }
    let row = arguments.bytes(1);
    if name == "hbase:meta" && session.wait(async { table.get(Get::row(&row)).await })?.is_empty() {
        return Err(Failure::argument("Row Not Found"));
    }
    let delete = delete_of(&row, column.as_ref(), timestamp, Extras::of(options)?, true);
    session.wait(async { table.delete(delete).await })?;
    Ok(Value::Nil)
}

fn prefix(session: &mut Session, table: &Table, arguments: &Arguments, delete: impl Fn(&[u8]) -> Run<Delete>) -> Run {
    let mut options = arguments.options(1)?;
    let at_once = options.take_integer("CACHE")?.unwrap_or(ROWS_A_CALL).clamp(1, 100_000) as usize;
    let prefix = options.take_bytes("ROWPREFIXFILTER");
    let prefix = prefix.ok_or_else(|| Failure::argument("ROWPREFIXFILTER is missing"))?;
    let keys = build::all([build::first_key_only(), build::key_only(false)]);
    let mut scanner = table.scan(Scan::new().prefix(prefix).filter(keys));
    let mut pending = Vec::new();
    loop {
        let row = session.wait(scanner.next())?;
        let is_last = row.is_none();
        if let Some(row) = row {
            pending.push(Action::Delete(delete(row.row())?));
        }
        if pending.len() >= at_once || (is_last && !pending.is_empty()) {
            let actions = std::mem::take(&mut pending);
            let outcomes = session.wait(async { Ok(table.batch(actions).await) })?;
            for outcome in outcomes {
                outcome?;
            }
        }
        if is_last {
            return Ok(Value::Nil);
        }
    }
}

/// `all_versions`: everything up to the timestamp, else one version of it. An empty column stands for the whole row.
pub fn delete_of(
    row: &[u8],
    column: Option<&Bytes>,
    timestamp: Option<u64>,
    extras: Extras,
    all_versions: bool,
) -> Delete {
    let mut delete = Delete::row(row);
    if let Some(timestamp) = timestamp {
        delete = delete.at(timestamp);
    }
    let latest = timestamp.unwrap_or(i64::MAX as u64);
    if let Some(column) = column.filter(|column| !column.is_empty()) {
        delete = match (split_column(column), all_versions) {
            ((family, Some(qualifier)), true) => delete.columns(family, qualifier),
            ((family, None), true) => delete.family(family),
            ((family, Some(qualifier)), false) => delete.column(family, qualifier),
            ((family, None), false) => delete.family_version(family, latest),
        };
    }
    with_extras!(delete, extras)
}
