//! `disable_rpc_throttle`: no throttle counts.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "disable_rpc_throttle",
    aliases: &[],
    summary: "no throttle counts",
    help: "\
No throttle counts; prints what was so before.

  hbase> disable_rpc_throttle
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let before = session.wait(admin.set_rpc_throttle(false))?;
    session.print.row(&[format!("Previous rpc throttle state : {before}")]);
    Ok(Value::Bool(before))
}
