//! `martite ycsb`: YCSB's core workloads, by YCSB's own property files, options and output, on one thread of this process.
//!
//! ```text
//! command line, property files ──▶ properties ──▶ workload: which operation, which record, which values   (generator)
//!                                       └──────▶ db: who is asked                                          (basic, hbase)
//! session: client threads ── workload ── db ── measurement ──▶ status lines; export: text or JSON
//! ```
//! YCSB's definitions are facts of its source (github.com/brianfrankcooper/YCSB, 0.18.0-SNAPSHOT); docs/ycsb.md tells how this differs.

mod db;
pub mod experiment;
mod export;
mod generator;
mod java;
mod line;
mod measurement;
mod properties;
mod session;
mod status;
mod workload;

use crate::Error;
use crate::run::{MOST_THREADS, to_its_end};
use db::Db;
pub use db::hbase::site as connection_options;
use export::Export;
pub use java::two_digits;
pub use line::Ycsb;
use line::{Binding, Line};
use measurement::Measurements;
use properties::Properties;
use session::Session;
use status::Status;
use std::cell::{Cell, RefCell};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};
use workload::Workload;

/// Runs `martite ycsb`; results go to standard output or to the property exportfile.
pub fn run(options: &Ycsb) -> Result<(), Error> {
    let line = Line::parse(&options.words)?;
    to_its_end(line_to_results(line))
}

async fn line_to_results(line: Line) -> Result<(), Error> {
    eprintln!("Command line: {}", line.told);
    eprintln!("martite ycsb {}\n\nLoading workload...", env!("CARGO_PKG_VERSION"));
    let p = &line.properties;
    let mut export = Export::new(p)?;
    let measurements = Rc::new(Measurements::new(p)?);
    let workload = Rc::new(Workload::new(p)?);
    if workload.data_integrity {
        println!("Data integrity is enabled.");
    }
    let plan = Plan::new(p, &workload)?;
    let dbs = connect(&line, &workload, plan.threads).await?;
    let session = Rc::new(plan.session(&workload, measurements.clone()));
    let began = Instant::now();
    let status = Status {
        session: session.clone(),
        measurements: measurements.clone(),
        label: p.text("label", "").to_owned(),
        every: plan.status_every,
        twice: p.text("measurementtype", "") == "timeseries",
        began,
        last: Cell::new(status::Line { at: began, operations: 0 }),
    };
    eprintln!("Starting test.");
    tokio::select! {
        ended = session.run(dbs) => ended?,
        () = stop(&session, plan.longest) => {}
        _ = status.show(), if plan.status_every.is_some() || std::io::stderr().is_terminal() => {}
    }
    let took = began.elapsed();
    status.last_line();
    overall(&mut export, session.done.get(), took);
    measurements.export(&mut export)?;
    write(p, &export.finish())?;
    let missing = plan.operations.map_or(0, |all| all.saturating_sub(session.done.get()));
    if plan.load && missing > 0 && !session.stop.get() {
        return Err(Error::Setup(format!(
            "the load gave up: {missing} of {} records are missing",
            workload.insert_count
        )));
    }
    Ok(())
}

/// What the properties say of how much is done, how fast, by whom.
struct Plan {
    load: bool,
    threads: usize,
    operations: Option<u64>,
    target: Option<f64>,
    longest: Option<Duration>,
    status_every: Option<Duration>,
}

impl Plan {
    fn new(p: &Properties, workload: &Workload) -> Result<Plan, Error> {
        let load = !p.flag("dotransactions", true);
        let operations = if load { workload.insert_count } else { p.number("operationcount", 0)? };
        let mut threads: usize = p.number("threadcount", 1)?;
        if !(1..=MOST_THREADS).contains(&threads) {
            return Err(Error::Setup(format!("the property threadcount: {threads} is not from 1 to {MOST_THREADS}")));
        }
        if operations > 0 && threads as u64 > operations {
            println!("Warning: the threadcount is bigger than recordcount, the threadcount will be recordcount!");
            threads = operations as usize;
        }
        let target: f64 = p.number("target", 0.0)?;
        if target > 0.0 && threads as f64 / target > 1e6 {
            return Err(Error::Setup(format!("the property target: {target} operations a second are too few")));
        }
        let seconds = |name: &str, default: u64| p.number(name, default).map(Duration::from_secs);
        let every = seconds("status.interval", 10)?.max(Duration::from_secs(1));
        Ok(Plan {
            load,
            threads,
            operations: (operations > 0).then_some(operations),
            target: (target > 0.0).then_some(target),
            longest: Some(seconds("maxexecutiontime", 0)?).filter(|longest| !longest.is_zero()),
            status_every: p.flag("status", false).then_some(every),
        })
    }

    fn session(&self, workload: &Rc<Workload>, measurements: Rc<Measurements>) -> Session {
        Session {
            workload: workload.clone(),
            observe: measurements,
            load: self.load,
            operations: self.operations,
            target: self.target,
            threads: self.threads,
            done: Cell::new(0),
            stop: Cell::new(false),
        }
    }
}

/// Asks the threads to stop when the time is over; never ends.
async fn stop(session: &Session, longest: Option<Duration>) {
    if let Some(longest) = longest {
        eprintln!("Maximum execution time specified as: {} secs", longest.as_secs());
        tokio::time::sleep(longest).await;
        eprintln!("Maximum time elapsed. Requesting stop for the workload.");
        session.stop.set(true);
    }
    std::future::pending().await
}

/// A binding for each thread.
async fn connect(line: &Line, workload: &Workload, threads: usize) -> Result<Vec<Db>, Error> {
    let (p, table) = (&line.properties, workload.table.as_str());
    match line.binding {
        Binding::Basic => {
            let seen = Rc::new(RefCell::default());
            (0..threads).map(|_| Ok(Db::Basic(db::basic::Basic::new(p, table, &seen)?))).collect()
        }
        Binding::HBase => {
            let shared = db::hbase::Shared::connect(p, &line.folders, table).await?;
            Ok((0..threads).map(|_| Db::HBase(Box::new(shared.db()))).collect())
        }
    }
}

/// Of the whole session. There is no garbage collection: scripts that look for its figures find that it took no time.
fn overall(out: &mut Export, operations: u64, took: Duration) {
    let ms = took.as_millis() as u64;
    out.whole("OVERALL", "RunTime(ms)", ms);
    out.number("OVERALL", "Throughput(ops/sec)", 1000.0 * operations as f64 / ms as f64);
    out.whole("TOTAL_GCs", "Count", 0);
    out.whole("TOTAL_GC_TIME", "Time(ms)", 0);
    out.number("TOTAL_GC_TIME_%", "Time(%)", 0.0);
}

fn write(p: &Properties, results: &str) -> Result<(), Error> {
    match p.get("exportfile") {
        None => Ok(std::io::stdout().write_all(results.as_bytes())?),
        Some(file) => std::fs::write(file, results).map_err(Error::file(Path::new(file))),
    }
}
