//! `martite import-tsv`: files of separated columns into a table, with the options of HBase's ImportTsv.
//!
//! ```text
//! files, folders, gzip, - ── lines ── columns: row key, cells, timestamp, TTL, attributes ── batches of puts ──▶ table
//!                                  └─ bad lines: counted and named
//! ```
//! ImportTsv's options and words are facts of HBase 2.6; docs/import.md tells how this differs.
#![forbid(unsafe_code)]

mod columns;
mod input;
mod load;
mod settings;

use clap::Args;
use load::Load;
use martite_client::Connection;
use settings::Settings;
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
pub struct ImportTsv {
    /// A setting: importtsv.columns=HBASE_ROW_KEY,f:q,… must be given; importtsv.separator, .timestamp, .skip.bad.lines,
    /// .log.bad.lines, .skip.empty.columns, .dry.run; create.table, no.strict; those of the cluster (hbase.zookeeper.quorum)
    #[arg(short = 'D', value_name = "NAME=VALUE", verbatim_doc_comment)]
    pub define: Vec<String>,
    /// Folder with hbase-site.xml [default: HBASE_CONF_DIR]
    #[arg(long, value_name = "DIR")]
    pub conf: Option<PathBuf>,
    /// The table
    pub table: String,
    /// Files, folders of files, or - for standard input; files whose names end with .gz are unpacked
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// Why an import ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Client(#[from] martite_client::Error),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{path}: {source}")]
    File { path: String, source: std::io::Error },
    /// The command line, or a line that may not be passed over.
    #[error("{0}")]
    Wrong(String),
}

/// Imports; what came of it goes to standard output.
pub fn run(import: &ImportTsv) -> Result<(), Error> {
    let settings = Settings::new(import)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let tasks = tokio::task::LocalSet::new();
    tasks.block_on(&runtime, async {
        let connection = Connection::connect(settings.connection.clone()).await?;
        let counts = Load::new(&connection, &settings).await?.run(&import.paths).await?;
        println!("{counts}");
        Ok(())
    })
}
