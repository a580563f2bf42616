//! `get_rsgroup`: the servers and tables of a group.

use super::members;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;

pub const COMMAND: Command = Command {
    name: "get_rsgroup",
    aliases: &[],
    summary: "the servers and tables of a group",
    help: "\
Lists the servers and tables of a group.

  hbase> get_rsgroup 'default'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let group = members::group(session, &arguments.text(0))?;
    session.print.header(&["SERVERS"]);
    group.servers.iter().for_each(|server| session.print.row(&[members::address(server)]));
    session.print.footer(None);
    session.print.header(&["TABLES"]);
    for table in &group.tables {
        session.print.row(&[TableName::from_proto(table)?.to_string()]);
    }
    session.print.footer(None);
    Ok(Value::Nil)
}
