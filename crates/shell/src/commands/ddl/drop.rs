//! `drop`: a table with its data.

use super::table::existing;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Failure;
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "drop",
    aliases: &[],
    summary: "drop a table that is disabled",
    help: "\
Drops a table with its data. It must be disabled before.

  hbase> drop 'ns1:t1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let text = arguments.text(0);
    let name = existing(session, &text)?;
    let admin = session.admin()?;
    if session.wait(async { admin.is_table_enabled(&name).await })? {
        return Err(Failure::argument(format!("Table {text} is enabled. Disable it first.")));
    }
    session.wait(async { admin.delete_table(&name).await })?;
    Ok(Value::Nil)
}
