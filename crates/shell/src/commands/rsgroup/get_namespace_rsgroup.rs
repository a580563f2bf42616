//! `get_namespace_rsgroup`: a namespace's group.

use super::members;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "get_namespace_rsgroup",
    aliases: &[],
    summary: "a namespace's group",
    help: "\
Prints the group of a namespace.

  hbase> get_namespace_rsgroup 'ns1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let namespace = session.wait(admin.namespace_descriptor(&arguments.text(0)))?;
    if let Some(group) = namespace.configuration.get(members::GROUP_KEY) {
        session.print.row(&[group]);
    }
    session.print.footer(Some(1));
    Ok(Value::Nil)
}
