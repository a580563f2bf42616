//! `clear_slowlog_responses`: forgets slow and large calls.

use crate::commands::arguments::texts;
use crate::commands::target;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "clear_slowlog_responses",
    aliases: &[],
    summary: "forgets slow and large calls",
    help: "\
Empties the slow logs of all region servers, or of those that are named.

  hbase> clear_slowlog_responses
  hbase> clear_slowlog_responses ['SERVER_NAME1', 'SERVER_NAME2']
",
    arity: Arity::between(0, 1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let servers = match arguments.get(0) {
        None => target::servers(session, &[], true)?,
        Some(Value::Array(_) | Value::Text(_)) => target::servers(session, &texts(&arguments.values()[0]), false)?,
        Some(other) => {
            let (class, text) = (other.class(), other.inspect());
            return Err(Failure::argument(format!("{class} of {text} is not of correct type")));
        }
    };
    let admin = session.admin()?;
    let mut cleared = 0;
    for server in &servers {
        cleared += usize::from(session.wait(admin.clear_slow_log(server))?);
    }
    session.print.puts(format!("Cleared Slowlog responses from {cleared}/{} RegionServers", servers.len()));
    Ok(Value::Nil)
}
