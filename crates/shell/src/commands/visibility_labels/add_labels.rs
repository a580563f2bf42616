//! `add_labels`: defines visibility labels.

use super::feature;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "add_labels",
    aliases: &[],
    summary: "defines visibility labels",
    help: "\
Defines visibility labels.

  hbase> add_labels ['SECRET','PRIVATE']
",
    arity: Arity::at_least(0),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    feature::check(session)?;
    let labels = feature::labels(&arguments, 0);
    if labels.is_empty() {
        return Err(Failure::argument("Arguments cannot be null"));
    }
    let admin = session.admin()?;
    session.wait(admin.add_labels(&labels))?;
    Ok(Value::Nil)
}
