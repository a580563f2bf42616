//! `list_labels`: the visibility labels that are defined.

use super::feature;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_labels",
    aliases: &[],
    summary: "the visibility labels that are defined",
    help: "\
Lists the visibility labels, all or those that a Java regular expression matches.

  hbase> list_labels 'secret.*'
  hbase> list_labels
",
    arity: Arity::between(0, 1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    feature::check(session)?;
    let admin = session.admin()?;
    let labels = session.wait(admin.list_labels(&arguments.text_or(0, ".*")))?;
    labels.iter().for_each(|label| session.print.row(&[label]));
    Ok(Value::texts(labels))
}
