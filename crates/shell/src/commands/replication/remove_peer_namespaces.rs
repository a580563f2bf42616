//! `remove_peer_namespaces`: removes namespaces that a peer gets.

use super::config;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "remove_peer_namespaces",
    aliases: &[],
    summary: "removes namespaces that a peer gets",
    help: "\
Removes namespaces that a peer gets.

  hbase> remove_peer_namespaces '1', [\"ns1\", \"ns2\"]
",
    arity: Arity::exactly(2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    config::change(session, &arguments.text(0), |peer| {
        config::remove(&mut peer.namespaces, &config::texts(&arguments, 1));
        Ok(())
    })
}
