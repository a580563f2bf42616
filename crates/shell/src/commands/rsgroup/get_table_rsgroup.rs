//! `get_table_rsgroup`: a table's group.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;
use martite_client::admin::GroupOf;

pub const COMMAND: Command = Command {
    name: "get_table_rsgroup",
    aliases: &[],
    summary: "a table's group",
    help: "\
Prints the group of a table.

  hbase> get_table_rsgroup 'myTable'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = arguments.text(0);
    let table = TableName::parse(&name)?;
    let admin = session.admin()?;
    let group = session.wait(admin.rsgroup(&GroupOf::Table(table)))?;
    let group = group.ok_or_else(|| Failure::argument(format!("Table has no group: {name}")))?;
    session.print.row(&[group.name]);
    session.print.footer(Some(1));
    Ok(Value::Nil)
}
