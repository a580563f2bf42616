//! `clone_snapshot`: makes a table of a snapshot.

use super::listing;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;

pub const COMMAND: Command = Command {
    name: "clone_snapshot",
    aliases: &[],
    summary: "makes a table of a snapshot",
    help: "\
Makes a new table of a snapshot; RESTORE_ACL: with its permissions; CLONE_SFT: with another store file tracker.

  hbase> clone_snapshot 'snapshotName', 'tableName'
  hbase> clone_snapshot 'snapshotName', 'namespace:tableName'
  hbase> clone_snapshot 'snapshotName', 'namespace:tableName', {RESTORE_ACL=>true, CLONE_SFT=>'FILE'}
",
    arity: Arity::between(2, 3),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let mut options = listing::options(&arguments, 2)?;
    let restore_acl = options.take("RESTORE_ACL").is_some();
    let tracker = options.take_text("CLONE_SFT");
    let table = TableName::parse(&arguments.text(1))?;
    let admin = session.admin()?;
    let name = arguments.text(0);
    match session.wait(admin.clone_snapshot(&name, &table, restore_acl, tracker.as_deref())) {
        Ok(()) => Ok(Value::Nil),
        Err(failure) if failure.is("TableExistsException") => {
            Err(Failure::runtime(format!("Table already exists: {}!", arguments.text(1))))
        }
        Err(failure) if failure.is("NamespaceNotFoundException") => {
            Err(Failure::runtime(format!("Unknown namespace: {}!", table.namespace())))
        }
        Err(failure) => Err(failure),
    }
}
