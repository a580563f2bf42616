//! `is_in_maintenance_mode`: whether the master is in maintenance mode.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "is_in_maintenance_mode",
    aliases: &[],
    summary: "whether the master is in maintenance mode",
    help: "\
Prints whether the master is in maintenance mode.

  hbase> is_in_maintenance_mode
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let state = session.wait(admin.is_in_maintenance_mode())?;
    session.print.row(&[state.to_string()]);
    Ok(Value::Bool(state))
}
