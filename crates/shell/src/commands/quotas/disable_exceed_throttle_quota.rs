//! `disable_exceed_throttle_quota`: limits may not be exceeded.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "disable_exceed_throttle_quota",
    aliases: &[],
    summary: "limits may not be exceeded",
    help: "\
Limits may not be exceeded; prints what was so before.

  hbase> disable_exceed_throttle_quota
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let before = session.wait(admin.set_exceed_throttle_quota(false))?;
    session.print.row(&[format!("Previous exceed throttle quota enabled : {before}")]);
    Ok(Value::Bool(before))
}
