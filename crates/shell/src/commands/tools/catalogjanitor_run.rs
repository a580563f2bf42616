//! `catalogjanitor_run`: cleans hbase:meta of what splits and merges left.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "catalogjanitor_run",
    aliases: &[],
    summary: "cleans hbase:meta of what splits and merges left",
    help: "\
Cleans hbase:meta of what splits and merges left.

  hbase> catalogjanitor_run
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let done = session.wait(admin.run_catalog_janitor())?;
    Ok(Value::Integer(i64::from(done)))
}
