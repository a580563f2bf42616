//! `show_rsgroup_config`: the settings of a group.

use super::members;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "show_rsgroup_config",
    aliases: &[],
    summary: "the settings of a group",
    help: "\
Lists the settings of a group.

  hbase> show_rsgroup_config 'group'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    // HBase's shell prints the quotes, too.
    session.print.header(&["'KEY'", "'VALUE'"]);
    let group = members::group(session, &arguments.text(0))?;
    group.configuration.iter().for_each(|pair| session.print.row(&[&pair.name, &pair.value]));
    session.print.footer(Some(group.configuration.len() as u64));
    Ok(Value::Nil)
}
