//! `peer_modification_enabled`: whether peers may be changed.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "peer_modification_enabled",
    aliases: &[],
    summary: "whether peers may be changed",
    help: "\
Prints whether peers may be changed.

  hbase> peer_modification_enabled
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let enabled = session.wait(admin.is_peer_modification_enabled())?;
    session.print.row(&[enabled.to_string()]);
    Ok(Value::Bool(enabled))
}
