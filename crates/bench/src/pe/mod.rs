//! `martite pe`: HBase's PerformanceEvaluation: its commands, options, keys, values and summary lines, on one thread of this process.
//!
//! ```text
//! options ── table: made if it is not there ── clients: each its rows, one operation under way ── report: summary lines
//! ```
//! PerformanceEvaluation's behaviour is a fact of its source (HBase 2.6, hbase-mapreduce); docs/pe.md tells how this differs.

mod client;
mod command;
mod options;
mod report;
mod table;

use crate::Error;
use crate::run::to_its_end;
use crate::ycsb::connection_options;
use clap::Args;
use client::{Client, Rows};
use martite_client::Connection;
use options::Options;
use report::{Finished, Watch, log};
use std::rc::Rc;

#[derive(Debug, Clone, Args)]
pub struct Pe {
    /// [options] [-Dproperty=value]… COMMAND NCLIENTS; options are --name=value
    ///
    /// Commands:
    ///   sequentialWrite randomWrite sequentialRead randomRead sequentialDelete randomDelete
    ///   scan reverseScan filterScan randomSeekScan scanRange10 scanRange100 scanRange1000 scanRange10000
    ///   increment append checkAndMutate checkAndPut checkAndDelete
    ///   asyncRandomRead asyncRandomWrite asyncSequentialRead asyncSequentialWrite asyncScan
    ///
    /// Options: nomapred rows size table startRow cycles sampleRate period latency latencyThreshold measureAfter
    ///   valueSize valueRandom valueZipf columns families presplit replicas splitPolicy compress blockEncoding
    ///   bloomFilter blockSize inmemory inmemoryCompaction writeToWAL autoFlush flushCommits bufferSize multiPut
    ///   multiGet filterAll addColumns caching cacheBlocks scanReadType asyncPrefetch randomSleep oneCon connCount
    ///
    /// The cluster is that of -Dhbase.zookeeper.quorum, or of hbase-site.xml in the folder HBASE_CONF_DIR.
    #[arg(
        value_name = "WORD",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true,
        verbatim_doc_comment
    )]
    pub words: Vec<String>,
}

/// Runs `martite pe`.
pub fn run(pe: &Pe) -> Result<(), Error> {
    let options = Options::parse(&pe.words)?;
    to_its_end(evaluate(Rc::new(options)))
}

async fn evaluate(options: Rc<Options>) -> Result<(), Error> {
    let folders: Vec<_> = std::env::var_os("HBASE_CONF_DIR").map(Into::into).into_iter().collect();
    let settings = connection_options(options.defines.iter().map(|(name, value)| (&**name, &**value)), &folders)?;
    log("main", &format!("{} test run options={options:?}", options.command.test_name()));
    let connection = Connection::connect(settings.clone()).await?;
    table::check(&connection, &options).await?;
    let mut connections = vec![connection];
    while connections.len() < options.connections() {
        connections.push(Connection::connect(settings.clone()).await?);
    }
    log("main", &format!("Created {} connections for {} threads", connections.len(), options.clients));

    let tasks = tokio::task::LocalSet::new();
    let mut running = Vec::new();
    let watch = Rc::new(Watch::new(&options));
    for index in 0..options.clients {
        let table = connections[index % connections.len()].table(options.table.clone());
        let rows = Rows::of(&options, index as u64);
        let client = Client::new(options.clone(), table, index, rows, watch.clone());
        running.push(tasks.spawn_local(client.run()));
    }
    let all = async {
        let mut finished: Vec<Finished> = Vec::new();
        for client in running {
            let ended = client.await.map_err(|e| Error::Setup(format!("a client ended: {e}")))?;
            finished.push(ended?);
        }
        Ok::<_, Error>(finished)
    };
    let shown = async {
        tokio::select! {
            finished = all => finished,
            never = watch.show() => never,
        }
    };
    let finished = tasks.run_until(shown).await?;
    drop(watch);
    report::summary(&options, finished);
    Ok(())
}
