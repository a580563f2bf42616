//! `list_snapshots`: the snapshots that there are.

use super::listing;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_snapshots",
    aliases: &[],
    summary: "the snapshots that there are",
    help: "\
Lists the snapshots, all or those whose names match a regular expression.

  hbase> list_snapshots
  hbase> list_snapshots 'abc.*'
",
    arity: Arity::between(0, 1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    session.print.header(&["SNAPSHOT", "TABLE + CREATION TIME + TTL(Sec)"]);
    let found = listing::find(session, None, &arguments.text_or(0, ".*"))?;
    for snapshot in &found {
        let ttl = listing::ttl(snapshot);
        session.print.row(&[snapshot.name.clone(), format!("{} {ttl}", listing::table_and_time(snapshot))]);
    }
    session.print.footer(Some(found.len() as u64));
    Ok(Value::texts(found.iter().map(|snapshot| &snapshot.name)))
}
