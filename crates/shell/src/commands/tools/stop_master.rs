//! `stop_master`: stops the active master.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "stop_master",
    aliases: &[],
    summary: "stops the active master",
    help: "\
Stops the active master. For experts.

  hbase> stop_master
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    session.wait(admin.stop_master())?;
    Ok(Value::Nil)
}
