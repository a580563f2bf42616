//! `disable`: take a table out of service

use super::table::existing;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "disable",
    aliases: &[],
    summary: "take a table out of service",
    help: "\
Takes a table out of service: its regions are closed. Nothing happens if it is disabled already.

  hbase> disable 'ns1:t1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = existing(session, &arguments.text(0))?;
    let admin = session.admin()?;
    if !session.wait(async { admin.is_table_disabled(&name).await })? {
        session.wait(async { admin.disable_table(&name).await })?;
    }
    Ok(Value::Nil)
}
