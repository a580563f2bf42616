//! `cleaner_chore_enabled`: whether the cleaner of archived files is on.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "cleaner_chore_enabled",
    aliases: &[],
    summary: "whether the cleaner of archived files is on",
    help: "\
Prints whether the cleaner of archived files is on.

  hbase> cleaner_chore_enabled
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let state = session.wait(admin.is_cleaner_chore_enabled())?;
    session.print.row(&[state.to_string()]);
    Ok(Value::Bool(state))
}
