//! `list_namespace_tables`: the tables of a namespace.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_namespace_tables",
    aliases: &[],
    summary: "list the tables of a namespace",
    help: "\
Lists the tables of a namespace.

  hbase> list_namespace_tables 'ns1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    session.print.header(&["TABLE"]);
    let name = arguments.text(0);
    let admin = session.admin()?;
    let tables = session.wait(async { admin.table_names_of_namespace(&name).await })?;
    let names: Vec<&str> = tables.iter().map(|table| table.qualifier()).collect();
    for name in &names {
        session.print.row(&[name]);
    }
    session.print.footer(Some(names.len() as u64));
    Ok(Value::texts(names))
}
