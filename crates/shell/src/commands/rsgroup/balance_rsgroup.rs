//! `balance_rsgroup`: spreads the regions of a group over its servers now.

use crate::commands::tools::balancer;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "balance_rsgroup",
    aliases: &[],
    summary: "spreads the regions of a group over its servers now",
    help: "\
Runs the balancer over a group, and prints whether it ran and what it moved.

  hbase> balance_rsgroup 'my_group'
  hbase> balance_rsgroup 'my_group', 'ignore_rit'
  hbase> balance_rsgroup 'my_group', 'dry_run', 'ignore_rit'
",
    arity: Arity::at_least(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let (dry_run, ignore_transitions) = balancer::options(&arguments.flattened(1))?;
    let admin = session.admin()?;
    let balanced = session.wait(admin.balance_rsgroup(&arguments.text(0), dry_run, ignore_transitions))?;
    if balanced.ran {
        session.print.row(&["Balancer ran"]);
        let (calculated, executed) = (balanced.moves_calculated, balanced.moves_executed);
        session.print.row(&[format!("Moves calculated: {calculated}, moves executed: {executed}")]);
    } else {
        session.print.row(&["Balancer did not run. See logs for details."]);
    }
    Ok(Value::Bool(balanced.ran))
}
