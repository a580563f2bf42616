//! What HBase keeps in a znode.
//!
//! ```text
//! FF | i32 length of id | id: process name, 8 salt bytes | P B U F | protobuf
//! FF   00 00 00 0d        "master" ":16000"  …             50 42 55 46   0a …
//! ```
//!
//! The id tells who wrote the value; readers skip it. gohbase wants it there and 1 to 65000 bytes long.
//! Source: HBase 2.6 `RecoverableZooKeeper`, `ZNodePaths`.

use bytes::Bytes;
use martite_proto as pb;
use martite_proto::{Message, PBUF_MAGIC};

/// Frames protobuf bytes; `id` names the process that wrote them (`master:16000`).
pub fn node_value(id: &str, pb_bytes: &[u8]) -> Bytes {
    framed(id, &[PBUF_MAGIC, pb_bytes])
}

/// The protobuf bytes in a znode's value; `None`: they are not there.
///
/// As in HBase, only a first byte FF says that there is an id.
pub fn node_content(value: &[u8]) -> Option<&[u8]> {
    let body = match value {
        [0xff, rest @ ..] => {
            let (len, rest) = rest.split_first_chunk::<4>()?;
            rest.get(u32::from_be_bytes(*len) as usize..)?
        }
        other => other,
    };
    body.strip_prefix(PBUF_MAGIC)
}

fn framed(id: &str, body: &[&[u8]]) -> Bytes {
    let id = &id.as_bytes()[..id.len().min(60_000)];
    let mut out = Vec::with_capacity(5 + id.len() + 8 + body.iter().map(|part| part.len()).sum::<usize>());
    out.push(0xff);
    out.extend_from_slice(&(id.len() as u32 + 8).to_be_bytes());
    out.extend_from_slice(id);
    // The salt tells two processes of the same name apart; nobody compares it here.
    out.extend_from_slice(&[0; 8]);
    body.iter().for_each(|part| out.extend_from_slice(part));
    out.into()
}

fn message(id: &str, message: &impl Message) -> Bytes {
    node_value(id, &message.encode_to_vec())
}

/// `/hbase/hbaseid`.
pub fn cluster_id_value(id: &str, cluster_id: &str) -> Bytes {
    message(id, &pb::ClusterId { cluster_id: cluster_id.into() })
}

/// `/hbase/master`. The start code must be in the name.
pub fn master_value(id: &str, master: pb::ServerName, info_port: u32) -> Bytes {
    message(id, &pb::Master { master, rpc_version: Some(0), info_port: Some(info_port) })
}

/// `/hbase/backup-masters/<server>`.
pub fn backup_master_value(id: &str, master: pb::ServerName, info_port: u32) -> Bytes {
    master_value(id, master, info_port)
}

/// `/hbase/meta-region-server`: where `hbase:meta` is, and whether it is open there.
pub fn meta_location_value(id: &str, server: pb::ServerName, state: pb::region_state::State) -> Bytes {
    message(id, &pb::MetaRegionServer { server, rpc_version: Some(0), state: Some(state as i32) })
}

/// `/hbase/rs/<server>`.
pub fn region_server_value(id: &str, info_port: i32, version_info: Option<pb::VersionInfo>) -> Bytes {
    message(id, &pb::RegionServerInfo { info_port: Some(info_port), version_info })
}

/// `/hbase/running`: there while the cluster is meant to be up.
pub fn cluster_up_value(id: &str, start_date: &str) -> Bytes {
    message(id, &pb::ClusterUp { start_date: start_date.into() })
}

/// `/hbase/namespace/<namespace>`: the descriptor, without magic.
pub fn namespace_value(id: &str, descriptor: &[u8]) -> Bytes {
    framed(id, &[descriptor])
}

/// `/hbase/table/<table>`, the mirror of table states for 1.x clients.
pub fn table_state_value(id: &str, state: pb::deprecated_table_state::State) -> Bytes {
    message(id, &pb::DeprecatedTableState { state: state as i32 })
}
