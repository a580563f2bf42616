//! `set_peer_exclude_namespaces`: sets the namespaces that a peer does not get.

use super::config;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "set_peer_exclude_namespaces",
    aliases: &[],
    summary: "sets the namespaces that a peer does not get",
    help: "\
Sets the namespaces that a peer does not get.

  hbase> set_peer_exclude_namespaces '1', [\"ns1\", \"ns2\"]
  hbase> set_peer_exclude_namespaces '1', []
",
    arity: Arity::exactly(2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    config::change(session, &arguments.text(0), |peer| {
        peer.exclude_namespaces = config::bytes(&config::texts(&arguments, 1));
        Ok(())
    })
}
