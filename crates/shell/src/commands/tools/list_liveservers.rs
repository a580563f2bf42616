//! `list_liveservers`: region servers that live.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_liveservers",
    aliases: &[],
    summary: "region servers that live",
    help: "\
Lists region servers that live.

  hbase> list_liveservers
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    session.print.header(&["SERVERNAME"]);
    let admin = session.admin()?;
    let servers = session.wait(admin.region_servers())?;
    servers.iter().for_each(|server| session.print.row(&[server.to_string()]));
    session.print.footer(Some(servers.len() as u64));
    Ok(Value::Nil)
}
