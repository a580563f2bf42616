//! `compaction_switch`: switches compactions on servers on or off.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_catalog::ServerName;

pub const COMMAND: Command = Command {
    name: "compaction_switch",
    aliases: &[],
    summary: "switches compactions on servers on or off",
    help: "\
Switches compactions on or off on the servers that are named, or on all; prints what it was before. A server forgets it
when it stops.

  hbase> compaction_switch true
  hbase> compaction_switch false
  hbase> compaction_switch true, 'server2,port,startcode', 'server1,port,startcode'
",
    arity: Arity::at_least(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    // HBase's shell prints the brackets and quotes, too.
    session.print.header(&["['SERVER'", "'PREV_STATE']"]);
    let on = arguments.text(0).to_lowercase();
    if on != "true" && on != "false" {
        let text = "compaction_switch first argument only accepts \"true\" or \"false\"";
        return Err(Failure::argument(text));
    }
    let mut servers = Vec::new();
    for name in arguments.flattened(1) {
        let name = name.to_text();
        let invalid = |_| Failure::argument(format!("Invalid ServerName format: {name}"));
        servers.push(ServerName::parse(&name).map_err(invalid)?);
    }
    let admin = session.admin()?;
    let before = session.wait(admin.compaction_switch(on == "true", &servers))?;
    for (server, on) in &before {
        session.print.row(&[server.to_string(), on.to_string()]);
    }
    session.print.footer(Some(before.len() as u64));
    Ok(Value::Nil)
}
