//! `list_enabled_tables`: the tables that are enabled.

use super::list::listed;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_enabled_tables",
    aliases: &[],
    summary: "the tables that are enabled",
    help: "\
Lists the tables that are enabled.

  hbase> list_enabled_tables
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    session.print.header(&["TABLE"]);
    let admin = session.admin()?;
    let names = session.wait(async { admin.table_names_by_state(true).await })?;
    Ok(listed(session, &names))
}
