//! `delete_table_snapshots`: deletes the snapshots of tables that match.

use super::listing;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "delete_table_snapshots",
    aliases: &[],
    summary: "deletes the snapshots of tables that match",
    help: "\
Deletes all snapshots whose tables, and whose names, match regular expressions; asks before.

  hbase> delete_table_snapshots 'tableName'
  hbase> delete_table_snapshots 'tableName.*'
  hbase> delete_table_snapshots 'tableName', 'snapshotName.*'
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let (tables, names) = (arguments.text(0), arguments.text_or(1, ".*"));
    let found = listing::find(session, Some(&tables), &names)?;
    listing::print(session, &found);
    if found.is_empty() {
        session.print.puts(format!(
            "No snapshots matched the table name regular expression {tables} and the snapshot name regular \
             expression {names}"
        ));
        return Ok(Value::Nil);
    }
    session.print.puts(format!("\nDelete the above {} snapshots (y/n)?", found.len()));
    if !session.read_line().unwrap_or_default().to_lowercase().contains('y') {
        return Ok(Value::Nil);
    }
    session.restart_clock();
    let admin = session.admin()?;
    for snapshot in &found {
        let name = &snapshot.name;
        match session.wait(admin.delete_snapshot(name)) {
            Ok(()) => session.print.puts(format!("Successfully deleted snapshot: {name}\n")),
            Err(failure) => {
                let text = failure.java_text();
                session.print.puts(format!("Failed to delete snapshot: {name}, due to below exception,\n{text}\n"));
            }
        }
    }
    Ok(Value::Nil)
}
