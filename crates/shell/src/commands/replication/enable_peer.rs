//! `enable_peer`: has a peer get what is written.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "enable_peer",
    aliases: &[],
    summary: "has a peer get what is written",
    help: "\
Has a peer get what is written.

  hbase> enable_peer '1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    session.wait(admin.enable_replication_peer(&arguments.text(0)))?;
    Ok(Value::Nil)
}
