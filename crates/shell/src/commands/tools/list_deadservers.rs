//! `list_deadservers`: region servers that have died.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_deadservers",
    aliases: &[],
    summary: "region servers that have died",
    help: "\
Lists region servers that have died.

  hbase> list_deadservers
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    session.print.header(&["SERVERNAME"]);
    let admin = session.admin()?;
    let servers = session.wait(admin.dead_servers())?;
    servers.iter().for_each(|server| session.print.row(&[server.to_string()]));
    session.print.footer(Some(servers.len() as u64));
    Ok(Value::Nil)
}
