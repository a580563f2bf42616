//! `snapshot_cleanup_enabled`: whether snapshots whose time is over are deleted.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "snapshot_cleanup_enabled",
    aliases: &[],
    summary: "whether snapshots whose time is over are deleted",
    help: "\
Prints whether snapshots whose time is over are deleted.

  hbase> snapshot_cleanup_enabled
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let state = session.wait(admin.is_snapshot_cleanup_enabled())?;
    session.print.row(&[state.to_string()]);
    Ok(Value::Bool(state))
}
