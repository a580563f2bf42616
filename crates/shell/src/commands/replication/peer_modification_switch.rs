//! `peer_modification_switch`: whether peers may be changed.

use crate::commands::arguments::is_java_true;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use std::time::Duration;

pub const COMMAND: Command = Command {
    name: "peer_modification_switch",
    aliases: &[],
    summary: "whether peers may be changed",
    help: "\
Switches changes of peers on or off, with `true` at the end waiting for those that are on; prints what it was before.

  hbase> peer_modification_switch true
  hbase> peer_modification_switch false, true
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let on = is_java_true(&arguments.values()[0]);
    let drain = arguments.get(1).is_some_and(is_java_true);
    let admin = session.admin()?;
    let before = session.wait(admin.set_peer_modification(on))?;
    while drain && !on && !session.wait(admin.peer_modification_procedures())?.is_empty() {
        session.wait(async {
            tokio::time::sleep(LOOK).await;
            Ok(())
        })?;
    }
    session.print.row(&[format!("Previous peer modification state : {before}")]);
    Ok(Value::Bool(before))
}

/// How often it is looked whether all changes are over.
const LOOK: Duration = Duration::from_millis(100);
