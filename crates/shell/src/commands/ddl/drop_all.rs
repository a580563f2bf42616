//! `drop_all`: every table that matches, after a question.

use super::matching::{Words, for_all};
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;

pub const COMMAND: Command = Command {
    name: "drop_all",
    aliases: &[],
    summary: "drop the tables that match a pattern",
    help: "\
Drops every table whose whole name matches a regular expression; asks before.

  hbase> drop_all 't.*'
  hbase> drop_all 'ns:.*'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let act = |name: TableName| {
        let admin = admin.clone();
        async move { admin.delete_table(&name).await }
    };
    for_all(session, &arguments.text(0), &Words { verb: "Drop", past: "dropped" }, act)?;
    Ok(Value::Nil)
}
