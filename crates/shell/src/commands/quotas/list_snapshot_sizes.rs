//! `list_snapshot_sizes`: the sizes of snapshots that count towards quotas.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_snapshot_sizes",
    aliases: &[],
    summary: "the sizes of snapshots that count towards quotas",
    help: "\
Lists snapshots of tables with a limit of space, with the bytes that are theirs alone.

  hbase> list_snapshot_sizes
",
    arity: Arity::between(0, 1),
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    session.print.header(&["SNAPSHOT", "SIZE"]);
    let admin = session.admin()?;
    let sizes = session.wait(admin.snapshot_sizes())?;
    for (snapshot, bytes) in &sizes {
        session.print.row(&[snapshot.clone(), bytes.to_string()]);
    }
    session.print.footer(Some(sizes.len() as u64));
    Ok(Value::Nil)
}
