//! `move`: moves a region to another server.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::ServerName;

pub const COMMAND: Command = Command {
    name: "move",
    aliases: &[],
    summary: "moves a region to another server",
    help: "\
Moves a region, of an encoded name, to a server, or to any other one.

  hbase> move 'ENCODED_REGIONNAME'
  hbase> move 'ENCODED_REGIONNAME', 'host,port,startcode'
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let to = arguments.get(1).map(|server| ServerName::parse(&server.to_text())).transpose()?;
    let admin = session.admin()?;
    session.wait(admin.move_region(&arguments.text(0), to.as_ref()))?;
    Ok(Value::Nil)
}
