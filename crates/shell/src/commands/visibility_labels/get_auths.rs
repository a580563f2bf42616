//! `get_auths`: the labels of a user.

use super::feature;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "get_auths",
    aliases: &[],
    summary: "the labels of a user",
    help: "\
Lists the visibility labels of a user, or of a group behind @.

  hbase> get_auths 'user1'
  hbase> get_auths '@group1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    feature::check(session)?;
    let admin = session.admin()?;
    let labels = session.wait(admin.auths(&arguments.text(0)))?;
    labels.iter().for_each(|label| session.print.row(&[label]));
    Ok(Value::texts(labels))
}
