//! `update_all_config`: all servers read their configuration again.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "update_all_config",
    aliases: &[],
    summary: "all servers read their configuration again",
    help: "\
All servers of the cluster read their configuration again.

  hbase> update_all_config
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    session.wait(admin.update_configuration_everywhere())?;
    Ok(Value::Nil)
}
