//! Snapshots: there are none yet.

use super::Call;
use crate::MasterError;
use martite_proto as pb;

/// Empty, unless the directory has snapshots of HBase, which this server cannot list.
pub fn get_completed_snapshots(
    call: &Call<'_>,
    _: pb::GetCompletedSnapshotsRequest,
) -> Result<pb::GetCompletedSnapshotsResponse, MasterError> {
    let entries = call.services.list(&call.services.layout.snapshots_dir())?;
    if entries.iter().any(|e| e.is_dir && !e.name.starts_with('.')) {
        return Err(MasterError::unsupported(call.method));
    }
    Ok(pb::GetCompletedSnapshotsResponse { snapshots: Vec::new() })
}
