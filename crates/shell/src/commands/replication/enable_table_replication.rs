//! `enable_table_replication`: has a table replicated.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;

pub const COMMAND: Command = Command {
    name: "enable_table_replication",
    aliases: &[],
    summary: "has a table replicated",
    help: "\
Has a table replicated.

  hbase> enable_table_replication 'table_name'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = arguments.text(0);
    let table = TableName::parse(&name)?;
    let admin = session.admin()?;
    session.wait(admin.enable_table_replication(&table))?;
    session.print.puts(format!("The replication of table '{name}' successfully enabled"));
    Ok(Value::Nil)
}
