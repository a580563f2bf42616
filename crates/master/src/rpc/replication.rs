//! Replication peers: there are none, and none can be added yet.

use super::Call;
use crate::switches::Switch;
use crate::{MasterError, class};
use martite_proto as pb;

fn not_found<T>(peer_id: &str) -> Result<T, MasterError> {
    Err(MasterError::new(class::PEER_NOT_FOUND, peer_id))
}

pub fn remove_peer(
    _: &Call<'_>,
    req: pb::RemoveReplicationPeerRequest,
) -> Result<pb::RemoveReplicationPeerResponse, MasterError> {
    not_found(&req.peer_id)
}

pub fn enable_peer(
    _: &Call<'_>,
    req: pb::EnableReplicationPeerRequest,
) -> Result<pb::EnableReplicationPeerResponse, MasterError> {
    not_found(&req.peer_id)
}

pub fn disable_peer(
    _: &Call<'_>,
    req: pb::DisableReplicationPeerRequest,
) -> Result<pb::DisableReplicationPeerResponse, MasterError> {
    not_found(&req.peer_id)
}

pub fn get_peer_config(
    _: &Call<'_>,
    req: pb::GetReplicationPeerConfigRequest,
) -> Result<pb::GetReplicationPeerConfigResponse, MasterError> {
    not_found(&req.peer_id)
}

pub fn update_peer_config(
    _: &Call<'_>,
    req: pb::UpdateReplicationPeerConfigRequest,
) -> Result<pb::UpdateReplicationPeerConfigResponse, MasterError> {
    not_found(&req.peer_id)
}

pub fn list_peers(
    _: &Call<'_>,
    _: pb::ListReplicationPeersRequest,
) -> Result<pb::ListReplicationPeersResponse, MasterError> {
    Ok(pb::ListReplicationPeersResponse { peer_desc: Vec::new() })
}

pub fn is_peer_enabled(
    _: &Call<'_>,
    req: pb::GetReplicationPeerStateRequest,
) -> Result<pb::GetReplicationPeerStateResponse, MasterError> {
    not_found(&req.peer_id)
}

pub fn modification_switch(
    call: &Call<'_>,
    req: pb::ReplicationPeerModificationSwitchRequest,
) -> Result<pb::ReplicationPeerModificationSwitchResponse, MasterError> {
    let services = call.services;
    let switch = Switch::ReplicationPeerModification;
    let previous_value = services.switches.set(&services.store, switch, req.on, services.now_ms())?;
    Ok(pb::ReplicationPeerModificationSwitchResponse { previous_value })
}

pub fn modification_procedures(
    _: &Call<'_>,
    _: pb::GetReplicationPeerModificationProceduresRequest,
) -> Result<pb::GetReplicationPeerModificationProceduresResponse, MasterError> {
    Ok(pb::GetReplicationPeerModificationProceduresResponse { procedure: Vec::new() })
}

pub fn is_modification_enabled(
    call: &Call<'_>,
    _: pb::IsReplicationPeerModificationEnabledRequest,
) -> Result<pb::IsReplicationPeerModificationEnabledResponse, MasterError> {
    let enabled = call.services.is_on(Switch::ReplicationPeerModification);
    Ok(pb::IsReplicationPeerModificationEnabledResponse { enabled })
}
