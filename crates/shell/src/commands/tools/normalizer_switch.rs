//! `normalizer_switch`: switches the normalizer on or off.

use crate::commands::arguments::is_java_true;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "normalizer_switch",
    aliases: &[],
    summary: "switches the normalizer on or off",
    help: "\
Switches the normalizer on or off; prints what it was before.

  hbase> normalizer_switch true
  hbase> normalizer_switch false
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let on = is_java_true(&arguments.values()[0]);
    let admin = session.admin()?;
    let before = session.wait(admin.set_normalizer(on))?;
    session.print.row(&[before.to_string()]);
    Ok(Value::Bool(before))
}
