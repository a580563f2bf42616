//! The crash test: kill -9 at a random moment under load, start again, and look at every row.
//!
//! What must hold after each round:
//! - a row holds a value that was acknowledged last, or one that was sent after it: never an older one, never half of
//!   one (its two families always agree, and each byte of a value follows from its number);
//! - a counter, which several clients increment at once, is exactly the number of increments sent: those in doubt are
//!   sent again with their nonce first;
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
/// Clients that increment the same counters.
const COUNTING: usize = 3;
const COUNTERS: u64 = 4;
/// A table with so many regions is dropped, and a new one takes its place.
const MOST_REGIONS: usize = 12;
const FAMILIES: [&str; 2] = ["a", "b"];

/// One row of one writer. Values are numbers that only grow.
#[derive(Debug, Clone, Copy, Default)]
struct RowState {
    acknowledged: u64,
    sent: u64,
}

/// The counters, and of each client the increment in doubt: its counter and its nonce.
#[derive(Debug, Clone, Default)]
struct Counters {
    done: [i64; COUNTERS as usize],
    in_doubt: [Option<(u64, u64)>; COUNTING],
    last_nonce: u64,
}

/// What is known of the table that comes and goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DdlState {
    Absent,
    Creating,
    Empty,
    /// With its row.
    Filled,
    Disabling,
    Deleting,
}

/// What the clients know, kept over all rounds.
struct Known {
    rows: Mutex<Vec<Vec<RowState>>>,
    counters: Mutex<Counters>,
    ddl: Mutex<DdlState>,
    done: Mutex<Report>,
}

impl Known {
    /// An increment of this client is done.
    fn counted(&self, client: usize, index: u64) {
        let mut counters = self.counters.lock();
        counters.done[index as usize] += 1;
        counters.in_doubt[client] = None;
        drop(counters);
        self.done.lock().increments += 1;
    }
}

/// What one run did and was told that it is done.
#[derive(Debug, Default, Clone, Copy)]
pub struct Report {
    pub rounds: u64,
    pub puts: u64,
    pub increments: u64,
    pub flushes: u64,
    /// Compactions asked for.
    pub compactions: u64,
    pub splits: u64,
    /// Tables created and dropped again.
    pub tables: u64,
    /// The most regions that the table had.
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
            "-Dhbase.server.compactchecker.interval.multiplier=1",
            "-Dhbase.table.sanity.checks=false",
            "--memory=256m",
        ];
        Ok(CrashTest {
            binary: binary.to_owned(),
            data: data.to_owned(),
            random: Arc::new(SeededRandom::new(seed)),
            known: Arc::new(Known {
                rows: Mutex::new(vec![vec![RowState::default(); ROWS_PER_WRITER as usize]; WRITERS]),
                counters: Mutex::default(),
                ddl: Mutex::new(DdlState::Absent),
                done: Mutex::default(),
            }),
            table: TableName::parse("crash")?,
            ddl_table: TableName::parse("comes_and_goes")?,
            settings: settings.iter().map(|s| (*s).to_owned()).collect(),
        })
    }

    /// Runs `rounds` rounds; an error names what was lost, and the folder stays as it is.
    pub fn run(&self, rounds: u64, mut progress: impl FnMut(u64)) -> Result<Report, TestError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        for round in 0..=rounds {
            let server = self.start(round)?;
            if round == 0 {
                runtime.block_on(self.create(&server))?;
            }
            let regions = runtime.block_on(self.check(&server, round))?;
            if regions >= MOST_REGIONS {
                runtime.block_on(self.replace(&server))?;
            }
            if round == rounds {
                let code = server.stop(&self.binary, &self.data)?;
                if code != 0 {
                    return Err(TestError::Server(format!("the last stop ended with exit code {code}")));
                }
                break;
            }
            runtime.block_on(self.load_and_kill(server))?;
            progress(round + 1);
        }
        Ok(Report { rounds, ..*self.known.done.lock() })
    }

    /// In every other round nothing is forced to the disk: what the system has outlives the process.
    fn start(&self, round: u64) -> Result<Server, TestError> {
        let hsync = format!("-Dhbase.wal.hsync={}", round.is_multiple_of(2));
        let settings: Vec<&str> = self.settings.iter().chain([&hsync]).map(String::as_str).collect();
        Server::start(&self.binary, &self.data, &settings)
    }

    async fn create(&self, server: &Server) -> Result<(), TestError> {
        let admin = Admin::connect(server.master, server.regionserver).await?;
        Ok(admin.create_table(&descriptor(&self.table), &[b"c", b"w2"]).await?)
    }

    /// A new table with the old one's name, and nothing in it.
    async fn replace(&self, server: &Server) -> Result<(), TestError> {
        let admin = Admin::connect(server.master, server.regionserver).await?;
        admin.disable_table(&self.table).await?;
        admin.delete_table(&self.table).await?;
        self.known.rows.lock().iter_mut().flatten().for_each(|row| *row = RowState::default());
        self.known.counters.lock().done = Default::default();
        self.create(server).await
    }

    /// Load on every front until a random moment, then kill -9.
    async fn load_and_kill(&self, server: Server) -> Result<(), TestError> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut tasks = Vec::new();
        for writer in 0..WRITERS {
            let table = Table::connect(server.regionserver, &self.table).await?;
            tasks.push(tokio::spawn(write_rows(table, writer, self.known.clone(), stop.clone(), self.random.u64())));
        }
        for client in 0..COUNTING {
            let table = Table::connect(server.regionserver, &self.table).await?;
            tasks.push(tokio::spawn(count(table, client, self.known.clone(), stop.clone(), self.random.u64())));
        }
        let admin = Admin::connect(server.master, server.regionserver).await?;
        let table = Table::connect(server.regionserver, &self.table).await?;
        tasks.push(tokio::spawn(disturb(admin, table, self.known.clone(), stop.clone(), self.random.u64())));
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
            let mut cells = cells.iter().map(|c| c.as_ref());
            cells.find(|c| c.row() == row.as_bytes() && c.family() == family.as_bytes()).map_or(&[][..], |c| c.value)
        };
        // A scan that shows a cell twice would hide an older one.
        let names: Vec<_> = cells.iter().map(|c| c.as_ref()).map(|c| (c.row(), c.family(), c.qualifier())).collect();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] >= pair[1]) {
            return lost(format!("a scan shows {:?} before {:?}", pair[0], pair[1]));
        }
        let mut rows = self.known.rows.lock().clone();
        for (writer, states) in rows.iter_mut().enumerate() {
            for (index, state) in states.iter_mut().enumerate() {
                let row = row_name(writer, index as u64);
                let (a, b) = (number_of(value_of(&row, "a")), number_of(value_of(&row, "b")));
                let Some(a) = a.filter(|_| a == b) else {
                    return lost(format!("row {row} is torn: a has {a:?}, b has {b:?}"));
                };
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
        let done = self.known.counters.lock().done;
        for (index, done) in (0..).zip(done) {
            let row = counter_name(index);
            let value = value_of(&row, "a");
            let number = if value.is_empty() { Some(0) } else { value.try_into().map(i64::from_be_bytes).ok() };
            if number != Some(done) {
                return lost(format!("counter {row} is {}, {done} increments were sent", value.escape_ascii()));
            }
        }
        self.check_ddl(server).await?;
        let regions = table.load_regions().await?.len();
        let mut report = self.known.done.lock();
        report.regions = report.regions.max(regions);
        Ok(regions)
    }

    /// Sends increments in doubt again, with their nonces.
    async fn settle_counters(&self, table: &Table) -> Result<(), TestError> {
        let in_doubt = self.known.counters.lock().in_doubt;
        for (client, (index, nonce)) in in_doubt.into_iter().enumerate().filter_map(|(client, d)| Some((client, d?))) {
            increment(table, client, index, nonce).await?;
            self.known.counted(client, index);
        }
        Ok(())
    }

    async fn check_ddl(&self, server: &Server) -> Result<(), TestError> {
        let admin = Admin::connect(server.master, server.regionserver).await?;
        let there = admin.table_names().await?.contains(&self.ddl_table);
        let state = *self.known.ddl.lock();
        let allowed = match state {
            DdlState::Absent => !there,
            DdlState::Empty | DdlState::Filled | DdlState::Disabling => there,
            DdlState::Creating | DdlState::Deleting => true,
        };
        if !allowed {
            return Err(TestError::Server(format!("table {} there: {there}, but it is {state:?}", self.ddl_table)));
        }
        if state == DdlState::Filled {
            let row = Table::connect(server.regionserver, &self.ddl_table).await?.get(b"r").await?;
            if row.len() != FAMILIES.len() {
                return Err(TestError::Server(format!("table {} has {} cells of its row", self.ddl_table, row.len())));
            }
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

/// The value with a number: the number, and up to 3 KB that follow from it, so that flushes come by themselves too.
fn value(number: u64) -> Vec<u8> {
    let mut value = number.to_be_bytes().to_vec();
    let tail = SeededRandom::new(number);
    for _ in 0..tail.u64() % 384 {
        value.extend(tail.u64().to_be_bytes());
    }
    value
}

/// The number of a value; 0 without one, None if it is torn.
fn number_of(found: &[u8]) -> Option<u64> {
    let Some((number, _)) = found.split_first_chunk() else { return found.is_empty().then_some(0) };
    let number = u64::from_be_bytes(*number);
    (value(number) == found).then_some(number)
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
        let number = {
            let mut rows = known.rows.lock();
            let state = &mut rows[writer][index as usize];
            state.sent += 1;
            state.sent
        };
        let row = row_name(writer, index);
        if table.put(row.as_bytes(), &FAMILIES, "n", &value(number)).await.is_err() {
            return;
        }
        known.rows.lock()[writer][index as usize].acknowledged = number;
        known.done.lock().puts += 1;
    }
}

async fn increment(table: &Table, client: usize, index: u64, nonce: u64) -> Result<i64, TestError> {
    table.increment(counter_name(index).as_bytes(), "a", "n", 1, (client as u64 + 1, nonce)).await
}

async fn count(table: Table, client: usize, known: Arc<Known>, stop: Arc<AtomicBool>, seed: u64) {
    let random = SeededRandom::new(seed);
    while !stop.load(Ordering::Acquire) {
        let index = random.u64() % COUNTERS;
        let nonce = {
            let mut counters = known.counters.lock();
            counters.last_nonce += 1;
            counters.in_doubt[client] = Some((index, counters.last_nonce));
            counters.last_nonce
        };
        if increment(&table, client, index, nonce).await.is_err() {
            return;
        }
        known.counted(client, index);
    }
}

/// Flushes, compacts and splits at random; refusals are part of it.
async fn disturb(admin: Admin, table: Table, known: Arc<Known>, stop: Arc<AtomicBool>, seed: u64) {
    let random = SeededRandom::new(seed);
    while !stop.load(Ordering::Acquire) {
        let Ok(regions) = table.load_regions().await else { return };
        let Some(region) = regions.get(random.u64() as usize % regions.len().max(1)) else { continue };
        let what = random.u64() % 10;
        let done = match what {
            0..=4 => admin.flush_region(region).await,
            5..=7 => admin.compact_region(region, random.u64().is_multiple_of(2)).await,
            _ => admin.split_region(region).await,
        };
        if done.is_ok() {
            let mut report = known.done.lock();
            match what {
                0..=4 => report.flushes += 1,
                5..=7 => report.compactions += 1,
                _ => report.splits += 1,
            }
        }
        tokio::time::sleep(Duration::from_millis(random.u64() % 20)).await;
    }
}

/// Creates a table, writes a row, drops it, over and over.
async fn come_and_go(admin: Admin, table: Table, name: TableName, known: Arc<Known>, stop: Arc<AtomicBool>) {
    let pause = SeededRandom::new(known.done.lock().tables);
    let set = |state: DdlState| *known.ddl.lock() = state;
    while !stop.load(Ordering::Acquire) {
        set(DdlState::Creating);
        if admin.create_table(&descriptor(&name), &[b"m"]).await.is_err() {
            return;
        }
        set(DdlState::Empty);
        if table.put(b"r", &FAMILIES, "q", b"v").await.is_err() {
            return;
        }
        set(DdlState::Filled);
        tokio::time::sleep(Duration::from_millis(pause.u64() % 50)).await;
        set(DdlState::Disabling);
        if admin.disable_table(&name).await.is_err() {
            return;
        }
        set(DdlState::Deleting);
        if admin.delete_table(&name).await.is_err() {
            return;
        }
        set(DdlState::Absent);
        known.done.lock().tables += 1;
    }
}
