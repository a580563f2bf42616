//! `split`: splits the regions of a table, or one region.

use crate::commands::target::{self, Target};
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "split",
    aliases: &[],
    summary: "splits the regions of a table, or one region",
    help: "\
Splits every region of a table, or one region; before a key, or where the server thinks best. It does not wait for the
end.

  hbase> split 'TABLENAME'
  hbase> split 'REGIONNAME'
  hbase> split 'ENCODED_REGIONNAME'
  hbase> split 'TABLENAME', 'splitKey'
  hbase> split 'REGIONNAME', 'splitKey'
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let key = arguments.get(1).map(Value::to_bytes);
    let target = target::region_or_table(session, &arguments.bytes(0))?;
    let admin = session.admin()?;
    // That it was begun is enough, as in HBase's shell.
    match target {
        Target::Region(region) => drop(session.wait(admin.split_region_async(&region.info, key.as_deref()))?),
        Target::Table(table) => drop(session.wait(admin.split_table_async(&table, key.as_deref()))?),
    }
    Ok(Value::Nil)
}
