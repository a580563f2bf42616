//! `remove_peer_exclude_tableCFs`: removes tables and families that a peer does not get.

use super::config;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "remove_peer_exclude_tableCFs",
    aliases: &[],
    summary: "removes tables and families that a peer does not get",
    help: "\
Removes tables and families that a peer does not get.

  hbase> remove_peer_exclude_tableCFs '1', { \"table1\" => [], \"ns2:table2\" => [\"cf1\", \"cf2\"] }
",
    arity: Arity::exactly(2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    config::change(session, &arguments.text(0), |peer| {
        config::remove_tables(&mut peer.exclude_table_cfs, &config::table_cfs(&config::given(&arguments, 1))?);
        Ok(())
    })
}
