//! `set_auths`: gives labels to a user.

use super::feature;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "set_auths",
    aliases: &[],
    summary: "gives labels to a user",
    help: "\
Gives visibility labels to a user, or to a group behind @.

  hbase> set_auths 'user1', ['SECRET','PRIVATE']
  hbase> set_auths '@group1', ['SECRET','PRIVATE']
",
    arity: Arity::at_least(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    feature::check(session)?;
    let labels = feature::labels(&arguments, 1);
    let admin = session.admin()?;
    session.wait(admin.set_auths(&arguments.text(0), &labels))?;
    Ok(Value::Nil)
}
