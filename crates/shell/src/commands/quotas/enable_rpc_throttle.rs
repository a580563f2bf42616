//! `enable_rpc_throttle`: throttles count.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "enable_rpc_throttle",
    aliases: &[],
    summary: "throttles count",
    help: "\
Throttles count; prints what was so before.

  hbase> enable_rpc_throttle
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let before = session.wait(admin.set_rpc_throttle(true))?;
    session.print.row(&[format!("Previous rpc throttle state : {before}")]);
    Ok(Value::Bool(before))
}
