//! `balance_switch`: switches the balancer on or off.

use crate::commands::arguments::is_java_true;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "balance_switch",
    aliases: &[],
    summary: "switches the balancer on or off",
    help: "\
Switches the balancer on or off; prints what it was before.

  hbase> balance_switch true
  hbase> balance_switch false
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let on = is_java_true(&arguments.values()[0]);
    let admin = session.admin()?;
    let before = session.wait(admin.set_balancer(on, false))?;
    session.print.row(&[format!("Previous balancer state : {before}")]);
    Ok(Value::Bool(before))
}
