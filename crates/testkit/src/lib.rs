//! What tests need to drive a real server: the process, a small client, and the crash test's workload and judge.
#![forbid(unsafe_code)]

pub mod admin;
pub mod crash;
pub mod server;
pub mod table;

pub use admin::Admin;
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
