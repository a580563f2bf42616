//! `normalizer_enabled`: whether the normalizer is on.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "normalizer_enabled",
    aliases: &[],
    summary: "whether the normalizer is on",
    help: "\
Prints whether the normalizer is on.

  hbase> normalizer_enabled
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let state = session.wait(admin.is_normalizer_enabled())?;
    session.print.row(&[state.to_string()]);
    Ok(Value::Bool(state))
}
