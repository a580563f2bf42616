//! `move_servers_namespaces_rsgroup`: moves servers and namespaces to a group.

use super::members;
use crate::commands::arguments::texts;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "move_servers_namespaces_rsgroup",
    aliases: &[],
    summary: "moves servers and namespaces to a group",
    help: "\
Moves servers, and the tables of namespaces, to a group.

  hbase> move_servers_namespaces_rsgroup 'dest',['server1:port','server2:port'],['ns1','ns2']
",
    arity: Arity::exactly(3),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let servers = members::servers(&arguments, 1)?;
    let tables = members::tables_of(session, &texts(&arguments.values()[2]))?;
    let admin = session.admin()?;
    session.wait(admin.move_servers_and_tables_to_rsgroup(&servers, &tables, &arguments.text(0)))?;
    Ok(Value::Nil)
}
