//! `remove_rsgroup`: removes a group that is empty.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "remove_rsgroup",
    aliases: &[],
    summary: "removes a group that is empty",
    help: "\
Removes a group that is empty.

  hbase> remove_rsgroup 'my_group'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    session.wait(admin.remove_rsgroup(&arguments.text(0)))?;
    Ok(Value::Nil)
}
