//! `change_sft`: changes how the store files of a table, or a family, are tracked.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;

pub const COMMAND: Command = Command {
    name: "change_sft",
    aliases: &[],
    summary: "changes how the store files of a table, or a family, are tracked",
    help: "\
Changes the store file tracker of a table, or of one family: DEFAULT, FILE or MIGRATION.

  hbase> change_sft 't1','FILE'
  hbase> change_sft 't2','cf1','FILE'
",
    arity: Arity::at_least(0),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    match arguments.len() {
        2 => {
            let table = TableName::parse(&arguments.text(0))?;
            session.wait(admin.modify_table_file_tracker(&table, &arguments.text(1)))?;
        }
        3 => {
            let table = TableName::parse(&arguments.text(0))?;
            let family = arguments.bytes(1);
            session.wait(admin.modify_family_file_tracker(&table, &family, &arguments.text(2)))?;
        }
        _ => return Err(Failure::argument("Argument length should be two or three.")),
    }
    Ok(Value::Nil)
}
