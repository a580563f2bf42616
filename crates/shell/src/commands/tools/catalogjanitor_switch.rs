//! `catalogjanitor_switch`: switches the catalog janitor on or off.

use crate::commands::arguments::is_java_true;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "catalogjanitor_switch",
    aliases: &[],
    summary: "switches the catalog janitor on or off",
    help: "\
Switches the catalog janitor on or off; prints what it was before.

  hbase> catalogjanitor_switch true
  hbase> catalogjanitor_switch false
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let on = is_java_true(&arguments.values()[0]);
    let admin = session.admin()?;
    let before = session.wait(admin.set_catalog_janitor(on))?;
    session.print.row(&[before.to_string()]);
    Ok(Value::Bool(before))
}
