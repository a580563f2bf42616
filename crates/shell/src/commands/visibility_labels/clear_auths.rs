//! `clear_auths`: takes labels from a user.

use super::feature;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "clear_auths",
    aliases: &[],
    summary: "takes labels from a user",
    help: "\
Takes visibility labels from a user, or from a group behind @.

  hbase> clear_auths 'user1', ['SECRET','PRIVATE']
  hbase> clear_auths '@group1', ['SECRET','PRIVATE']
",
    arity: Arity::at_least(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    feature::check(session)?;
    let labels = feature::labels(&arguments, 1);
    let admin = session.admin()?;
    session.wait(admin.clear_auths(&arguments.text(0), &labels))?;
    Ok(Value::Nil)
}
