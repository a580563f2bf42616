//! [`Load`]: lines into the table, some batches of Puts under way while the next is read.

use crate::Error;
use crate::columns::Rule;
use crate::input::{Input, files, size_bytes};
use crate::settings::Settings;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use martite_catalog::{FamilyDescriptor, TableDescriptor};
use martite_client::{Action, Connection, Put, Table};
use martite_proto as pb;
use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// Lines and bytes of a batch at most.
const BATCH_LINES: usize = 5_000;
const BATCH_BYTES: usize = 2 << 20;
/// Batches under way: the server writes its log while others wait.
const UNDER_WAY: usize = 4;
/// Bad lines that are told one by one.
const TOLD: u64 = 100;

/// What came of an import.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Counts {
    pub files: usize,
    pub rows: u64,
    pub bad_lines: u64,
    pub took: Duration,
    pub dry_run: bool,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { files, rows, bad_lines, took, dry_run } = self;
        let seconds = took.as_secs_f64().max(1e-3);
        let what = if *dry_run { "rows read and not imported" } else { "rows imported" };
        writeln!(f, "{rows} {what} from {files} files in {seconds:.1} s, {:.0} rows/s", *rows as f64 / seconds)?;
        write!(f, "ImportTsv: Bad Lines={bad_lines}")
    }
}

type Sent = JoinHandle<Result<(), martite_client::Error>>;

pub struct Load<'a> {
    settings: &'a Settings,
    table: Table,
    batch: Vec<Action>,
    batch_bytes: usize,
    under_way: VecDeque<Sent>,
    counts: Counts,
}

impl<'a> Load<'a> {
    /// The table is looked at, and made if that is wanted.
    pub async fn new(connection: &Connection, settings: &'a Settings) -> Result<Load<'a>, Error> {
        check(connection, settings).await?;
        let counts = Counts { dry_run: settings.dry_run, ..Counts::default() };
        let table = connection.table(settings.table.clone());
        Ok(Load { settings, table, batch: Vec::new(), batch_bytes: 0, under_way: VecDeque::new(), counts })
    }

    pub async fn run(mut self, paths: &[PathBuf]) -> Result<Counts, Error> {
        let files = files(paths)?;
        let began = Instant::now();
        let read = Rc::new(Cell::new(0));
        let bar = bar(size_bytes(&files));
        for file in &files {
            self.file(file, &read, &bar).await?;
        }
        self.send().await?;
        while let Some(sent) = self.under_way.pop_front() {
            ended(sent).await?;
        }
        bar.finish_and_clear();
        self.counts.files = files.len();
        self.counts.took = began.elapsed();
        Ok(self.counts)
    }

    async fn file(&mut self, file: &Path, read: &Rc<Cell<u64>>, bar: &ProgressBar) -> Result<(), Error> {
        let rule = Rule { timestamp: self.settings.timestamp, skip_empty_columns: self.settings.skip_empty_columns };
        let (mut input, mut line) = (Input::open(file, read)?, Vec::new());
        while let Some(offset) = input.next(&mut line)? {
            match self.settings.columns.put(&line, rule) {
                // Every cell was empty.
                Ok(put) if put.is_empty() => self.bad(&input, offset, &line, "No columns to insert")?,
                Ok(put) => self.add(put, line.len()).await?,
                Err(why) => self.bad(&input, offset, &line, &why)?,
            }
            bar.set_position(read.get());
        }
        Ok(())
    }

    async fn add(&mut self, put: Put, bytes: usize) -> Result<(), Error> {
        self.counts.rows += 1;
        if self.settings.dry_run {
            return Ok(());
        }
        self.batch.push(put.into());
        self.batch_bytes += bytes;
        if self.batch.len() >= BATCH_LINES || self.batch_bytes >= BATCH_BYTES { self.send().await } else { Ok(()) }
    }

    /// Sends the batch once there are few enough under way.
    async fn send(&mut self) -> Result<(), Error> {
        self.batch_bytes = 0;
        if self.batch.is_empty() {
            return Ok(());
        }
        if self.under_way.len() >= UNDER_WAY
            && let Some(oldest) = self.under_way.pop_front()
        {
            ended(oldest).await?;
        }
        let (table, batch) = (self.table.clone(), std::mem::take(&mut self.batch));
        self.under_way.push_back(tokio::task::spawn_local(async move {
            table.batch(batch).await.into_iter().find_map(Result::err).map_or(Ok(()), Err)
        }));
        Ok(())
    }

    fn bad(&mut self, input: &Input, offset: u64, line: &[u8], why: &str) -> Result<(), Error> {
        let told = format!("Bad line at offset: {offset}:\n{why} ({}, line {})", input.name, input.line);
        self.counts.bad_lines += 1;
        if !self.settings.skip_bad_lines {
            return Err(Error::Wrong(told));
        }
        if self.settings.log_bad_lines {
            eprintln!("{}", String::from_utf8_lossy(line));
        }
        if self.counts.bad_lines <= TOLD || self.settings.log_bad_lines {
            eprintln!("{told}");
        } else if self.counts.bad_lines == TOLD + 1 {
            eprintln!("More bad lines are only counted; -Dimporttsv.log.bad.lines=true tells them all.");
        }
        Ok(())
    }
}

async fn ended(sent: Sent) -> Result<(), Error> {
    Ok(sent.await.map_err(|e| Error::Wrong(format!("a batch ended: {e}")))??)
}

/// The table must be there with all families, or is made.
async fn check(connection: &Connection, settings: &Settings) -> Result<(), Error> {
    let (name, families) = (&settings.table, settings.columns.families());
    let request = pb::GetTableDescriptorsRequest { table_names: vec![name.to_proto()], ..Default::default() };
    let answer: pb::GetTableDescriptorsResponse =
        connection.master_call("MasterService", "GetTableDescriptors", &request).await?;
    let Some(schema) = answer.table_schema.first() else {
        if !settings.create_table {
            let how = "-Dcreate.table=yes makes it";
            return Err(Error::Wrong(format!("Table '{name}' does not exist; {how}")));
        }
        if settings.dry_run {
            return Ok(());
        }
        let table = TableDescriptor::new(name.clone());
        let table = families.iter().fold(table, |table, family| table.with_family(FamilyDescriptor::new(family)));
        eprintln!("Creating table '{name}' with '{families:?}' columns and default descriptors.");
        return Ok(connection.admin().create_table(&table, &[]).await?);
    };
    let table = TableDescriptor::from_proto(schema).map_err(martite_client::Error::from)?;
    let missing: Vec<_> = families.iter().filter(|family| table.family(family.as_bytes()).is_none()).collect();
    if missing.is_empty() || settings.no_strict {
        return Ok(());
    }
    Err(Error::Wrong(format!("Column families: {missing:?} do not exist in the table '{name}'")))
}

/// On a terminal, by the bytes of files.
fn bar(bytes: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
    if let Ok(style) =
        ProgressStyle::with_template("{elapsed_precise} {bar:30} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left")
    {
        bar.set_style(style);
    }
    bar
}
