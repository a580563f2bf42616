//! `exists`: whether there is such a table.

use super::table::exists;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "exists",
    aliases: &[],
    summary: "whether there is such a table",
    help: "\
Says whether there is a table of this name.

  hbase> exists 'ns1:t1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let text = arguments.text(0);
    let yes = exists(session, &text)?;
    session.print.row(&[format!("Table {text} {}", if yes { "does exist" } else { "does not exist" })]);
    Ok(Value::Bool(yes))
}
