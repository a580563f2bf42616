//! `set_peer_replicate_all`: whether a peer gets all tables.

use super::config;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "set_peer_replicate_all",
    aliases: &[],
    summary: "whether a peer gets all tables",
    help: "\
Whether a peer gets all tables.

  hbase> set_peer_replicate_all '1', true
  hbase> set_peer_replicate_all '1', false
",
    arity: Arity::exactly(2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    config::change(session, &arguments.text(0), |peer| {
        peer.replicate_all = Some(arguments.values()[1].is_true());
        Ok(())
    })
}
