//! `remove_servers_rsgroup`: forgets decommissioned servers.

use super::members;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "remove_servers_rsgroup",
    aliases: &[],
    summary: "forgets decommissioned servers",
    help: "\
Forgets decommissioned servers.

  hbase> remove_servers_rsgroup ['server1:port','server2:port']
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let servers = members::servers(&arguments, 0)?;
    let admin = session.admin()?;
    session.wait(admin.remove_servers_from_rsgroup(&servers))?;
    Ok(Value::Nil)
}
