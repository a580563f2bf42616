//! `get_table`: a reference to a table.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;

pub const COMMAND: Command = Command {
    name: "get_table",
    aliases: &[],
    summary: "a reference to a table",
    help: "\
Gives a reference to a table, for calls such as t.put and t.scan; see table_help.

  hbase> t = get_table 'ns1:t1'
  hbase> t.scan
",
    arity: Arity::at_least(1),
    run,
};

fn run(_session: &mut Session, arguments: Arguments) -> Run {
    let name = TableName::parse(&arguments.text(0))?;
    Ok(Value::Table(name.to_string().into()))
}
