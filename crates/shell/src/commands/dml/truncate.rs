//! `truncate`: an empty table of one region in a table's place.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;

pub const COMMAND: Command = Command {
    name: "truncate",
    aliases: &[],
    summary: "empty a table; it has one region then",
    help: "\
Disables a table, drops its data and regions, and makes it anew with one region. truncate_preserve keeps the regions.

  hbase> truncate 't1'
",
    arity: Arity::exactly(1),
    run: |session, arguments| truncate(session, &arguments, false),
};

pub fn truncate(session: &mut Session, arguments: &Arguments, preserve_splits: bool) -> Run {
    let text = arguments.text(0);
    session.print.puts(format!("Truncating '{text}' table (it may take a while):"));
    let name = TableName::parse(&text)?;
    let admin = session.admin()?;
    if session.wait(async { admin.is_table_enabled(&name).await })? {
        session.print.puts("Disabling table...");
        session.print.flush();
        session.wait(async { admin.disable_table(&name).await })?;
    }
    session.print.puts("Truncating table...");
    session.print.flush();
    session.wait(async { admin.truncate_table(&name, preserve_splits).await })?;
    Ok(Value::Nil)
}
