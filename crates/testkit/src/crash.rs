//! The crash test: kill -9 at a random moment under load, start again, and look at every row.
//!
//! What must hold after each round:
//! - a row holds a value that was acknowledged last, or one that was sent after it: never an older one, never half of
//!   one (its two families always agree);
//! - a counter is exactly the number of increments sent: those in doubt are sent again with their nonce first;
//! - a table whose creation was acknowledged is there with its row, one whose deletion was acknowledged is not, and one
//!   in between is wholly there or wholly gone.

use crate::{Admin, Server, Table, TestError};
use martite_catalog::{FamilyDescriptor, TableDescriptor, TableName};
use martite_env::{Random, SeededRandom};
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const WRITERS: usize = 4;
const ROWS_PER_WRITER: u64 = 40;
const COUNTERS: u64 = 8;
const FAMILIES: [&str; 2] = ["a", "b"];

/// One row of one writer. Values are numbers that only grow.
#[derive(Debug, Clone, Copy, Default)]
struct RowState {
    acknowledged: u64,
    sent: u64,
}

/// One counter: how many increments are done, and the nonce of one in doubt.
#[derive(Debug, Clone, Copy, Default)]
struct CounterState {
    done: i64,
    in_doubt: Option<u64>,
    next_nonce: u64,
}

/// What is known of the table that comes and goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DdlState {
    Absent,
    Creating,
    Present,
    Deleting,
}

/// What the clients know, kept over all rounds.
struct Known {
    rows: Mutex<Vec<Vec<RowState>>>,
    counters: Mutex<Vec<CounterState>>,
    ddl: Mutex<DdlState>,
}

/// What one run did, for the report.
#[derive(Debug, Default, Clone, Copy)]
pub struct Report {
    pub rounds: u64,
    pub acknowledged_puts: u64,
    pub increments: u64,
    pub regions: usize,
}

/// A crash test over many rounds on one folder.
pub struct CrashTest {
    binary: PathBuf,
    data: PathBuf,
    random: Arc<SeededRandom>,
    known: Arc<Known>,
    table: TableName,
    ddl_table: TableName,
    /// Server settings that make flushes, compactions and splits frequent.
    settings: Vec<String>,
}

impl CrashTest {
    pub fn new(binary: &Path, data: &Path, seed: u64) -> Result<CrashTest, TestError> {
        let settings = [
            "-Dhbase.hregion.memstore.flush.size=65536",
            "-Dhbase.hstore.compaction.min=3",
            "-Dhbase.regionserver.hlog.blocksize=262144",
            "-Dhbase.server.thread.wakefrequency=200",
            "-Dhbase.table.sanity.checks=false",
            "--memory=256m",
        ];
        Ok(CrashTest {
            binary: binary.to_owned(),
            data: data.to_owned(),
            random: Arc::new(SeededRandom::new(seed)),
            known: Arc::new(Known {
                rows: Mutex::new(vec![vec![RowState::default(); ROWS_PER_WRITER as usize]; WRITERS]),
                counters: Mutex::new(vec![CounterState { next_nonce: 1, ..Default::default() }; COUNTERS as usize]),
                ddl: Mutex::new(DdlState::Absent),
            }),
            table: TableName::parse("crash")?,
            ddl_table: TableName::parse("comes_and_goes")?,
            settings: settings.iter().map(|s| (*s).to_owned()).collect(),
        })
    }

    /// Runs `rounds` rounds; an error names what was lost, and the folder stays as it is.
    pub fn run(&self, rounds: u64, mut progress: impl FnMut(u64)) -> Result<Report, TestError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut report = Report::default();
        for round in 0..=rounds {
            let server = self.start()?;
            runtime.block_on(self.prepare(&server, round == 0))?;
            report.regions = runtime.block_on(self.check(&server, round))?;
            if round == rounds {
                let code = server.stop(&self.binary, &self.data)?;
                if code != 0 {
                    return Err(TestError::Server(format!("the last stop ended with exit code {code}")));
                }
                break;
            }
            runtime.block_on(self.load_and_kill(server))?;
            report.rounds += 1;
            progress(round + 1);
        }
        report.acknowledged_puts = self.known.rows.lock().iter().flatten().map(|r| r.acknowledged).sum();
        report.increments = self.known.counters.lock().iter().map(|c| c.done as u64).sum();
        Ok(report)
    }

    fn start(&self) -> Result<Server, TestError> {
        let settings: Vec<&str> = self.settings.iter().map(String::as_str).collect();
        Server::start(&self.binary, &self.data, &settings)
    }

    async fn prepare(&self, server: &Server, first: bool) -> Result<(), TestError> {
        if first {
            let admin = Admin::connect(server.master, server.regionserver).await?;
            admin.create_table(&descriptor(&self.table), &[b"c", b"w2"]).await?;
        }
        Ok(())
    }

    /// Load on every front until a random moment, then kill -9.
    async fn load_and_kill(&self, server: Server) -> Result<(), TestError> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut tasks = Vec::new();
        for writer in 0..WRITERS {
            let table = Table::connect(server.regionserver, &self.table).await?;
            tasks.push(tokio::spawn(write_rows(table, writer, self.known.clone(), stop.clone(), self.random.u64())));
        }
        let table = Table::connect(server.regionserver, &self.table).await?;
        tasks.push(tokio::spawn(count(table, self.known.clone(), stop.clone(), self.random.u64())));
        let admin = Admin::connect(server.master, server.regionserver).await?;
        let table = Table::connect(server.regionserver, &self.table).await?;
        tasks.push(tokio::spawn(disturb(admin, table, stop.clone(), self.random.u64())));
        let admin = Admin::connect(server.master, server.regionserver).await?;
        let table = Table::connect(server.regionserver, &self.ddl_table).await?;
        tasks.push(tokio::spawn(come_and_go(admin, table, self.ddl_table.clone(), self.known.clone(), stop.clone())));
        tokio::time::sleep(Duration::from_millis(20 + self.random.u64() % 600)).await;
        server.kill()?;
        stop.store(true, Ordering::Release);
        for task in tasks {
            // Each ends at its first error after the kill.
            let _ = task.await;
        }
        Ok(())
    }

    /// Looks at everything; the number of regions.
    async fn check(&self, server: &Server, round: u64) -> Result<usize, TestError> {
        let lost = |what: String| Err(TestError::Server(format!("after {round} rounds: {what}")));
        let table = Table::connect(server.regionserver, &self.table).await?;
        self.settle_counters(&table).await?;
        let cells = table.scan_all().await?;
        let value_of = |row: &str, family: &str| {
            cells
                .iter()
                .map(|c| c.as_ref())
                .find(|c| c.row() == row.as_bytes() && c.family() == family.as_bytes())
                .map_or(0, |c| c.value.try_into().map(u64::from_be_bytes).unwrap_or(u64::MAX))
        };
        let mut rows = self.known.rows.lock().clone();
        for (writer, states) in rows.iter_mut().enumerate() {
            for (index, state) in states.iter_mut().enumerate() {
                let row = row_name(writer, index as u64);
                let (a, b) = (value_of(&row, "a"), value_of(&row, "b"));
                if a != b {
                    return lost(format!("row {row} is torn: a has {a}, b has {b}"));
                }
                if a < state.acknowledged || a > state.sent {
                    return lost(format!(
                        "row {row} has {a}; acknowledged {}, sent {}",
                        state.acknowledged, state.sent
                    ));
                }
                // Whatever it is now is what it stays.
                *state = RowState { acknowledged: a, sent: a };
            }
        }
        *self.known.rows.lock() = rows;
        let counters = self.known.counters.lock().clone();
        for (index, counter) in counters.iter().enumerate() {
            let row = counter_name(index as u64);
            let value = value_of(&row, "a") as i64;
            if value != counter.done {
                return lost(format!("counter {row} is {value}, {} increments were sent", counter.done));
            }
        }
        self.check_ddl(server).await?;
        Ok(table.load_regions().await?.len())
    }

    /// Sends increments in doubt again, with their nonces.
    async fn settle_counters(&self, table: &Table) -> Result<(), TestError> {
        let counters = self.known.counters.lock().clone();
        for (index, counter) in counters.iter().enumerate() {
            if let Some(nonce) = counter.in_doubt {
                let row = counter_name(index as u64);
                table.increment(row.as_bytes(), "a", "n", 1, (index as u64 + 1, nonce)).await?;
                let mut known = self.known.counters.lock();
                known[index].done += 1;
                known[index].in_doubt = None;
            }
        }
        Ok(())
    }

    async fn check_ddl(&self, server: &Server) -> Result<(), TestError> {
        let admin = Admin::connect(server.master, server.regionserver).await?;
        let there = admin.table_names().await?.contains(&self.ddl_table);
        let state = *self.known.ddl.lock();
        let allowed = match state {
            DdlState::Absent => !there,
            DdlState::Present => there,
            DdlState::Creating | DdlState::Deleting => true,
        };
        if !allowed {
            return Err(TestError::Server(format!("table {} there: {there}, but it is {state:?}", self.ddl_table)));
        }
        if there {
            // Half a creation or deletion was finished or rolled back: the table is one that can be dropped.
            let _ = admin.disable_table(&self.ddl_table).await;
            admin.delete_table(&self.ddl_table).await?;
        }
        *self.known.ddl.lock() = DdlState::Absent;
        Ok(())
    }
}

fn row_name(writer: usize, index: u64) -> String {
    format!("w{writer}-{index:04}")
}

fn counter_name(index: u64) -> String {
    format!("c{index:02}")
}

/// Blocks are small so that even small files have a middle to split at.
fn descriptor(name: &TableName) -> TableDescriptor {
    let family = |name: &str| FamilyDescriptor::new(name).with("BLOCKSIZE", "1024");
    FAMILIES.iter().fold(TableDescriptor::new(name.clone()), |t, f| t.with_family(family(f)))
}

/// Puts growing numbers into the writer's rows, both families at once.
async fn write_rows(table: Table, writer: usize, known: Arc<Known>, stop: Arc<AtomicBool>, seed: u64) {
    let random = SeededRandom::new(seed);
    while !stop.load(Ordering::Acquire) {
        let index = random.u64() % ROWS_PER_WRITER;
        let value = {
            let mut rows = known.rows.lock();
            let state = &mut rows[writer][index as usize];
            state.sent += 1;
            state.sent
        };
        let row = row_name(writer, index);
        // The rest of the row makes flushes come often.
        let outcome = table.put(row.as_bytes(), &FAMILIES, "n", &value.to_be_bytes()).await;
        if outcome.is_err() {
            return;
        }
        known.rows.lock()[writer][index as usize].acknowledged = value;
    }
}

async fn count(table: Table, known: Arc<Known>, stop: Arc<AtomicBool>, seed: u64) {
    let random = SeededRandom::new(seed);
    while !stop.load(Ordering::Acquire) {
        let index = random.u64() % COUNTERS;
        let nonce = {
            let mut counters = known.counters.lock();
            let counter = &mut counters[index as usize];
            let nonce = counter.next_nonce;
            counter.next_nonce += 1;
            counter.in_doubt = Some(nonce);
            nonce
        };
        let row = counter_name(index);
        if table.increment(row.as_bytes(), "a", "n", 1, (index + 1, nonce)).await.is_err() {
            return;
        }
        let mut counters = known.counters.lock();
        counters[index as usize].done += 1;
        counters[index as usize].in_doubt = None;
    }
}

/// Flushes, compacts and splits at random; refusals are part of it.
async fn disturb(admin: Admin, table: Table, stop: Arc<AtomicBool>, seed: u64) {
    let random = SeededRandom::new(seed);
    while !stop.load(Ordering::Acquire) {
        let Ok(regions) = table.load_regions().await else { return };
        let Some(region) = regions.get(random.u64() as usize % regions.len().max(1)) else { continue };
        let _ = match random.u64() % 10 {
            0..=5 => admin.flush_region(region).await,
            6..=7 => admin.compact_region(region, random.u64().is_multiple_of(2)).await,
            _ if regions.len() < 12 => admin.split_region(region).await,
            _ => admin.compact_region(region, true).await,
        };
        tokio::time::sleep(Duration::from_millis(random.u64() % 20)).await;
    }
}

/// Creates a table, writes a row, drops it, over and over.
async fn come_and_go(admin: Admin, table: Table, name: TableName, known: Arc<Known>, stop: Arc<AtomicBool>) {
    let set = |state: DdlState| *known.ddl.lock() = state;
    while !stop.load(Ordering::Acquire) {
        set(DdlState::Creating);
        if admin.create_table(&descriptor(&name), &[b"m"]).await.is_err() {
            return;
        }
        set(DdlState::Present);
        if table.put(b"r", &FAMILIES, "q", b"v").await.is_err() {
            return;
        }
        if admin.disable_table(&name).await.is_err() {
            return;
        }
        set(DdlState::Deleting);
        if admin.delete_table(&name).await.is_err() {
            return;
        }
        set(DdlState::Absent);
    }
}
