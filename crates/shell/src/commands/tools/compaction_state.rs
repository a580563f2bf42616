//! `compaction_state`: whether a table is being compacted.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;

pub const COMMAND: Command = Command {
    name: "compaction_state",
    aliases: &[],
    summary: "whether a table is being compacted",
    help: "\
Prints MAJOR, MAJOR_AND_MINOR, MINOR or NONE: the compactions that the regions of a table are at.

  hbase> compaction_state 'ns1:t1'
  hbase> compaction_state 't1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let table = TableName::parse(&arguments.text(0))?;
    let admin = session.admin()?;
    let state = session.wait(admin.compaction_state(&table))?.as_str_name();
    session.print.row(&[state]);
    Ok(Value::text(state))
}
