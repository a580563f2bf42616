//! `list_table_snapshots`: the snapshots of tables that match.

use super::listing;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_table_snapshots",
    aliases: &[],
    summary: "the snapshots of tables that match",
    help: "\
Lists the snapshots whose tables, and whose names, match regular expressions.

  hbase> list_table_snapshots 'tableName'
  hbase> list_table_snapshots 'tableName.*'
  hbase> list_table_snapshots 'tableName', 'snapshotName.*'
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let found = listing::find(session, Some(&arguments.text(0)), &arguments.text_or(1, ".*"))?;
    listing::print(session, &found);
    session.print.footer(Some(found.len() as u64));
    Ok(Value::texts(found.iter().map(|snapshot| &snapshot.name)))
}
