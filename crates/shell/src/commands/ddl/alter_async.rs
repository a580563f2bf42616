//! `alter_async`: changes a table, does not wait.

use super::alteration::alter;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "alter_async",
    aliases: &[],
    summary: "change a table and do not wait for its regions",
    help: "\
As alter, without waiting until the regions have the new schema: see alter_status.

  hbase> alter_async 't1', NAME => 'f1', VERSIONS => 5
  hbase> alter_async 't1', 'delete' => 'f1'
",
    arity: Arity::at_least(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    alter(session, &arguments, false)?;
    Ok(Value::Nil)
}
