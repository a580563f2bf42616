//! [`Session`]: client threads at work: each draws an operation, does it, and waits until the next is due.
//!
//! ```text
//! thread   operation ── measured ──▶ next         closed: at once
//!                                                 -target: thread's n-th due at start + n · threads / target
//! ```
//! Threads are tasks of one thread of this process: one operation under way each, as YCSB's threads have.

use super::db::Db;
use super::measurement::{Name, Observe, Span, Status};
use super::workload::{Kind, Values, Workload};
use crate::Error;
use crate::alarm::Alarm;
use bytes::Bytes;
use martite_env::{OsRandom, Random, SeededRandom};
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What all threads of a session share.
pub struct Session {
    pub workload: Rc<Workload>,
    pub observe: Rc<dyn Observe>,
    /// Inserts, or the operations of a run.
    pub load: bool,
    /// Of all threads; none: until it is stopped.
    pub operations: Option<u64>,
    /// Operations a second of all threads.
    pub target: Option<f64>,
    pub threads: usize,
    pub done: Cell<u64>,
    pub stop: Cell<bool>,
}

/// One client thread.
struct Thread {
    session: Rc<Session>,
    db: Db,
    random: SeededRandom,
    /// When the operation that is under way was due.
    intended: Option<Instant>,
}

impl Session {
    /// Runs all threads to their end; a binding for each.
    pub async fn run(self: &Rc<Session>, dbs: Vec<Db>) -> Result<(), Error> {
        let tasks = tokio::task::LocalSet::new();
        let count = dbs.len() as u64;
        let mut running = Vec::new();
        for (nth, db) in (0..).zip(dbs) {
            // What does not divide evenly is for the first.
            let operations = self.operations.map(|all| all / count + u64::from(nth < all % count));
            let random = SeededRandom::new(OsRandom.u64());
            let thread = Thread { session: self.clone(), db, random, intended: None };
            running.push(tasks.spawn_local(thread.run(operations)));
        }
        tasks
            .run_until(async {
                for thread in running {
                    thread.await.map_err(|e| Error::Setup(format!("a client thread ended: {e}")))??;
                }
                Ok(())
            })
            .await
    }

    /// How far apart a thread's operations are due.
    fn tick(&self) -> Option<Duration> {
        self.target.map(|target| Duration::from_secs_f64(self.threads as f64 / target))
    }
}

impl Thread {
    async fn run(mut self, operations: Option<u64>) -> Result<(), Error> {
        let session = self.session.clone();
        let (tick, mut alarm) = (session.tick(), Alarm::default());
        if let Some(tick) = tick.filter(|tick| *tick >= Duration::from_millis(1)) {
            // Threads shall not all begin at once.
            let delay = self.random.below(tick.as_nanos() as u64);
            alarm.until(Instant::now() + Duration::from_nanos(delay)).await?;
        }
        let start = Instant::now();
        let mut done = 0;
        while operations.is_none_or(|operations| done < operations) && !session.stop.get() {
            let goes_on = if session.load { self.load().await } else { self.operate().await? };
            if !goes_on {
                break;
            }
            done += 1;
            // A binding that never waits must not keep the others from their turn.
            tokio::task::consume_budget().await;
            session.done.set(session.done.get() + 1);
            if let Some(tick) = tick {
                let due = start + Duration::from_nanos((tick.as_nanos() * u128::from(done)) as u64);
                alarm.until(due).await?;
                self.intended = Some(due);
            }
        }
        self.intended = None;
        let begin = Instant::now();
        self.db.cleanup(&*session.observe).await;
        self.end(Name::Cleanup, Status::Ok, begin);
        Ok(())
    }

    fn end(&self, name: Name, status: Status, begin: Instant) -> Span {
        let span = Span { intended: self.intended, begin, end: Instant::now() };
        self.session.observe.operation(name, status, span);
        span
    }

    /// Inserts the next record of the load. Whether the thread goes on.
    async fn load(&mut self) -> bool {
        let workload = self.session.workload.clone();
        let key = workload.key(workload.next_loaded());
        let values = workload.all_values(&key, &self.random);
        let mut tries = 0;
        loop {
            let begin = Instant::now();
            let status = self.db.insert(&key, values.clone()).await;
            self.end(Name::Insert, status, begin);
            if status == Status::Ok {
                return true;
            }
            tries += 1;
            if tries > workload.retry.limit {
                let limit = workload.retry.limit;
                eprintln!(
                    "Error inserting, not retrying any more. number of attempts: {tries}Insertion Retry Limit: {limit}"
                );
                return workload.retry.keep_going;
            }
            eprintln!("Retrying insertion, retry count: {tries}");
            // Eight to twelve tenths of the interval.
            let tenths = 0.8 + 0.4 * crate::zipfian::uniform(self.random.u64());
            tokio::time::sleep(workload.retry.interval.mul_f64(tenths)).await;
        }
    }

    async fn operate(&mut self) -> Result<bool, Error> {
        let workload = self.session.workload.clone();
        match workload.operation(&self.random) {
            None => return Ok(false),
            Some(Kind::Read) => self.read(&workload).await,
            Some(Kind::Update) => self.update(&workload).await,
            Some(Kind::Insert) => self.insert(&workload).await?,
            Some(Kind::Scan) => self.scan(&workload).await,
            Some(Kind::ReadModifyWrite) => self.read_modify_write(&workload).await,
        }
        Ok(true)
    }

    async fn read(&mut self, workload: &Workload) {
        let key = workload.key(workload.record(&self.random));
        let fields = workload.fields_to_read(&self.random, true);
        let begin = Instant::now();
        let (status, values) = self.db.read(&key, fields, workload.data_integrity).await;
        self.end(Name::Read, status, begin);
        if workload.data_integrity {
            self.verify(workload, &key, &values);
        }
    }

    async fn update(&mut self, workload: &Workload) {
        let key = workload.key(workload.record(&self.random));
        let values = workload.update_values(&key, &self.random);
        let begin = Instant::now();
        let status = self.db.update(&key, values).await;
        self.end(Name::Update, status, begin);
    }

    async fn insert(&mut self, workload: &Workload) -> Result<(), Error> {
        let record = workload.inserted.hand_out();
        let key = workload.key(record);
        let values = workload.all_values(&key, &self.random);
        let begin = Instant::now();
        let status = self.db.insert(&key, values).await;
        self.end(Name::Insert, status, begin);
        workload.inserted.acknowledge(record)
    }

    async fn scan(&mut self, workload: &Workload) {
        let key = workload.key(workload.record(&self.random));
        let length = workload.scan_length(&self.random);
        let fields = workload.fields_to_read(&self.random, false);
        let begin = Instant::now();
        let (status, records) = self.db.scan(&key, length, fields).await;
        let span = self.end(Name::Scan, status, begin);
        if records > 0 {
            let each = (span.end - begin) / u32::try_from(records).unwrap_or(u32::MAX);
            let span = Span { intended: None, begin, end: begin + each };
            self.session.observe.took(Name::ScanLatencyPerRecord, span);
        }
    }

    async fn read_modify_write(&mut self, workload: &Workload) {
        let key = workload.key(workload.record(&self.random));
        let fields = workload.fields_to_read(&self.random, false);
        let values = workload.update_values(&key, &self.random);
        let begin = Instant::now();
        let (status, seen) = self.db.read(&key, fields, workload.data_integrity).await;
        let read = self.end(Name::Read, status, begin);
        let status = self.db.update(&key, values).await;
        let update = self.end(Name::Update, status, read.end);
        if workload.data_integrity {
            self.verify(workload, &key, &seen);
        }
        self.session.observe.took(Name::ReadModifyWrite, Span { begin, ..update });
    }

    fn verify(&self, workload: &Workload, key: &Bytes, values: &Values) {
        let begin = Instant::now();
        let status = if values.is_empty() {
            // Nothing is never right.
            Status::Error
        } else if values.iter().all(|(field, value)| workload.is_right(key, field, value)) {
            Status::Ok
        } else {
            Status::UnexpectedState
        };
        self.session.observe.verified(status, Span { intended: None, begin, end: Instant::now() });
    }
}
