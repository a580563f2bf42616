//! `enable_exceed_throttle_quota`: limits may be exceeded while the region server has room.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "enable_exceed_throttle_quota",
    aliases: &[],
    summary: "limits may be exceeded while the region server has room",
    help: "\
Limits may be exceeded while the region server has room; prints what was so before.

  hbase> enable_exceed_throttle_quota
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let before = session.wait(admin.set_exceed_throttle_quota(true))?;
    session.print.row(&[format!("Previous exceed throttle quota enabled : {before}")]);
    Ok(Value::Bool(before))
}
