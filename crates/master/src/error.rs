//! [`MasterError`]: an HBase exception by class, which is what a client acts on.

use martite_catalog::{CatalogError, TableName, TableState};
use martite_region::RegionError;

/// Full names of the exception classes that the master throws.
pub mod class {
    pub const DO_NOT_RETRY: &str = "org.apache.hadoop.hbase.DoNotRetryIOException";
    pub const IO: &str = "java.io.IOException";
    pub const HBASE_IO: &str = "org.apache.hadoop.hbase.HBaseIOException";
    pub const TABLE_EXISTS: &str = "org.apache.hadoop.hbase.TableExistsException";
    pub const TABLE_NOT_FOUND: &str = "org.apache.hadoop.hbase.TableNotFoundException";
    pub const TABLE_NOT_ENABLED: &str = "org.apache.hadoop.hbase.TableNotEnabledException";
    pub const TABLE_NOT_DISABLED: &str = "org.apache.hadoop.hbase.TableNotDisabledException";
    pub const NAMESPACE_EXISTS: &str = "org.apache.hadoop.hbase.NamespaceExistException";
    pub const NAMESPACE_NOT_FOUND: &str = "org.apache.hadoop.hbase.NamespaceNotFoundException";
    pub const INVALID_FAMILY: &str = "org.apache.hadoop.hbase.InvalidFamilyOperationException";
    pub const CONSTRAINT: &str = "org.apache.hadoop.hbase.constraint.ConstraintException";
    pub const UNKNOWN_REGION: &str = "org.apache.hadoop.hbase.UnknownRegionException";
    pub const MERGE_REGION: &str = "org.apache.hadoop.hbase.exceptions.MergeRegionException";
    pub const DO_NOT_RETRY_REGION: &str = "org.apache.hadoop.hbase.client.DoNotRetryRegionException";
    pub const NO_SUCH_FAMILY: &str = "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException";
    pub const PLEASE_HOLD: &str = "org.apache.hadoop.hbase.PleaseHoldException";
    pub const SERVER_NOT_RUNNING: &str = "org.apache.hadoop.hbase.ipc.ServerNotRunningYetException";
    pub const QUOTA_EXCEEDED: &str = "org.apache.hadoop.hbase.quotas.QuotaExceededException";
    pub const ACCESS_DENIED: &str = "org.apache.hadoop.hbase.security.AccessDeniedException";
    pub const PEER_NOT_FOUND: &str = "org.apache.hadoop.hbase.ReplicationPeerNotFoundException";
    pub const SNAPSHOT_EXISTS: &str = "org.apache.hadoop.hbase.snapshot.SnapshotExistsException";
    pub const SNAPSHOT_NOT_FOUND: &str = "org.apache.hadoop.hbase.snapshot.SnapshotDoesNotExistException";
    pub const SNAPSHOT_CREATION: &str = "org.apache.hadoop.hbase.snapshot.SnapshotCreationException";
    pub const SNAPSHOT_EXPIRED: &str = "org.apache.hadoop.hbase.snapshot.SnapshotTTLExpiredException";
    pub const UNKNOWN_SNAPSHOT: &str = "org.apache.hadoop.hbase.snapshot.UnknownSnapshotException";
    pub const CORRUPTED_SNAPSHOT: &str = "org.apache.hadoop.hbase.snapshot.CorruptedSnapshotException";
    pub const RESTORE_SNAPSHOT: &str = "org.apache.hadoop.hbase.snapshot.RestoreSnapshotException";
    pub const UNKNOWN_PROTOCOL: &str = "org.apache.hadoop.hbase.exceptions.UnknownProtocolException";
}

/// What went wrong, in HBase's terms.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
#[error("{class}: {message}")]
pub struct MasterError {
    /// Full Java class name.
    pub class: String,
    pub message: String,
    pub do_not_retry: bool,
}

impl MasterError {
    pub fn new(class: &str, message: impl Into<String>) -> MasterError {
        let retry = [class::IO, class::HBASE_IO, class::PLEASE_HOLD, class::SERVER_NOT_RUNNING];
        MasterError { class: class.to_string(), message: message.into(), do_not_retry: !retry.contains(&class) }
    }
    /// Give up (DoNotRetryIOException).
    pub fn do_not_retry(message: impl Into<String>) -> MasterError {
        MasterError::new(class::DO_NOT_RETRY, message)
    }
    /// May work later (IOException).
    pub fn io(message: impl Into<String>) -> MasterError {
        MasterError::new(class::IO, message)
    }
    pub fn table_exists(table: &TableName) -> MasterError {
        MasterError::new(class::TABLE_EXISTS, table.as_str())
    }
    pub fn table_not_found(table: &TableName) -> MasterError {
        MasterError::new(class::TABLE_NOT_FOUND, table.as_str())
    }
    pub fn namespace_not_found(name: &str) -> MasterError {
        MasterError::new(class::NAMESPACE_NOT_FOUND, name)
    }
    pub fn unknown_region(name: &[u8]) -> MasterError {
        MasterError::new(class::UNKNOWN_REGION, martite_catalog::to_string_binary(name))
    }
    /// Ask the next run. HBase also has MasterStoppedException, which the Java client cannot make from a message: it
    /// would not retry.
    pub fn stopping() -> MasterError {
        MasterError::new(class::SERVER_NOT_RUNNING, "the master is stopping")
    }
    /// A method that HBase has and this server has not.
    pub fn unsupported(method: &str) -> MasterError {
        MasterError::do_not_retry(format!("{method} is not supported by this server"))
    }
}

/// A table's state as HBase prints it.
pub(crate) fn state_text(table: &TableName, state: TableState) -> String {
    format!("tableName={table}, state={}", state.name())
}

impl From<CatalogError> for MasterError {
    fn from(error: CatalogError) -> MasterError {
        match error {
            CatalogError::Illegal(text) => {
                MasterError::do_not_retry(format!("java.lang.IllegalArgumentException: {text}"))
            }
            // Asking again does not mend bytes.
            malformed @ CatalogError::Malformed { .. } => MasterError::do_not_retry(malformed.to_string()),
            other => MasterError::io(other.to_string()),
        }
    }
}

impl From<martite_quota::change::Refused> for MasterError {
    fn from(refused: martite_quota::change::Refused) -> MasterError {
        MasterError::do_not_retry(refused.to_string())
    }
}

impl From<RegionError> for MasterError {
    fn from(error: RegionError) -> MasterError {
        MasterError::io(error.to_string())
    }
}

impl From<martite_store::StoreError> for MasterError {
    fn from(error: martite_store::StoreError) -> MasterError {
        MasterError::io(error.to_string())
    }
}

impl From<martite_wal::WalError> for MasterError {
    fn from(error: martite_wal::WalError) -> MasterError {
        MasterError::io(error.to_string())
    }
}
