//! `snapshot`: takes a snapshot of a table.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;
use martite_client::admin::SnapshotType;
use martite_client::pb;

pub const COMMAND: Command = Command {
    name: "snapshot",
    aliases: &[],
    summary: "takes a snapshot of a table",
    help: "\
Takes a snapshot of a table. TTL: seconds after which it is deleted; SKIP_FLUSH: without what is only in memory.

  hbase> snapshot 'sourceTable', 'snapshotName'
  hbase> snapshot 'namespace:sourceTable', 'snapshotName', {SKIP_FLUSH => true, MAX_FILESIZE => 21474836480}
  hbase> snapshot 'namespace:sourceTable', 'snapshotName', {TTL => 86400}
",
    arity: Arity::at_least(2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let table = arguments.string(0, "Table name")?;
    let name = arguments.string(1, "Snapshot name")?;
    let table = TableName::parse(&table)?;
    let mut description = pb::SnapshotDescription { name, table: Some(table.to_string()), ..Default::default() };
    for index in 2..arguments.len() {
        let mut options = arguments.options(index)?;
        description.ttl = options.take_integer("TTL")?.filter(|ttl_s| *ttl_s > 0).or(description.ttl);
        description.max_file_size = options.take_integer("MAX_FILESIZE")?.or(description.max_file_size);
        if options.take_any("SKIP_FLUSH").is_some_and(|value| value.is_true()) {
            description.r#type = Some(SnapshotType::Skipflush as i32);
        }
    }
    let admin = session.admin()?;
    session.wait(admin.snapshot(&description))?;
    Ok(Value::Nil)
}
