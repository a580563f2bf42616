//! [`Error`]: why something asked of a cluster was not done.

use martite_rpc::client::ClientError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A connection or a server's exception.
    #[error(transparent)]
    Call(#[from] ClientError),
    /// An answer that names what cannot be: a table, a region.
    #[error(transparent)]
    Catalog(#[from] martite_catalog::CatalogError),
    #[error("malformed cells: {0}")]
    Cells(#[from] martite_cell::CellError),
    #[error("{address}: {reason}")]
    Address { address: String, reason: String },
    /// The cluster does not say, or not yet, what it was asked.
    #[error("{0}")]
    Unknown(String),
}

impl Error {
    /// Whether the same may succeed in a moment: the server starts, a region moves, the connection was lost.
    pub fn is_transient(&self) -> bool {
        match self {
            Error::Call(ClientError::Remote { do_not_retry, .. }) => !do_not_retry,
            Error::Call(ClientError::Io(_) | ClientError::Closed) | Error::Unknown(_) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_by_itself() {
        let remote = |do_not_retry| {
            let (class, text) = ("org.apache.hadoop.hbase.PleaseHoldException".to_owned(), String::new());
            Error::Call(ClientError::Remote { class, text, do_not_retry, overloaded: false, moved_to: None })
        };
        assert!(remote(false).is_transient());
        assert!(!remote(true).is_transient());
        assert!(Error::Call(ClientError::Closed).is_transient());
        assert!(Error::Unknown("no master is active".to_owned()).is_transient());
        assert!(!Error::Call(ClientError::Malformed("?".to_owned())).is_transient());
        assert!(!Error::Address { address: "x".to_owned(), reason: "y".to_owned() }.is_transient());
    }
}
