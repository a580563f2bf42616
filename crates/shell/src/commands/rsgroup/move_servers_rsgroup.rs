//! `move_servers_rsgroup`: moves servers to a group.

use super::members;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "move_servers_rsgroup",
    aliases: &[],
    summary: "moves servers to a group",
    help: "\
Moves servers to a group.

  hbase> move_servers_rsgroup 'dest',['server1:port','server2:port']
",
    arity: Arity::exactly(2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let servers = members::servers(&arguments, 1)?;
    let admin = session.admin()?;
    session.wait(admin.move_servers_to_rsgroup(&servers, &arguments.text(0)))?;
    Ok(Value::Nil)
}
