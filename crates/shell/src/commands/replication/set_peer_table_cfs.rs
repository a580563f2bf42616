//! `set_peer_tableCFs`: sets the tables and families that a peer gets.

use super::config;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "set_peer_tableCFs",
    aliases: &[],
    summary: "sets the tables and families that a peer gets",
    help: "\
Sets the tables and families that a peer gets.

  hbase> set_peer_tableCFs '1', { \"table1\" => [], \"ns2:table2\" => [\"cf1\", \"cf2\"] }
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    config::change(session, &arguments.text(0), |peer| {
        peer.table_cfs = config::table_cfs(&config::given(&arguments, 1))?;
        Ok(())
    })
}
