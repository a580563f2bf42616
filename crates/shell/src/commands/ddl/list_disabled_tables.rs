//! `list_disabled_tables`: the tables that are disabled.

use super::list::listed;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_disabled_tables",
    aliases: &[],
    summary: "the tables that are disabled",
    help: "\
Lists the tables that are disabled.

  hbase> list_disabled_tables
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    session.print.header(&["TABLE"]);
    let admin = session.admin()?;
    let names = session.wait(async { admin.table_names_by_state(false).await })?;
    Ok(listed(session, &names))
}
