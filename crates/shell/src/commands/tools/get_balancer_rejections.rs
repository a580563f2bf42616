//! `get_balancer_rejections`: why the balancer did nothing lately.

use super::json;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "get_balancer_rejections",
    aliases: &[],
    summary: "why the balancer did nothing lately",
    help: "\
Prints why the balancer did nothing lately, as JSON; at most LIMIT entries (250).

  hbase> get_balancer_rejections
  hbase> get_balancer_rejections LIMIT => 10
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
    let entries = session.wait(admin.balancer_rejections(limit))?;
    session.print.puts("Retrieved BalancerRejection Responses");
    let texts = entries.iter().map(|entry| {
        json::object(&[("reason", json::text(&entry.reason)), ("costFuncInfoList", json::texts(&entry.cost_func_info))])
    });
    json::puts(session, texts);
    Ok(Value::Nil)
}
