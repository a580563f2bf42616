//! `is_disabled`: whether a table is disabled.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;

pub const COMMAND: Command = Command {
    name: "is_disabled",
    aliases: &[],
    summary: "whether a table is disabled",
    help: "\
Says whether a table is disabled.

  hbase> is_disabled 'ns1:t1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = TableName::parse(&arguments.text(0))?;
    let admin = session.admin()?;
    let yes = session.wait(async { admin.is_table_disabled(&name).await })?;
    session.print.row(&[yes.to_string()]);
    Ok(Value::Bool(yes))
}
