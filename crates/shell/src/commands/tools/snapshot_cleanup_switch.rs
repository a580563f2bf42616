//! `snapshot_cleanup_switch`: switches the deletion of snapshots whose time is over on or off.

use crate::commands::arguments::is_java_true;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "snapshot_cleanup_switch",
    aliases: &[],
    summary: "switches the deletion of snapshots whose time is over on or off",
    help: "\
Switches the deletion of snapshots whose time is over on or off; prints what it was before.

  hbase> snapshot_cleanup_switch true
  hbase> snapshot_cleanup_switch false
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let on = is_java_true(&arguments.values()[0]);
    let admin = session.admin()?;
    let before = session.wait(admin.set_snapshot_cleanup(on, false))?;
    session.print.row(&[format!("Previous snapshot cleanup state : {before}")]);
    Ok(Value::Bool(before))
}
