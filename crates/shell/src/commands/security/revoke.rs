//! `revoke`: takes a user's rights.

use super::access;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "revoke",
    aliases: &[],
    summary: "takes a user's rights",
    help: "\
Takes a user's, or behind @ a group's, rights: all, those in a namespace behind @, in a table, in a family or column.

  hbase> revoke 'bobsmith'
  hbase> revoke '@admins'
  hbase> revoke 'bobsmith', '@ns1'
  hbase> revoke 'bobsmith', 't1', 'f1', 'col1'
  hbase> revoke 'bobsmith', 'ns1:t1', 'f1', 'col1'
",
    arity: Arity::between(1, 4),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    access::check_authorization(session)?;
    let scope = access::scope(session, &arguments, 1)?;
    let admin = session.admin()?;
    session.wait(admin.revoke(&arguments.text(0), &scope, &[]))?;
    Ok(Value::Nil)
}
