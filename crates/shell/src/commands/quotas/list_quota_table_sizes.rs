//! `list_quota_table_sizes`: the sizes of tables as the master sums them up.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_quota_table_sizes",
    aliases: &[],
    summary: "the sizes of tables as the master sums them up",
    help: "\
Lists the tables that servers report to the master, with their sizes in bytes.

  hbase> list_quota_table_sizes
",
    arity: Arity::between(0, 1),
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    session.print.header(&["TABLE", "SIZE"]);
    let admin = session.admin()?;
    let sizes = session.wait(admin.space_quota_table_sizes())?;
    for (table, bytes) in &sizes {
        session.print.row(&[table.to_string(), bytes.to_string()]);
    }
    session.print.footer(Some(sizes.len() as u64));
    Ok(Value::Nil)
}
