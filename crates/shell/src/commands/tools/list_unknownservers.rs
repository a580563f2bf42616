//! `list_unknownservers`: servers that hbase:meta names and nobody knows.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_unknownservers",
    aliases: &[],
    summary: "servers that hbase:meta names and nobody knows",
    help: "\
Lists servers that hbase:meta names and nobody knows.

  hbase> list_unknownservers
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    session.print.header(&["SERVERNAME"]);
    let admin = session.admin()?;
    let servers = session.wait(admin.unknown_servers())?;
    servers.iter().for_each(|server| session.print.row(&[server.to_string()]));
    session.print.footer(Some(servers.len() as u64));
    Ok(Value::Nil)
}
