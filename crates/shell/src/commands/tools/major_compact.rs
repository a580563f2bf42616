//! `major_compact`: asks for a major compaction of a table or a region.

use crate::commands::target::{self, Target};
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "major_compact",
    aliases: &[],
    summary: "asks for a major compaction of a table or a region",
    help: "\
Asks for a major compaction of all regions of a table, or of one region; of one family, or of all. It does not wait for the end.

  hbase> major_compact 'ns1:t1'
  hbase> major_compact 't1'
  hbase> major_compact 'r1'
  hbase> major_compact 'r1', 'c1'
  hbase> major_compact 't1', 'c1'
",
    arity: Arity::between(1, 3),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let family = arguments.get(1).map(Value::to_bytes);
    match arguments.text_or(2, "NORMAL").as_str() {
        "NORMAL" => {}
        "MOB" => return Err(Failure::runtime("MOB files are not known to this shell")),
        _ => return Err(Failure::argument("only NORMAL or MOB accepted for type!")),
    }
    let target = target::region_or_table(session, &arguments.bytes(0))?;
    let admin = session.admin()?;
    match target {
        Target::Region(region) => session.wait(admin.compact_region_family(&region.info, family.as_deref(), true))?,
        Target::Table(table) => session.wait(admin.compact_table(&table, family.as_deref(), true))?,
    }
    Ok(Value::Nil)
}
