//! `martite bench beyond-memory`: more data than memory: is the budget held, do scans keep the hot set, who serves the rest?
//!
//! ```text
//! start ── load, compact, read all ── hot Gets ── scan ── hot Gets ── hot Gets beside a scan ── hot Gets ── Gets of all ── stop
//! start ── Gets of all
//! ```
//! Between them the server's counters of its caches are read. Its resident memory is sampled all the time. Every value is compared with the
//! one that follows from its key; a wrong one ends the run.

mod counters;
mod measure;
pub mod options;
mod results;

use crate::machine::Machine;
use crate::progress::Progress;
use crate::run::to_its_end;
use crate::{Error, report};
use options::BeyondMemory;
use results::Report;

/// Runs the experiment; its report is printed and written.
pub fn run(options: &BeyondMemory) -> Result<(), Error> {
    options.check()?;
    let found = to_its_end(measure(options))?;
    print!("{}", results::text(&found));
    println!("{}", report::write_json(&found, &options.out)?.display());
    Ok(())
}

async fn measure(options: &BeyondMemory) -> Result<Report, Error> {
    std::fs::create_dir_all(&options.out).map_err(Error::file(&options.out))?;
    let data = tempfile::Builder::new().prefix("data-").tempdir_in(&options.out)?;
    let progress = Progress::new(measure::STEPS);
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string();
    let found = measure::all(options, data.path(), &progress).await?;
    progress.finish();
    Ok(Report {
        date,
        version: env!("CARGO_PKG_VERSION"),
        machine: Machine::read(),
        options: options.clone(),
        rows: options.rows(),
        hot_rows: options.hot_rows(),
        tier_mib: options.tier_mib(),
        load: found.load,
        steps: found.steps,
        most_memory_mib: found.most_memory_mib,
        restarted_in_ms: found.restarted_in_ms,
    })
}
