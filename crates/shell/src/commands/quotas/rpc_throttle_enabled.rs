//! `rpc_throttle_enabled`: whether throttles count.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "rpc_throttle_enabled",
    aliases: &[],
    summary: "whether throttles count",
    help: "\
Prints whether throttles count.

  hbase> rpc_throttle_enabled
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let enabled = session.wait(admin.is_rpc_throttle_enabled())?;
    session.print.row(&[enabled.to_string()]);
    Ok(Value::Bool(enabled))
}
