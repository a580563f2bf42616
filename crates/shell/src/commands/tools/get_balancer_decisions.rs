//! `get_balancer_decisions`: what the balancer decided lately.

use super::json;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "get_balancer_decisions",
    aliases: &[],
    summary: "what the balancer decided lately",
    help: "\
Prints what the balancer decided lately, as JSON; at most LIMIT entries (250).

  hbase> get_balancer_decisions
  hbase> get_balancer_decisions LIMIT => 10
",
    arity: Arity::between(0, 1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let limit = match arguments.get(0) {
        None => 250,
        Some(Value::Hash(_)) => arguments.options(0)?.take_integer("LIMIT")?.unwrap_or(250),
        Some(_) => return Err(Failure::runtime("Filter parameters are not Hash")),
    };
    let limit = u32::try_from(limit).map_err(|_| Failure::argument(format!("LIMIT is {limit}")))?;
    let admin = session.admin()?;
    let entries = session.wait(admin.balancer_decisions(limit))?;
    session.print.puts("Retrieved BalancerDecision Responses");
    let texts = entries.iter().map(|entry| {
        json::object(&[
            ("initialFunctionCosts", json::text(&entry.initial_function_costs)),
            ("finalFunctionCosts", json::text(&entry.final_function_costs)),
            ("initTotalCost", entry.init_total_cost.to_string()),
            ("computedTotalCost", entry.computed_total_cost.to_string()),
            ("computedSteps", entry.computed_steps.to_string()),
            ("regionPlans", json::texts(&entry.region_plans)),
        ])
    });
    json::puts(session, texts);
    Ok(Value::Nil)
}
