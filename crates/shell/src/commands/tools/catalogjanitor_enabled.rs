//! `catalogjanitor_enabled`: whether the catalog janitor is on.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "catalogjanitor_enabled",
    aliases: &[],
    summary: "whether the catalog janitor is on",
    help: "\
Prints whether the catalog janitor is on.

  hbase> catalogjanitor_enabled
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let state = session.wait(admin.is_catalog_janitor_enabled())?;
    session.print.row(&[state.to_string()]);
    Ok(Value::Bool(state))
}
