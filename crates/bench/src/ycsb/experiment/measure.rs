//! [`Measure`]: one server's part: its table, and one workload after the other, in the order that YCSB's own documentation prescribes.

use super::options::YcsbBench;
use super::record::{Record, Second};
use super::results::{Measurement, OperationResults, SecondResults, ServerResults};
use crate::Error;
use crate::process::{self, Process};
use crate::progress::Progress;
use crate::server::Server;
use crate::setup;
use crate::ycsb::db::Db;
use crate::ycsb::db::hbase::Shared;
use crate::ycsb::properties::Properties;
use crate::ycsb::session::Session;
use crate::ycsb::workload::Workload;
use martite_catalog::{FamilyDescriptor, TableDescriptor, TableName};
use martite_client::{Admin, Cluster, Connection, Options, Registry};
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

const TABLE: &str = "usertable";
const FAMILY: &str = "family";
/// Keys begin with it, and then with a digit from 1 to 9.
const PREFIX: &str = "user";
/// Bytes of a batch when the table is loaded.
const WRITE_BUFFER: &str = "1048576";
/// A workload is warmed up so many times longer than a measurement.
const FIRST: u32 = 4;

pub struct Measure<'a> {
    name: &'a str,
    server: &'a Server,
    options: &'a YcsbBench,
    progress: &'a Progress,
    connection: Connection,
    /// Records that are there, also those that workloads have inserted.
    records: Cell<u64>,
}

/// How long a session goes on.
#[derive(Clone, Copy)]
enum Length {
    /// Until all records are loaded.
    Load,
    Seconds {
        warmup: Duration,
        measured: Duration,
    },
}

impl<'a> Measure<'a> {
    pub async fn connect(
        name: &'a str,
        server: &'a Server,
        options: &'a YcsbBench,
        progress: &'a Progress,
    ) -> Result<Measure<'a>, Error> {
        let connection = Connection::connect(Options::new(Registry::rpc(&server.registry))).await?;
        let records = Cell::new(options.settings().records);
        Ok(Measure { name, server, options, progress, connection, records })
    }

    pub async fn all(&self) -> Result<ServerResults, Error> {
        let lengths = self.options.settings();
        self.step("load");
        let admin = self.create().await?;
        let load = self.load().await?;
        self.settle(&admin).await?;
        let mut measurements = Vec::new();
        for mix in self.options.workloads() {
            let most = self.options.most_threads();
            if mix.wants_fresh_table() && !measurements.is_empty() {
                self.step(&format!("{}, load", mix.name()));
                self.load_anew(&admin).await?;
            }
            self.step(&format!("{}, warm up", mix.name()));
            let warmup = Duration::from_secs_f64(lengths.warmup);
            if !warmup.is_zero() {
                let length = Length::Seconds { warmup: warmup * FIRST, measured: Duration::ZERO };
                self.session(mix.name(), most, mix.properties(), length).await?;
            }
            for &threads in &self.options.threads {
                self.step(&format!("{} by {threads}", mix.name()));
                let measured = Duration::from_secs_f64(lengths.seconds);
                let length = Length::Seconds { warmup, measured };
                measurements.push(self.session(mix.name(), threads, mix.properties(), length).await?);
            }
        }
        Ok(ServerResults {
            name: self.name.to_owned(),
            title: self.server.title.clone(),
            started_in_ms: self.server.started_in.map(|d| d.as_secs_f64() * 1e3),
            memory_mib: self.server.process.map(|p| p.memory_mib()).transpose()?.map(|(now, _)| now),
            load,
            measurements,
        })
    }

    /// A tenth of the records by single inserts, which are measured, the rest in batches.
    async fn load(&self) -> Result<Measurement, Error> {
        let threads = self.options.load_threads as usize;
        let records = self.records.get();
        let single = (records / 10).max(1);
        let count = |count: u64| count.to_string();
        let load = self.session("load", threads, &[("insertcount", &count(single))], Length::Load).await?;
        let rest = [
            ("insertstart", &*count(single)),
            ("insertcount", &*count(records - single)),
            ("clientbuffering", "true"),
            ("writebuffersize", WRITE_BUFFER),
        ];
        self.session("load", threads, &rest, Length::Load).await?;
        Ok(load)
    }

    /// The table is deleted and made and loaded again.
    async fn load_anew(&self, admin: &Admin) -> Result<(), Error> {
        let name: TableName = TABLE.parse().map_err(martite_client::Error::from)?;
        admin.disable_table(&name).await?;
        admin.delete_table(&name).await?;
        self.records.set(self.options.settings().records);
        let admin = self.create().await?;
        self.load().await?;
        self.settle(&admin).await
    }

    /// The table, with regions as YCSB's guide to HBase splits it.
    async fn create(&self) -> Result<Admin, Error> {
        let name: TableName = TABLE.parse().map_err(martite_client::Error::from)?;
        let table = TableDescriptor::new(name.clone()).with_family(FamilyDescriptor::new(FAMILY));
        let regions = self.options.regions;
        let splits: Vec<String> =
            (1..regions).map(|i| format!("{PREFIX}{}", 1000 + i * (9999 - 1000) / regions)).collect();
        let splits: Vec<&[u8]> = splits.iter().map(|split| split.as_bytes()).collect();
        let cluster = Cluster::connect(&self.server.registry).await?;
        setup::create(&cluster, &table, &splits).await
    }

    /// Files are as a long run would have them: one a store, and no work left.
    async fn settle(&self, admin: &Admin) -> Result<(), Error> {
        let name: TableName = TABLE.parse().map_err(martite_client::Error::from)?;
        let cluster = Cluster::connect(&self.server.registry).await?;
        setup::settle(&cluster, admin, &name).await?;
        setup::quiet(self.server.process).await
    }

    fn properties(&self, mix: &[(&str, &str)]) -> Properties {
        let records = self.records.get();
        let mut p = Properties::default();
        p.parse("workload=site.ycsb.workloads.CoreWorkload\ntable=usertable\ncolumnfamily=family");
        p.set("recordcount", &records.to_string());
        // Of it follows how many inserts are expected.
        p.set("operationcount", &records.to_string());
        mix.iter().for_each(|(name, value)| p.set(name, value));
        p
    }

    async fn session(
        &self,
        name: &str,
        threads: usize,
        mix: &[(&str, &str)],
        length: Length,
    ) -> Result<Measurement, Error> {
        let p = self.properties(mix);
        let workload = Rc::new(Workload::new(&p)?);
        let shared = Shared::new(&p, &self.connection, TABLE).await?;
        let record = Rc::new(Record::new());
        let load = matches!(length, Length::Load);
        let session = Rc::new(Session {
            workload: workload.clone(),
            observe: record.clone(),
            load,
            operations: load.then_some(workload.insert_count),
            target: None,
            threads,
            done: Cell::new(0),
            stop: Cell::new(false),
        });
        let dbs = (0..threads).map(|_| Db::HBase(Box::new(shared.db()))).collect();
        let watch = Watch { session: &session, record: &record, process: self.server.process };
        let ((), seen) = tokio::try_join!(
            async {
                let ended = session.run(dbs).await;
                session.stop.set(true);
                ended
            },
            watch.until_the_end(length)
        )?;
        if load && session.done.get() < workload.insert_count {
            return Err(Error::wrong(format!("{} of {} records", session.done.get(), workload.insert_count)));
        }
        self.records.set(workload.inserted.end());
        Ok(seen.measurement(name, threads, &record))
    }

    fn step(&self, what: &str) {
        self.progress.step(&format!("{}: {what}", self.name));
    }
}

/// Looks at a session each second.
struct Watch<'a> {
    session: &'a Session,
    record: &'a Record,
    process: Option<Process>,
}

/// What has been used so far.
#[derive(Clone, Copy)]
struct Used {
    at: Instant,
    server: Option<Duration>,
    client: Duration,
    machine: Duration,
    /// Bytes read from and written to disks; of processes of others nothing is told.
    disk: Option<(u64, u64)>,
}

/// What a session used while it counted.
struct Seen {
    before: Used,
    after: Used,
    seconds: Vec<SecondResults>,
}

impl Watch<'_> {
    fn used(&self) -> Result<Used, Error> {
        Ok(Used {
            at: Instant::now(),
            server: self.process.map(|p| p.cpu()).transpose()?,
            client: Process::this().cpu()?,
            machine: process::machine_cpu()?,
            disk: self.process.and_then(|p| p.disk().ok()),
        })
    }

    /// Ends the session when its time is over.
    async fn until_the_end(&self, length: Length) -> Result<Seen, Error> {
        let measured = match length {
            Length::Load => None,
            Length::Seconds { warmup, measured } => {
                tokio::time::sleep(warmup).await;
                Some(measured)
            }
        };
        let before = self.used()?;
        let forever = Duration::from_secs(86_400 * 365);
        self.record.begin(before.at, measured.unwrap_or(forever));
        let end = measured.map(|measured| before.at + measured);
        let (mut last, mut seconds) = (before, Vec::new());
        for second in 1.. {
            let due = before.at + Duration::from_secs(second);
            let over = end.is_some_and(|end| due > end);
            if over || self.wait(due).await {
                break;
            }
            let now = self.used()?;
            seconds.push(second_results(&last, &now, self.record.second()));
            last = now;
        }
        if let Some(end) = end {
            self.wait(end).await;
        }
        let after = self.used()?;
        self.session.stop.set(true);
        Ok(Seen { before, after, seconds })
    }

    /// Until then, or until the session has ended; whether it has.
    async fn wait(&self, until: Instant) -> bool {
        const LOOK: Duration = Duration::from_millis(20);
        while !self.session.stop.get() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            // A load ends by itself: it is looked at in between.
            let step = if self.session.load { left.min(LOOK) } else { left };
            tokio::time::sleep(step).await;
        }
        true
    }
}

fn second_results(last: &Used, now: &Used, second: Second) -> SecondResults {
    let seconds = (now.at - last.at).as_secs_f64().max(1e-9);
    let cores = now.server.zip(last.server).map(|(now, last)| now.saturating_sub(last).as_secs_f64() / seconds);
    let disk = now.disk.zip(last.disk);
    let per_second = |now: u64, last: u64| now.saturating_sub(last) as f64 / seconds;
    SecondResults {
        operations_per_s: second.operations as f64 / seconds,
        p99_us: second.p99_us,
        server_cores: cores,
        read_bytes_per_s: disk.map(|(now, last)| per_second(now.0, last.0)),
        written_bytes_per_s: disk.map(|(now, last)| per_second(now.1, last.1)),
    }
}

impl Seen {
    fn measurement(self, workload: &str, threads: usize, record: &Record) -> Measurement {
        let Seen { before, after, seconds } = self;
        let took = (after.at - before.at).as_secs_f64().max(1e-9);
        let operations: Vec<OperationResults> = record.operations().iter().map(OperationResults::of).collect();
        let count = OperationResults::count(&operations);
        let server = after.server.zip(before.server).map(|(after, before)| after.saturating_sub(before));
        let client = after.client.saturating_sub(before.client);
        let machine = after.machine.saturating_sub(before.machine);
        let disk = after.disk.zip(before.disk);
        Measurement {
            workload: workload.to_owned(),
            threads,
            seconds: took,
            operations_per_s: count as f64 / took,
            failed: operations.iter().map(|operation| operation.failed).sum(),
            operations_per_server_cpu_s: server.filter(|s| !s.is_zero()).map(|s| count as f64 / s.as_secs_f64()),
            server_cores: server.map(|server| server.as_secs_f64() / took),
            client_cores: client.as_secs_f64() / took,
            client_cpu_us_per_operation: client.as_secs_f64() * 1e6 / count.max(1) as f64,
            other_cores: server.map(|server| machine.saturating_sub(server + client).as_secs_f64() / took),
            read_bytes: disk.map(|(after, before)| after.0.saturating_sub(before.0)),
            written_bytes: disk.map(|(after, before)| after.1.saturating_sub(before.1)),
            operations,
            per_second: seconds,
        }
    }
}
