//! `martite bench ycsb`: YCSB's workloads A to F on one server after the other: what each operation takes, what the server pays
//! for it, and how both go on second by second.
//!
//! ```text
//! server: start ── table, load ── for each workload: warm up ── 1 thread ── 10 threads ── results ── report
//! ```

mod html;
mod measure;
pub mod options;
mod record;
mod results;
mod text;

use crate::machine::Machine;
use crate::progress::Progress;
use crate::run::to_its_end;
use crate::server::{Server, Settings};
use crate::{Error, report};
use measure::Measure;
use options::YcsbBench;
use results::Report;

/// Runs the benchmark; its report is printed and written.
pub fn run(options: &YcsbBench) -> Result<(), Error> {
    options.check()?;
    let report = to_its_end(measure(options))?;
    print!("{}", text::text(&report));
    for path in report::write(&report, html::page(&report), &options.out)? {
        println!("{}", path.display());
    }
    Ok(())
}

async fn measure(options: &YcsbBench) -> Result<Report, Error> {
    std::fs::create_dir_all(&options.out).map_err(Error::file(&options.out))?;
    let mut report = Report {
        date: jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string(),
        version: env!("CARGO_PKG_VERSION"),
        machine: Machine::read(),
        settings: options.settings(),
        options: options.clone(),
        servers: Vec::new(),
    };
    // Each server is started and its table loaded, too; each workload is warmed up.
    let workloads = options.workloads();
    let loaded_anew = workloads.iter().skip(1).filter(|mix| mix.wants_fresh_table()).count();
    let each = 2 + loaded_anew + workloads.len() * (1 + options.threads.len());
    let progress = Progress::new((options.servers.len() * each) as u64);
    for spec in &options.servers {
        let data = tempfile::Builder::new().prefix("data-").tempdir_in(&options.out)?;
        progress.step(&format!("{}: start", spec.name()));
        let settings =
            Settings { cache_mib: options.cache_mib, quotas: None, hsync: options.hsync, cores: options.cores };
        let server = Server::start(spec, data.path(), settings).await?;
        let measure = Measure::connect(spec.name(), &server, options, &progress).await?;
        report.servers.push(measure.all().await?);
        drop(server);
    }
    progress.finish();
    Ok(report)
}
