//! `get_peer_config`: the configuration of a peer.

use super::config;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "get_peer_config",
    aliases: &[],
    summary: "the configuration of a peer",
    help: "\
Prints the cluster key, endpoint and settings of a peer.

  hbase> get_peer_config '1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let peer = session.wait(admin.replication_peer_config(&arguments.text(0)))?;
    config::print(session, &peer);
    Ok(Value::Nil)
}
