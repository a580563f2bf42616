//! `splitormerge_enabled`: whether regions may split, or merge.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "splitormerge_enabled",
    aliases: &[],
    summary: "whether regions may split, or merge",
    help: "\
Prints whether regions may split, or merge.

  hbase> splitormerge_enabled 'SPLIT'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let which = super::splitormerge_switch::which(&arguments.text(0))?;
    let admin = session.admin()?;
    let enabled = session.wait(admin.is_split_or_merge_enabled(which))?;
    session.print.row(&[enabled.to_string()]);
    Ok(Value::Bool(enabled))
}
