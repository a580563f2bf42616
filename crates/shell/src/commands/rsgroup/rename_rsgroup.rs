//! `rename_rsgroup`: renames a group.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "rename_rsgroup",
    aliases: &[],
    summary: "renames a group",
    help: "\
Renames a group.

  hbase> rename_rsgroup 'oldname', 'newname'
",
    arity: Arity::exactly(2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    session.wait(admin.rename_rsgroup(&arguments.text(0), &arguments.text(1)))?;
    Ok(Value::Nil)
}
