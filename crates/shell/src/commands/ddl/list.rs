//! `list`: the tables of users.

use super::matching::matching;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;

pub const COMMAND: Command = Command {
    name: "list",
    aliases: &[],
    summary: "list tables",
    help: "\
Lists the tables of users; with a regular expression, those whose whole name matches.

  hbase> list
  hbase> list 'abc.*'
  hbase> list 'ns:.*'
",
    arity: Arity::between(0, 1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    session.print.header(&["TABLE"]);
    let names = matching(session, &arguments.text_or(0, ".*"))?;
    Ok(listed(session, &names))
}

/// Prints names and their number; they are the value, too.
pub fn listed(session: &mut Session, names: &[TableName]) -> Value {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    for name in &names {
        session.print.row(&[name]);
    }
    session.print.footer(Some(names.len() as u64));
    Value::texts(names)
}
