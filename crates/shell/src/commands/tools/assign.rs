//! `assign`: opens a region that is closed.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "assign",
    aliases: &[],
    summary: "opens a region that is closed",
    help: "\
Opens a region that is closed or offline. For experts.

  hbase> assign 'REGIONNAME'
  hbase> assign 'ENCODED_REGIONNAME'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = arguments.bytes(0);
    let admin = session.admin()?;
    session.wait(admin.assign(&name))?;
    Ok(Value::Nil)
}
