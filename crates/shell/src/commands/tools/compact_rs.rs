//! `compact_rs`: asks for a compaction of all regions of a server.

use crate::commands::target;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "compact_rs",
    aliases: &[],
    summary: "asks for a compaction of all regions of a server",
    help: "\
Asks for a compaction, or with `true` a major one, of all regions of a server. It does not wait for the end.

  hbase> compact_rs 'host187.example.com,60020'
  hbase> compact_rs 'host187.example.com,60020,1289493121758'
  hbase> compact_rs 'host187.example.com,60020,1289493121758', true
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let server = target::server(session, &arguments.text(0))?;
    let major = arguments.get(1).is_some_and(Value::is_true);
    let admin = session.admin()?;
    session.wait(admin.compact_server(&server, major))?;
    Ok(Value::Nil)
}
