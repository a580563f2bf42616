//! [`Error`]: why a run ended early. Wrong answers end it too: figures of a server that answers wrongly are worth nothing.

use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Client(#[from] martite_client::Error),
    #[error(transparent)]
    Call(#[from] martite_rpc::client::ClientError),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{path}: {source}")]
    File { path: String, source: std::io::Error },
    /// An answer is not what was asked for.
    #[error("wrong answer: {0}")]
    Wrong(String),
    /// The machine, a server or the command line do not allow the run.
    #[error("{0}")]
    Setup(String),
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    pub fn wrong(what: impl Into<String>) -> Error {
        Error::Wrong(what.into())
    }
    pub fn no_table(table: &str) -> Error {
        Error::Setup(format!("there is no table {table}"))
    }
    pub fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.display().to_string();
        move |source| Error::File { path, source }
    }
}
