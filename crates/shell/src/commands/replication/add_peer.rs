//! `add_peer`: makes a peer that gets what is written here.

use super::config;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_client::pb;

pub const COMMAND: Command = Command {
    name: "add_peer",
    aliases: &[],
    summary: "makes a peer that gets what is written here",
    help: "\
Makes a peer. Without NAMESPACES and TABLE_CFS it gets all tables.

  hbase> add_peer '1', CLUSTER_KEY => \"server1.cie.com:2181:/hbase\"
  hbase> add_peer '1', CLUSTER_KEY => \"server1.cie.com:2181:/hbase\", STATE => \"DISABLED\"
  hbase> add_peer '2', CLUSTER_KEY => \"zk1,zk2,zk3:2182:/hbase-prod\", TABLE_CFS => { \"t1\" => [], \"ns2:t2\" => [\"cf1\"] }
  hbase> add_peer '2', CLUSTER_KEY => \"zk1,zk2,zk3:2182:/hbase-prod\", NAMESPACES => [\"ns1\", \"ns2\"], SERIAL => true
  hbase> add_peer '3', ENDPOINT_CLASSNAME => 'org.example.MyEndpoint', DATA => {\"k\" => \"v\"}, CONFIG => {\"a\" => \"b\"}
",
    arity: Arity::between(1, 3),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    if arguments.get(2).is_some() {
        return Err(Failure::argument("peer_tableCFs should be specified as TABLE_CFS in args"));
    }
    let mut options = match arguments.get(1) {
        None | Some(Value::Hash(_)) => arguments.options(1)?,
        Some(_) => return Err(Failure::argument("args must be a Hash")),
    };
    let endpoint = options.take_text("ENDPOINT_CLASSNAME");
    let key = options.take_text("CLUSTER_KEY");
    if endpoint.is_none() && key.is_none() {
        return Err(Failure::argument("Either ENDPOINT_CLASSNAME or CLUSTER_KEY must be specified."));
    }
    let namespaces = options.take_texts("NAMESPACES");
    let tables = options.take("TABLE_CFS");
    let mut peer = pb::ReplicationPeer {
        clusterkey: key,
        replication_endpoint_impl: endpoint,
        replicate_all: Some(namespaces.is_none() && tables.is_none()),
        serial: options.take_bool("SERIAL"),
        ..Default::default()
    };
    config::set_pairs(&mut peer, &mut options)?;
    peer.namespaces = config::bytes(&namespaces.unwrap_or_default());
    peer.table_cfs = tables.map(|tables| config::table_cfs(&tables)).transpose()?.unwrap_or_default();
    let enabled = options.take_text("STATE").as_deref() != Some("DISABLED");
    let admin = session.admin()?;
    session.wait(admin.add_replication_peer(&arguments.text(0), &peer, enabled))?;
    Ok(Value::Nil)
}
