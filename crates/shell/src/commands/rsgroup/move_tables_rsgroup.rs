//! `move_tables_rsgroup`: moves tables to a group.

use super::members;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "move_tables_rsgroup",
    aliases: &[],
    summary: "moves tables to a group",
    help: "\
Moves tables to a group.

  hbase> move_tables_rsgroup 'dest',['table1','table2']
",
    arity: Arity::exactly(2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let tables = members::tables(&arguments, 1)?;
    let admin = session.admin()?;
    session.wait(admin.move_tables_to_rsgroup(&tables, &arguments.text(0)))?;
    Ok(Value::Nil)
}
