//! `stop_regionserver`: stops a region server.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::ServerName;

pub const COMMAND: Command = Command {
    name: "stop_regionserver",
    aliases: &[],
    summary: "stops a region server",
    help: "\
Stops a region server. For experts.

  hbase> stop_regionserver 'hostname:port'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let address = arguments.text(0);
    let server = ServerName::parse_address(&address, 0)?;
    let admin = session.admin()?;
    session.wait(admin.stop_region_server(&server, "Called by a shell"))?;
    Ok(Value::Nil)
}
