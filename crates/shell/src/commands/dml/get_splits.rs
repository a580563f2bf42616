//! `get_splits`: where a table is split.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::to_string_binary;

pub const COMMAND: Command = Command {
    name: "get_splits",
    aliases: &[],
    summary: "the start keys of a table's regions",
    help: "\
Prints how many regions a table has, and the keys that are between them.

  hbase> get_splits 'ns1:t1'

With a reference to the table:

  hbase> t.get_splits
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let table = session.table(&arguments.text(0))?;
    let locations = session.wait(async { table.locations().await })?;
    let keys = locations.iter().map(|l| l.info.start_key()).filter(|key| !key.is_empty());
    let splits: Vec<String> = keys.map(|key| to_string_binary(key)).collect();
    session.print.puts(format!("Total number of splits = {}", splits.len() + 1));
    for split in &splits {
        session.print.puts(split);
    }
    Ok(Value::texts(splits))
}
