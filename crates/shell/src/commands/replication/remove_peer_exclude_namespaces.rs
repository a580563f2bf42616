//! `remove_peer_exclude_namespaces`: removes namespaces that a peer does not get.

use super::config;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "remove_peer_exclude_namespaces",
    aliases: &[],
    summary: "removes namespaces that a peer does not get",
    help: "\
Removes namespaces that a peer does not get.

  hbase> remove_peer_exclude_namespaces '1', [\"ns1\", \"ns2\"]
",
    arity: Arity::exactly(2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    config::change(session, &arguments.text(0), |peer| {
        config::remove(&mut peer.exclude_namespaces, &config::texts(&arguments, 1));
        Ok(())
    })
}
