//! [`Error`]: why something asked of a cluster was not done, and what its caller can do about it.

use crate::Exception;
use martite_catalog::TableName;
use martite_rpc::client::ClientError;
use std::time::Duration;

/// Why an operation failed. By the time a caller sees it, whatever could pass by itself has been tried again.
///
/// | The caller can | Errors |
/// |---|---|
/// | mend the request | [`Invalid`](Error::Invalid), [`TableNotFound`](Error::TableNotFound), [`TableDisabled`](Error::TableDisabled), an [`Exception`](Error::Exception) that forbids repetition |
/// | mend the addresses, start the cluster | [`Address`](Error::Address), [`Connection`](Error::Connection), [`Unknown`](Error::Unknown) |
/// | wait longer, or try again later | [`Retries`](Error::Retries), [`TimedOut`](Error::TimedOut) |
/// | report a defect | [`Malformed`](Error::Malformed), [`Catalog`](Error::Catalog), [`Cells`](Error::Cells) |
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A server's exception.
    #[error(transparent)]
    Exception(Box<Exception>),
    /// No connection, or it was lost before the answer came: the call may have been done.
    #[error("{server}: {source}")]
    Connection { server: String, source: ClientError },
    /// No answer within the timeout of a call: the call may have been done.
    #[error("{server}: no answer to {method} within {} ms", after.as_millis())]
    TimedOut { server: String, method: &'static str, after: Duration },
    /// Tried again and again in vain.
    #[error("gave up after {attempts} attempts in {} ms: {last}", elapsed.as_millis())]
    Retries { attempts: u32, elapsed: Duration, last: Box<Error> },
    #[error("there is no table {0}")]
    TableNotFound(TableName),
    #[error("the table {0} is disabled")]
    TableDisabled(TableName),
    /// hbase:meta names no region, or no server that has it; one may be on its way.
    #[error("no server has the row {row} of {table}: {reason}")]
    NoRegion { table: TableName, row: String, reason: String },
    /// A request that no server would accept.
    #[error("{0}")]
    Invalid(String),
    /// An answer that is not what HBase's protocol says.
    #[error("malformed answer: {0}")]
    Malformed(String),
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
            Error::Exception(e) => !e.do_not_retry,
            Error::Retries { last, .. } => last.is_transient(),
            Error::Connection { .. } | Error::TimedOut { .. } | Error::NoRegion { .. } | Error::Unknown(_) => true,
            _ => false,
        }
    }

    /// The server's exception, if one is the cause.
    pub fn exception(&self) -> Option<&Exception> {
        match self {
            Error::Exception(e) => Some(e),
            Error::Retries { last, .. } => last.exception(),
            _ => None,
        }
    }

    /// The name of the Java class that HBase's own client throws in this case, without its package where one class has
    /// the name.
    pub fn class(&self) -> &str {
        match self {
            Error::Exception(e) => &e.class,
            Error::Retries { last, .. } => last.class(),
            Error::TableNotFound(_) => "org.apache.hadoop.hbase.TableNotFoundException",
            Error::TableDisabled(_) => "org.apache.hadoop.hbase.TableNotEnabledException",
            Error::NoRegion { .. } => "org.apache.hadoop.hbase.client.NoServerForRegionException",
            Error::Invalid(_) => "java.lang.IllegalArgumentException",
            Error::TimedOut { .. } => "org.apache.hadoop.hbase.ipc.CallTimeoutException",
            Error::Catalog(martite_catalog::CatalogError::Illegal(_)) => "java.lang.IllegalArgumentException",
            _ => "java.io.IOException",
        }
    }

    /// Whether the server threw this class, named without its package.
    pub fn is(&self, class: &str) -> bool {
        self.class().rsplit('.').next() == Some(class)
    }

    pub(crate) fn malformed(what: impl std::fmt::Display) -> Error {
        Error::Malformed(what.to_string())
    }

    /// A failed call, with what is known of its server.
    pub(crate) fn of_call(error: ClientError, server: &str, method: &'static str, after: Duration) -> Error {
        match error {
            ClientError::Remote { class, text, do_not_retry, overloaded, moved_to } => {
                let server = Some(server.to_owned());
                Error::Exception(Box::new(Exception { class, text, do_not_retry, overloaded, moved_to, server }))
            }
            ClientError::TimedOut => Error::TimedOut { server: server.to_owned(), method, after },
            ClientError::Malformed(what) => Error::Malformed(format!("{server}: {method}: {what}")),
            source => Error::Connection { server: server.to_owned(), source },
        }
    }
}

impl From<Exception> for Error {
    fn from(exception: Exception) -> Error {
        Error::Exception(Box::new(exception))
    }
}
