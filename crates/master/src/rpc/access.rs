//! Access control: not there, as in an HBase without AccessController.

use super::Call;
use crate::MasterError;
use martite_proto as pb;

fn refuse<T>() -> Result<T, MasterError> {
    Err(MasterError::do_not_retry(
        "java.lang.UnsupportedOperationException: org.apache.hadoop.hbase.security.access.AccessController is not loaded",
    ))
}

pub fn grant(_: &Call<'_>, _: pb::GrantRequest) -> Result<pb::GrantResponse, MasterError> {
    refuse()
}

pub fn revoke(_: &Call<'_>, _: pb::RevokeRequest) -> Result<pb::RevokeResponse, MasterError> {
    refuse()
}

pub fn get_user_permissions(
    _: &Call<'_>,
    _: pb::GetUserPermissionsRequest,
) -> Result<pb::GetUserPermissionsResponse, MasterError> {
    refuse()
}

pub fn has_user_permissions(
    _: &Call<'_>,
    _: pb::HasUserPermissionsRequest,
) -> Result<pb::HasUserPermissionsResponse, MasterError> {
    refuse()
}
