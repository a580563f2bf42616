//! `remove_peer`: removes a peer.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "remove_peer",
    aliases: &[],
    summary: "removes a peer",
    help: "\
Removes a peer.

  hbase> remove_peer '1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    session.wait(admin.remove_replication_peer(&arguments.text(0)))?;
    Ok(Value::Nil)
}
