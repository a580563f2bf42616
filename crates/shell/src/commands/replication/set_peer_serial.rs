//! `set_peer_serial`: whether a peer gets everything in the order of writing.

use super::config;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "set_peer_serial",
    aliases: &[],
    summary: "whether a peer gets everything in the order of writing",
    help: "\
Whether a peer gets everything in the order of writing.

  hbase> set_peer_serial '1', true
",
    arity: Arity::exactly(2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    config::change(session, &arguments.text(0), |peer| {
        peer.serial = Some(arguments.values()[1].is_true());
        Ok(())
    })
}
