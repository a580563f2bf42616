//! `martite bench throttling`: limits, as the public study of HBase's request throttling measured them, and as they should be.
//!
//! ```text
//! plan (who, what, how often, which limit) ── quotas: set ── drive: two users' loads ── quotas: remove ── results ── report
//! ```

mod html;
mod in_turns;
mod measure;
pub mod options;
mod plan;
mod quotas;
mod results;
mod switched;
mod text;

use crate::machine::Machine;
use crate::progress::Progress;
use crate::rows::SINGLE;
use crate::run::to_its_end;
use crate::server::{Server, Settings, Spec};
use crate::{Error, report, setup};
use measure::Measure;
use options::{Experiment, Throttling};
use quotas::Quotas;
use results::{Report, ServerResults};
use std::sync::Arc;
use switched::Switched;

/// Runs the benchmark; its report is printed and written.
pub fn run(options: &Throttling) -> Result<(), Error> {
    options.check()?;
    let report = to_its_end(measure(options))?;
    print!("{}", text::text(&report));
    for path in report::write(&report, html::page(&report), &options.out)? {
        println!("{}", path.display());
    }
    Ok(())
}

async fn measure(options: &Throttling) -> Result<Report, Error> {
    std::fs::create_dir_all(&options.out).map_err(Error::file(&options.out))?;
    let mut report = Report {
        date: jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string(),
        version: env!("CARGO_PKG_VERSION"),
        machine: Machine::read(),
        options: options.clone(),
        servers: Vec::new(),
    };
    // Each server is started and its table made, too.
    let progress = Progress::new((options.servers.len() * (2 + plan::count(options))) as u64);
    for spec in &options.servers {
        let data = tempfile::Builder::new().prefix("data-").tempdir_in(&options.out)?;
        progress.step(&format!("{}: start", spec.name()));
        let settings = Settings { cache_mib: options.cache_mib, quotas: Some(true), hsync: None, cores: options.cores };
        let server = Server::start(spec, data.path(), settings).await?;
        progress.step(&format!("{}: load {}", spec.name(), SINGLE.table));
        let (target, _) = setup::prepare(&server, SINGLE, options.making()).await?;
        setup::quiet(server.process).await?;
        let quotas = Arc::new(Quotas::connect(&server.registry).await?);
        let (name, shared) = (spec.name(), quotas.clone());
        let measure = Measure { name, server: &server, target, quotas: shared, options, progress: &progress };
        let at_share = measure.at_share().await?;
        let free_rate = at_share.map_or(options.free_rate, |at| at.per_s);
        let measure = Measure { options: &Throttling { free_rate, ..options.clone() }, ..measure };
        let results = measure.all().await;
        // A server that goes on without this benchmark shall not keep its limits, whatever came of it.
        let lifted = quotas.lift_all().await;
        let mut results = ServerResults { at_share, ..results? };
        lifted?;
        if options.has(Experiment::Switched) && *spec == Spec::Martite {
            results.switched = without_quotas(&measure, spec, settings).await?;
        }
        report.servers.push(results);
    }
    progress.finish();
    Ok(report)
}

/// A second server, without quotas, beside the measured one.
async fn without_quotas(on: &Measure<'_>, spec: &Spec, settings: Settings) -> Result<Option<Switched>, Error> {
    let data = tempfile::Builder::new().prefix("data-").tempdir_in(&on.options.out)?;
    on.progress.step(&format!("{}: start without quotas", on.name));
    let server = Server::start(spec, data.path(), Settings { quotas: Some(false), ..settings }).await?;
    on.progress.step(&format!("{}: load {}", on.name, SINGLE.table));
    let (target, _) = setup::prepare(&server, SINGLE, on.options.making()).await?;
    setup::quiet(server.process).await?;
    on.progress.step(&format!("{}: quotas on and off, {} rounds", on.name, on.options.rounds));
    let off = Measure { server: &server, target, quotas: on.quotas.clone(), ..*on };
    switched::switched(on, &off).await
}
