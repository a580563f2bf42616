//! `balancer`: spreads regions over servers now.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "balancer",
    aliases: &[],
    summary: "spreads regions over servers now",
    help: "\
Runs the balancer, and prints whether it ran and what it moved. \"dry_run\" only calculates; \"ignore_rit\" runs although
regions are on their way.

  hbase> balancer
  hbase> balancer \"ignore_rit\"
  hbase> balancer \"dry_run\"
  hbase> balancer \"dry_run\", \"ignore_rit\"
",
    arity: Arity::at_least(0),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let (dry_run, ignore_transitions) = options(&arguments.flattened(0))?;
    let admin = session.admin()?;
    let balanced = session.wait(admin.balance(dry_run, ignore_transitions))?;
    if balanced.ran {
        session.print.row(&["Balancer ran"]);
        let (calculated, executed) = (balanced.moves_calculated, balanced.moves_executed);
        session.print.row(&[format!("Moves calculated: {calculated}, moves executed: {executed}")]);
    } else {
        session.print.row(&["Balancer did not run. See logs for details."]);
    }
    Ok(Value::Bool(balanced.ran))
}

/// Whether to calculate only, and whether to go on while regions are on their way.
pub(crate) fn options(given: &[Value]) -> Run<(bool, bool)> {
    if given.len() > 2 {
        let list = Value::array(given.to_vec()).inspect();
        let count = given.len();
        let text = format!("Illegal arguments {list}. Expected between 0 and 2 arguments, but got {count}.");
        return Err(Failure::argument(text));
    }
    let (mut dry_run, mut ignore_transitions) = (false, false);
    for (index, value) in given.iter().enumerate() {
        let text = value.to_text();
        let illegal = format!("Illegal argument in index {index}: {text}.");
        if value.as_text().is_none() {
            let class = value.class();
            return Err(Failure::argument(format!("{illegal} All arguments must be strings, but got {class}.")));
        }
        match text.as_str() {
            "force" | "ignore_rit" => ignore_transitions = true,
            "dry_run" => dry_run = true,
            _ => {
                let expected = "expected 'force', 'ignore_rit', or 'dry_run'";
                return Err(Failure::argument(format!("{illegal} Unknown option {text}, {expected}.")));
            }
        }
    }
    Ok((dry_run, ignore_transitions))
}
