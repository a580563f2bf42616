//! `delete_snapshot`: deletes a snapshot.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "delete_snapshot",
    aliases: &[],
    summary: "deletes a snapshot",
    help: "\
Deletes a snapshot.

  hbase> delete_snapshot 'snapshotName'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    session.wait(admin.delete_snapshot(&arguments.text(0)))?;
    Ok(Value::Nil)
}
