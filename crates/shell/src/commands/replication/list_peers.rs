//! `list_peers`: the peers that get what is written here.

use super::config;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_client::pb;

pub const COMMAND: Command = Command {
    name: "list_peers",
    aliases: &[],
    summary: "the peers that get what is written here",
    help: "\
Lists the peers. What a peer that gets all tables does not get is behind an exclamation mark.

  hbase> list_peers
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let peers = session.wait(admin.replication_peers(None))?;
    session.print.header(&[
        "PEER_ID",
        "CLUSTER_KEY",
        "ENDPOINT_CLASSNAME",
        "STATE",
        "REPLICATE_ALL",
        "NAMESPACES",
        "TABLE_CFS",
        "BANDWIDTH",
        "SERIAL",
    ]);
    for peer in &peers {
        let config = &peer.config;
        let is_enabled = peer.state.state() == pb::replication_state::State::Enabled;
        let (namespaces, tables) = if config.replicate_all() {
            (
                config::excluded(config::namespaces_text(&config.exclude_namespaces)),
                config::excluded(config::tables_text(&config.exclude_table_cfs)?),
            )
        } else {
            (config::namespaces_text(&config.namespaces), config::tables_text(&config.table_cfs)?)
        };
        session.print.row(&[
            peer.id.clone(),
            config.clusterkey().to_owned(),
            config.replication_endpoint_impl().to_owned(),
            if is_enabled { "ENABLED" } else { "DISABLED" }.to_owned(),
            config.replicate_all().to_string(),
            namespaces.unwrap_or_default(),
            tables.unwrap_or_default(),
            config.bandwidth().to_string(),
            config.serial().to_string(),
        ]);
    }
    session.print.footer(None);
    Ok(Value::Nil)
}
