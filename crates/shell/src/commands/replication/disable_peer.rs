//! `disable_peer`: has a peer wait; what is written is kept for it.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "disable_peer",
    aliases: &[],
    summary: "has a peer wait; what is written is kept for it",
    help: "\
Has a peer wait; what is written is kept for it.

  hbase> disable_peer '1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    session.wait(admin.disable_replication_peer(&arguments.text(0)))?;
    Ok(Value::Nil)
}
