//! `list_peer_configs`: the configurations of all peers.

use super::config;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_peer_configs",
    aliases: &[],
    summary: "the configurations of all peers",
    help: "\
Prints the cluster keys, endpoints and settings of all peers.

  hbase> list_peer_configs
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let peers = session.wait(admin.replication_peers(None))?;
    for peer in &peers {
        session.print.row(&["PeerId", &peer.id]);
        config::print(session, &peer.config);
        session.print.row(&[" "]);
    }
    let ids = peers.iter().map(|peer| (Value::text(&peer.id), Value::Nil));
    Ok(Value::hash(ids.collect()))
}
