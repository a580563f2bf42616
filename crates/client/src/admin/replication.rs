//! Peers of replication.

use super::Admin;
use crate::{Connection, Error, Options, Registry};
use martite_catalog::{TableDescriptor, TableName};
use martite_proto as pb;

/// What a family's REPLICATION_SCOPE says.
const LOCAL: &str = "0";
const GLOBAL: &str = "1";

impl Admin {
    pub async fn add_replication_peer(
        &self,
        id: &str,
        config: &pb::ReplicationPeer,
        enabled: bool,
    ) -> Result<(), Error> {
        use pb::replication_state::State;
        let state = if enabled { State::Enabled } else { State::Disabled };
        let request = pb::AddReplicationPeerRequest {
            peer_id: id.to_owned(),
            peer_config: config.clone(),
            peer_state: pb::ReplicationState { state: state as i32 },
        };
        let answer: pb::AddReplicationPeerResponse = self.master("AddReplicationPeer", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    pub async fn remove_replication_peer(&self, id: &str) -> Result<(), Error> {
        let request = pb::RemoveReplicationPeerRequest { peer_id: id.to_owned() };
        let answer: pb::RemoveReplicationPeerResponse = self.master("RemoveReplicationPeer", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    pub async fn enable_replication_peer(&self, id: &str) -> Result<(), Error> {
        let request = pb::EnableReplicationPeerRequest { peer_id: id.to_owned() };
        let answer: pb::EnableReplicationPeerResponse = self.master("EnableReplicationPeer", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    pub async fn disable_replication_peer(&self, id: &str) -> Result<(), Error> {
        let request = pb::DisableReplicationPeerRequest { peer_id: id.to_owned() };
        let answer: pb::DisableReplicationPeerResponse = self.master("DisableReplicationPeer", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    pub async fn replication_peer_config(&self, id: &str) -> Result<pb::ReplicationPeer, Error> {
        let request = pb::GetReplicationPeerConfigRequest { peer_id: id.to_owned() };
        let answer: pb::GetReplicationPeerConfigResponse = self.master("GetReplicationPeerConfig", &request).await?;
        Ok(answer.peer_config)
    }

    pub async fn update_replication_peer_config(&self, id: &str, config: &pb::ReplicationPeer) -> Result<(), Error> {
        let request = pb::UpdateReplicationPeerConfigRequest { peer_id: id.to_owned(), peer_config: config.clone() };
        let answer: pb::UpdateReplicationPeerConfigResponse =
            self.master("UpdateReplicationPeerConfig", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    /// The peers whose ids match a Java regular expression, or all.
    pub async fn replication_peers(&self, regex: Option<&str>) -> Result<Vec<pb::ReplicationPeerDescription>, Error> {
        let request = pb::ListReplicationPeersRequest { regex: regex.map(str::to_owned) };
        let answer: pb::ListReplicationPeersResponse = self.master("ListReplicationPeers", &request).await?;
        Ok(answer.peer_desc)
    }

    pub async fn is_replication_peer_enabled(&self, id: &str) -> Result<bool, Error> {
        let request = pb::GetReplicationPeerStateRequest { peer_id: id.to_owned() };
        let answer: pb::GetReplicationPeerStateResponse = self.master("IsReplicationPeerEnabled", &request).await?;
        Ok(answer.is_enabled)
    }

    /// Whether peers may be changed; answers what it was before.
    pub async fn set_peer_modification(&self, on: bool) -> Result<bool, Error> {
        let request = pb::ReplicationPeerModificationSwitchRequest { on };
        let answer: pb::ReplicationPeerModificationSwitchResponse =
            self.master("ReplicationPeerModificationSwitch", &request).await?;
        Ok(answer.previous_value)
    }

    pub async fn is_peer_modification_enabled(&self) -> Result<bool, Error> {
        let request = pb::IsReplicationPeerModificationEnabledRequest {};
        let answer: pb::IsReplicationPeerModificationEnabledResponse =
            self.master("IsReplicationPeerModificationEnabled", &request).await?;
        Ok(answer.enabled)
    }

    /// Procedures that change peers and are not over.
    pub async fn peer_modification_procedures(&self) -> Result<Vec<pb::Procedure>, Error> {
        let request = pb::GetReplicationPeerModificationProceduresRequest {};
        let answer: pb::GetReplicationPeerModificationProceduresResponse =
            self.master("GetReplicationPeerModificationProcedures", &request).await?;
        Ok(answer.procedure)
    }

    /// The users' tables with families that are replicated.
    pub async fn replicated_tables(&self) -> Result<Vec<TableDescriptor>, Error> {
        let mut tables = self.table_descriptors().await?;
        tables.retain(|table| table.families().any(|family| family.replication_scope() != 0));
        Ok(tables)
    }

    /// Has a table replicated: makes it at the peers that want it, and sets the scope of its families.
    pub async fn enable_table_replication(&self, table: &TableName) -> Result<(), Error> {
        let descriptor = self.table_descriptor(table).await?;
        let peers = self.replication_peers(None).await?;
        if peers.is_empty() {
            return Err(Error::Invalid("Found no peer cluster for replication.".to_owned()));
        }
        let regions = self.regions(table).await?;
        let splits: Vec<&[u8]> = regions.iter().skip(1).map(|region| &region.info.start_key()[..]).collect();
        for peer in peers.iter().filter(|peer| wants(&peer.config, table)) {
            let there = peer_connection(self.connection(), &peer.config).await?.admin();
            match there.table_descriptor(table).await {
                Err(Error::TableNotFound(_)) => there.create_table(&descriptor, &splits).await?,
                Err(error) => return Err(error),
                Ok(other) if with_scope(&other, LOCAL) != with_scope(&descriptor, LOCAL) => {
                    return Err(Error::Invalid(format!(
                        "Table {table} exists in peer cluster {}, but the table descriptors are not same when compared \
                         with source cluster. Thus can not enable the table's replication switch.",
                        peer.id
                    )));
                }
                Ok(_) => {}
            }
        }
        self.set_scope(&descriptor, GLOBAL).await
    }

    pub async fn disable_table_replication(&self, table: &TableName) -> Result<(), Error> {
        let descriptor = self.table_descriptor(table).await?;
        self.set_scope(&descriptor, LOCAL).await
    }

    async fn set_scope(&self, descriptor: &TableDescriptor, scope: &str) -> Result<(), Error> {
        let changed = with_scope(descriptor, scope);
        if changed == *descriptor { Ok(()) } else { self.modify_table(&changed).await }
    }
}

fn with_scope(table: &TableDescriptor, scope: &str) -> TableDescriptor {
    let families: Vec<_> = table.families().cloned().collect();
    families.into_iter().fold(table.clone(), |table, family| table.with_family(family.with("REPLICATION_SCOPE", scope)))
}

/// Whether a peer gets something of a table.
fn wants(peer: &pb::ReplicationPeer, table: &TableName) -> bool {
    let has_namespace = |names: &[bytes::Bytes]| names.iter().any(|name| name == table.namespace().as_bytes());
    let entry = |tables: &[pb::TableCf]| {
        let is_it = |entry: &&pb::TableCf| entry.table_name.as_ref() == Some(&table.to_proto());
        tables.iter().find(is_it).cloned()
    };
    if peer.replicate_all() {
        let is_excluded = entry(&peer.exclude_table_cfs).is_some_and(|entry| entry.families.is_empty());
        return !has_namespace(&peer.exclude_namespaces) && !is_excluded;
    }
    has_namespace(&peer.namespaces) || entry(&peer.table_cfs).is_some()
}

/// A connection to the cluster of a key `quorum:port:/znode`.
async fn peer_connection(here: &Connection, peer: &pb::ReplicationPeer) -> Result<Connection, Error> {
    let key = peer.clusterkey.clone().unwrap_or_default();
    let parts: Vec<&str> = key.rsplitn(3, ':').collect();
    let [znode, port, hosts] = parts[..] else {
        return Err(Error::Invalid(format!("{key:?} is not a cluster key, quorum:port:/znode")));
    };
    let with_port = |host: &str| if host.contains(':') { host.to_owned() } else { format!("{host}:{port}") };
    let quorum: Vec<String> = hosts.split(',').map(with_port).collect();
    let options = Options { registry: Registry::zookeeper(&quorum.join(",")).parent(znode), ..here.options().clone() };
    Connection::connect(options).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_gets_what_its_lists_say() {
        let table = |name: &str| TableName::parse(name).unwrap();
        let all = pb::ReplicationPeer {
            replicate_all: Some(true),
            exclude_namespaces: vec!["no".into()],
            exclude_table_cfs: vec![
                pb::TableCf { table_name: Some(table("t").to_proto()), families: vec![] },
                pb::TableCf { table_name: Some(table("part").to_proto()), families: vec!["f".into()] },
            ],
            ..Default::default()
        };
        assert_eq!(["a", "no:a", "t", "part"].map(|name| wants(&all, &table(name))), [true, false, false, true]);
        let some = pb::ReplicationPeer {
            replicate_all: Some(false),
            namespaces: vec!["yes".into()],
            table_cfs: vec![pb::TableCf { table_name: Some(table("t").to_proto()), families: vec![] }],
            ..Default::default()
        };
        assert_eq!(["a", "yes:a", "t"].map(|name| wants(&some, &table(name))), [false, true, true]);
    }
}
