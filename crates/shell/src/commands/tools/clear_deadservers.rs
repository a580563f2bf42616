//! `clear_deadservers`: forgets region servers that have died.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::ServerName;

pub const COMMAND: Command = Command {
    name: "clear_deadservers",
    aliases: &[],
    summary: "forgets region servers that have died",
    help: "\
Forgets region servers that have died: all, or those that are named. Prints those that could not be forgotten.

  hbase> clear_deadservers
  hbase> clear_deadservers 'host187.example.com,60020,1289493121758'
",
    arity: Arity::at_least(0),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let mut dead = Vec::new();
    for name in arguments.flattened(0) {
        dead.push(ServerName::parse(&name.to_text())?);
    }
    if dead.is_empty() {
        dead = session.wait(admin.dead_servers())?;
    }
    let left = session.wait(admin.clear_dead_servers(&dead))?;
    if left.is_empty() {
        session.print.row(&["true"]);
        return Ok(Value::array(Vec::new()));
    }
    session.print.row(&["Some dead server clear failed"]);
    session.print.row(&["SERVERNAME"]);
    left.iter().for_each(|server| session.print.row(&[server.to_string()]));
    session.print.footer(Some(left.len() as u64));
    Ok(Value::texts(left.iter().map(ServerName::to_string)))
}
