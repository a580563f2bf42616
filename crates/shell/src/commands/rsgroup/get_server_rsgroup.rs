//! `get_server_rsgroup`: a server's group.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_catalog::ServerName;
use martite_client::admin::GroupOf;

pub const COMMAND: Command = Command {
    name: "get_server_rsgroup",
    aliases: &[],
    summary: "a server's group",
    help: "\
Prints the group of a server.

  hbase> get_server_rsgroup 'server1:port1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = arguments.text(0);
    let server = ServerName::parse_address(&name, 0)?;
    let admin = session.admin()?;
    let group = session.wait(admin.rsgroup(&GroupOf::Server(server)))?;
    let group = group.ok_or_else(|| Failure::argument(format!("Server has no group: {name}")))?;
    session.print.row(&[group.name]);
    session.print.footer(Some(1));
    Ok(Value::Nil)
}
