//! `update_config`: a server reads its configuration again.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::ServerName;

pub const COMMAND: Command = Command {
    name: "update_config",
    aliases: &[],
    summary: "a server reads its configuration again",
    help: "\
A server, named by host, port and start code, reads its configuration again.

  hbase> update_config 'servername'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let server = ServerName::parse(&arguments.text(0))?;
    let admin = session.admin()?;
    session.wait(admin.update_configuration(&server))?;
    Ok(Value::Nil)
}
