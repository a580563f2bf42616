//! `balancer_enabled`: whether the balancer is on.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "balancer_enabled",
    aliases: &[],
    summary: "whether the balancer is on",
    help: "\
Prints whether the balancer is on.

  hbase> balancer_enabled
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let state = session.wait(admin.is_balancer_enabled())?;
    session.print.row(&[state.to_string()]);
    Ok(Value::Bool(state))
}
