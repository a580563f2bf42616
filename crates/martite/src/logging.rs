//! The server's log: lines on standard error.

use crate::{Failure, exit};
use tracing_subscriber::EnvFilter;

/// Logs from now on what `filter` lets through.
pub fn start(filter: &str) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(filter).map_err(|e| Failure::new(exit::USAGE, format!("--log {filter}: {e}")))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(true)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .init();
    Ok(())
}
