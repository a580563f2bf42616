//! `delete_all_snapshot`: deletes the snapshots that match.

use super::listing;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "delete_all_snapshot",
    aliases: &[],
    summary: "deletes the snapshots that match",
    help: "\
Deletes all snapshots whose names match a regular expression; asks before.

  hbase> delete_all_snapshot 's.*'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let regex = arguments.text(0);
    let found = listing::find(session, None, &regex)?;
    listing::print(session, &found);
    if found.is_empty() {
        session.print.puts(format!("No snapshots matched the regex {regex}"));
        return Ok(Value::Nil);
    }
    session.print.puts(format!("\nDelete the above {} snapshots (y/n)?", found.len()));
    if !session.read_line().unwrap_or_default().to_lowercase().contains('y') {
        return Ok(Value::Nil);
    }
    session.restart_clock();
    let admin = session.admin()?;
    for snapshot in &found {
        // What is left is listed below.
        let _ = session.wait(admin.delete_snapshot(&snapshot.name));
    }
    session.stop_clock();
    let left = listing::find(session, None, &regex)?;
    if found.len() > left.len() {
        session.print.puts(format!("{} snapshots successfully deleted.", found.len() - left.len()));
    }
    if !left.is_empty() {
        session.print.puts(format!("\nFailed to delete the below {} snapshots.", left.len()));
        listing::print(session, &left);
    }
    Ok(Value::Nil)
}
