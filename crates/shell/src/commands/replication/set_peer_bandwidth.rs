//! `set_peer_bandwidth`: the bytes a second that a peer gets from each server; 0: as many as go.

use super::config;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "set_peer_bandwidth",
    aliases: &[],
    summary: "the bytes a second that a peer gets from each server; 0: as many as go",
    help: "\
The bytes a second that a peer gets from each server; 0: as many as go.

  hbase> set_peer_bandwidth '2', 20971520
  hbase> set_peer_bandwidth '1'
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    config::change(session, &arguments.text(0), |peer| {
        peer.bandwidth = Some(match arguments.get(1) {
            None => 0,
            Some(value) => crate::commands::arguments::integer("bandwidth", value)?,
        });
        Ok(())
    })
}
