//! `restore_snapshot`: puts a table back to a snapshot.

use super::listing;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "restore_snapshot",
    aliases: &[],
    summary: "puts a table back to a snapshot",
    help: "\
Puts the table of a snapshot, which must be disabled, back to it; RESTORE_ACL: with its permissions.

  hbase> restore_snapshot 'snapshotName'
  hbase> restore_snapshot 'snapshotName', {RESTORE_ACL=>true}
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let restore_acl = listing::options(&arguments, 1)?.take("RESTORE_ACL").is_some();
    let admin = session.admin()?;
    session.wait(admin.restore_snapshot(&arguments.text(0), restore_acl))?;
    Ok(Value::Nil)
}
