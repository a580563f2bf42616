//! `set_peer_namespaces`: sets the namespaces that a peer gets.

use super::config;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "set_peer_namespaces",
    aliases: &[],
    summary: "sets the namespaces that a peer gets",
    help: "\
Sets the namespaces that a peer gets.

  hbase> set_peer_namespaces '1', [\"ns1\", \"ns2\"]
  hbase> set_peer_namespaces '1', []
",
    arity: Arity::exactly(2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    config::change(session, &arguments.text(0), |peer| {
        peer.namespaces = config::bytes(&config::texts(&arguments, 1));
        Ok(())
    })
}
