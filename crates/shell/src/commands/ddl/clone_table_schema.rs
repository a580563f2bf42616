//! `clone_table_schema`: a table like another, without its data.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::{TableDescriptor, TableName};

pub const COMMAND: Command = Command {
    name: "clone_table_schema",
    aliases: &[],
    summary: "make an empty table like another",
    help: "\
Makes a table with the families, settings and, unless the third argument is false, the regions of another; without its data.

  hbase> clone_table_schema 't1', 't2'
  hbase> clone_table_schema 't1', 't2', false
",
    arity: Arity::between(2, 3),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let source = TableName::parse(&arguments.text(0))?;
    let target = TableName::parse(&arguments.text(1))?;
    let admin = session.admin()?;
    let descriptor = session.wait(async { admin.table_descriptor(&source).await })?;
    let mut splits = Vec::new();
    if arguments.get(2).is_none_or(Value::is_true) {
        let regions = session.wait(async { admin.regions(&source).await })?;
        splits = regions.iter().map(|r| r.info.start_key().clone()).filter(|key| !key.is_empty()).collect();
    }
    let mut copy = TableDescriptor::new(target);
    copy.attributes = descriptor.attributes.clone();
    for family in descriptor.families() {
        copy.set_family(family.clone());
    }
    let splits: Vec<&[u8]> = splits.iter().map(|key| &key[..]).collect();
    session.wait(async { admin.create_table(&copy, &splits).await })?;
    Ok(Value::Nil)
}
