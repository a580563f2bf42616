//! `alter_status`: how far a change of a table is.

use super::alteration::{altered, wait_for_regions};
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "alter_status",
    aliases: &[],
    summary: "how many regions have a changed schema",
    help: "\
Says how many regions of a table have its new schema, until all have.

  hbase> alter_status 'ns1:t1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let text = arguments.string(0, "Table name")?;
    let name = altered(session, &text)?;
    wait_for_regions(session, &name)?;
    Ok(Value::Nil)
}
