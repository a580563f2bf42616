//! `unassign`: closes a region.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "unassign",
    aliases: &[],
    summary: "closes a region",
    help: "\
Closes a region that is open. For experts.

  hbase> unassign 'REGIONNAME'
  hbase> unassign 'ENCODED_REGIONNAME'
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = arguments.bytes(0);
    let admin = session.admin()?;
    session.wait(admin.unassign(&name))?;
    Ok(Value::Nil)
}
