//! `delete`: one version of a cell.

use super::deleteall::delete_of;
use super::mutation::{Extras, timestamp_and_options};
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "delete",
    aliases: &[],
    summary: "delete the newest version of a cell, or one of a timestamp",
    help: "\
Deletes one version of a cell: the newest, or the one of the given timestamp. See deleteall for all versions.

  hbase> delete 'ns1:t1', 'r1', 'f:q'
  hbase> delete 't1', 'r1', 'f:q', 1700000000000
  hbase> delete 't1', 'r1', 'f:q', 1700000000000, {VISIBILITY => 'PRIVATE|SECRET'}

With a reference to the table:

  hbase> t.delete 'r1', 'f:q'
",
    arity: Arity::between(3, 5),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let table = session.table(&arguments.text(0))?;
    session.restart_clock();
    let (timestamp, options) = timestamp_and_options(&arguments, 3)?;
    let column = arguments.bytes(2);
    let delete = delete_of(&arguments.bytes(1), Some(&column), timestamp, Extras::of(options)?, false);
    session.wait(async { table.delete(delete).await })?;
    Ok(Value::Nil)
}
