//! `list_decommissioned_regionservers`: region servers that get no regions.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_decommissioned_regionservers",
    aliases: &[],
    summary: "region servers that get no regions",
    help: "\
Lists the region servers to which no region goes.

  hbase> list_decommissioned_regionservers
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    session.print.header(&["DECOMMISSIONED REGION SERVERS"]);
    let admin = session.admin()?;
    let servers = session.wait(admin.decommissioned_servers())?;
    servers.iter().for_each(|server| session.print.row(&[server.to_string()]));
    session.print.footer(Some(servers.len() as u64));
    Ok(Value::Nil)
}
