//! `hbck_chore_run`: has the master look for inconsistencies now.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "hbck_chore_run",
    aliases: &[],
    summary: "has the master look for inconsistencies now",
    help: "\
Has the master look for inconsistencies now.

  hbase> hbck_chore_run
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let done = session.wait(admin.run_hbck_chore())?;
    Ok(Value::Bool(done))
}
