//! `update_peer_config`: changes the settings of a peer.

use super::config;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "update_peer_config",
    aliases: &[],
    summary: "changes the settings of a peer",
    help: "\
Sets settings of a peer.

  hbase> update_peer_config '1', DATA => { \"data1\" => \"value1\" }
  hbase> update_peer_config '1', CONFIG => { \"config1\" => \"value1\", \"config2\" => \"value2\" }
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    config::change(session, &arguments.text(0), |peer| config::set_pairs(peer, &mut arguments.options(1)?))
}
