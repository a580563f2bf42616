//! What tests need to drive a real server: the process, a small client, and the crash test's workload and judge.
#![forbid(unsafe_code)]

pub mod crash;
pub mod server;
pub mod table;

pub use martite_client::Admin;
pub use server::Server;
pub use table::Table;

/// Anything that can go wrong in a test's set-up; tests print it and fail.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    #[error("{0}")]
    Server(String),
    #[error(transparent)]
    Client(#[from] martite_rpc::client::ClientError),
    #[error(transparent)]
    Catalog(#[from] martite_catalog::CatalogError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl From<martite_client::Error> for TestError {
    fn from(error: martite_client::Error) -> TestError {
        match error {
            martite_client::Error::Catalog(e) => TestError::Catalog(e),
            other => TestError::Server(other.to_string()),
        }
    }
}
