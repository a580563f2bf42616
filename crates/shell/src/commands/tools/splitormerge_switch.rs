//! `splitormerge_switch`: whether regions split, or merge.

use crate::commands::arguments::is_java_true;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_client::admin::SplitOrMerge;

pub const COMMAND: Command = Command {
    name: "splitormerge_switch",
    aliases: &[],
    summary: "whether regions split, or merge",
    help: "\
Switches splits or merges of regions on or off; prints what it was before.

  hbase> splitormerge_switch 'SPLIT', true
  hbase> splitormerge_switch 'MERGE', false
",
    arity: Arity::exactly(2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let which = which(&arguments.text(0))?;
    let on = is_java_true(&arguments.values()[1]);
    let admin = session.admin()?;
    let before = session.wait(admin.set_split_or_merge(which, on, false))?;
    session.print.row(&[before.to_string()]);
    Ok(Value::Bool(before))
}

/// SPLIT or MERGE.
pub(crate) fn which(name: &str) -> Run<SplitOrMerge> {
    match name {
        "SPLIT" => Ok(SplitOrMerge::Split),
        "MERGE" => Ok(SplitOrMerge::Merge),
        _ => Err(Failure::argument("only SPLIT or MERGE accepted for type!")),
    }
}
