//! `drop_namespace`: a namespace without tables.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "drop_namespace",
    aliases: &[],
    summary: "drop a namespace that is empty",
    help: "\
Drops a namespace. It must have no tables.

  hbase> drop_namespace 'ns1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = arguments.text(0);
    let admin = session.admin()?;
    session.wait(async { admin.delete_namespace(&name).await })?;
    Ok(Value::Nil)
}
