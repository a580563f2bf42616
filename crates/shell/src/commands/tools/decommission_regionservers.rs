//! `decommission_regionservers`: no region goes to these servers any more.

use crate::commands::arguments::{is_java_true, texts};
use crate::commands::target;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "decommission_regionservers",
    aliases: &[],
    summary: "no region goes to these servers any more",
    help: "\
No region goes to these servers any more; with `true`, those that are there leave.

  hbase> decommission_regionservers 'server'
  hbase> decommission_regionservers 'server,port'
  hbase> decommission_regionservers 'server,port,starttime'
  hbase> decommission_regionservers ['server1','server2'], true
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let names = &arguments.values()[0];
    if !matches!(names, Value::Array(_) | Value::Text(_)) {
        let (class, text) = (names.class(), names.inspect());
        return Err(Failure::argument(format!("{class} of {text} is not of Array/String type")));
    }
    let offload = match arguments.values().get(1) {
        None => false,
        Some(value @ (Value::Bool(_) | Value::Text(_))) => is_java_true(value),
        Some(other) => return Err(Failure::argument(format!("{} is not a boolean value", other.to_text()))),
    };
    let servers = target::servers(session, &texts(names), false)?;
    if servers.is_empty() {
        let text = format!("Could not find any server(s) with specified name(s): {}", names.to_text());
        return Err(Failure::argument(text));
    }
    let admin = session.admin()?;
    session.wait(admin.decommission_servers(&servers, offload))?;
    Ok(Value::Nil)
}
