//! `cleaner_chore_switch`: switches the cleaner of archived files on or off.

use crate::commands::arguments::is_java_true;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "cleaner_chore_switch",
    aliases: &[],
    summary: "switches the cleaner of archived files on or off",
    help: "\
Switches the cleaner of archived files on or off; prints what it was before.

  hbase> cleaner_chore_switch true
  hbase> cleaner_chore_switch false
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let on = is_java_true(&arguments.values()[0]);
    let admin = session.admin()?;
    let before = session.wait(admin.set_cleaner_chore(on))?;
    session.print.row(&[before.to_string()]);
    Ok(Value::Bool(before))
}
