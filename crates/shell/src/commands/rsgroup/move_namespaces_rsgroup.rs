//! `move_namespaces_rsgroup`: moves namespaces to a group.

use super::members;
use crate::commands::arguments::texts;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "move_namespaces_rsgroup",
    aliases: &[],
    summary: "moves namespaces to a group",
    help: "\
Moves the tables of namespaces, and those that come later, to a group.

  hbase> move_namespaces_rsgroup 'dest',['ns1','ns2']
",
    arity: Arity::exactly(2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let group = arguments.text(0);
    let namespaces = texts(&arguments.values()[1]);
    let tables = members::tables_of(session, &namespaces)?;
    let admin = session.admin()?;
    session.wait(admin.move_tables_to_rsgroup(&tables, &group))?;
    members::set_group(session, &namespaces, &group)?;
    Ok(Value::Nil)
}
