//! `enable`: bring a table back into service

use super::table::existing;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "enable",
    aliases: &[],
    summary: "bring a table back into service",
    help: "\
Brings a table back into service. Nothing happens if it is enabled already.

  hbase> enable 'ns1:t1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = existing(session, &arguments.text(0))?;
    let admin = session.admin()?;
    if !session.wait(async { admin.is_table_enabled(&name).await })? {
        session.wait(async { admin.enable_table(&name).await })?;
    }
    Ok(Value::Nil)
}
