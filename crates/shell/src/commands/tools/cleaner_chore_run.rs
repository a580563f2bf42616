//! `cleaner_chore_run`: deletes archived files and logs that nobody needs.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "cleaner_chore_run",
    aliases: &[],
    summary: "deletes archived files and logs that nobody needs",
    help: "\
Deletes archived files and logs that nobody needs.

  hbase> cleaner_chore_run
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let done = session.wait(admin.run_cleaner_chore())?;
    Ok(Value::Bool(done))
}
