//! `show_peer_tableCFs`: the tables and families that a peer gets.

use super::config;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "show_peer_tableCFs",
    aliases: &[],
    summary: "the tables and families that a peer gets",
    help: "\
Prints the tables and families that a peer gets.

  hbase> show_peer_tableCFs '1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let peer = session.wait(admin.replication_peer_config(&arguments.text(0)))?;
    let text = config::tables_text(&peer.table_cfs)?;
    session.print.puts(text.as_deref().unwrap_or_default());
    Ok(text.map_or(Value::Nil, Value::text))
}
