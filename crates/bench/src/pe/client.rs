//! [`Client`]: one client's rows, one after the other.

use super::command::Does;
use super::options::{Options, ValueSize};
use super::report::{self, Finished, Watch, histogram, short};
use super::table::family_name;
use crate::zipfian::uniform;
use crate::{Error, rows};
use hdrhistogram::Histogram;
use martite_client::{
    Action, Append, CheckAndMutate, Delete, Get, Increment, Put, Row, RowMutations, Scan, Scanner, Table,
};
use martite_env::{OsRandom, Random, SeededRandom};
use martite_filter::{CompareOp, build};
use martite_proto as pb;
use pb::mutation_proto::Durability;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Rows of a random seek scan, of each region.
const SEEK_ROWS: i64 = 120;
/// The exponent by which values are short, with --valueZipf.
const ZIPF: f64 = 1.2;
/// What a buffered cell takes beside its bytes, as HBase's client estimates it, about.
const CELL_OVERHEAD: usize = 100;

/// The rows of one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    pub start: u64,
    /// Exclusive.
    pub end: u64,
    /// As it was told, from which the status counts.
    pub offset: u64,
}

impl Rows {
    pub fn of(options: &Options, index: u64) -> Rows {
        let offset = if options.start_row == 0 { index * options.rows } else { options.start_row };
        // Clients that compare and change do so with the same rows.
        let start = if options.command.is_overlapping() { 0 } else { offset };
        Rows { start, end: start + options.rows, offset }
    }
}

pub struct Client {
    options: Rc<Options>,
    table: Table,
    index: usize,
    rows: Rows,
    random: SeededRandom,
    families: Vec<String>,
    qualifiers: Vec<String>,
    /// Of increments and the like.
    own_qualifier: String,
    /// Sums of the weights of values' lengths, with --valueZipf.
    lengths: Vec<f64>,
    scanner: Option<Scanner>,
    /// What waits for as many as go together.
    waiting: Vec<Action>,
    waiting_bytes: usize,
    stale: u64,
    watch: Rc<Watch>,
}

impl Client {
    pub fn new(options: Rc<Options>, table: Table, index: usize, rows: Rows, watch: Rc<Watch>) -> Client {
        let zipf = options.value == ValueSize::Zipf;
        Client {
            table,
            index,
            rows,
            random: SeededRandom::new(OsRandom.u64()),
            families: (0..options.families).map(family_name).collect(),
            qualifiers: (0..options.columns).map(|nth| nth.to_string()).collect(),
            own_qualifier: options.command.test_name(),
            lengths: if zipf { zipf_sums(options.value_size) } else { Vec::new() },
            scanner: None,
            waiting: Vec::new(),
            waiting_bytes: 0,
            stale: 0,
            watch,
            options,
        }
    }

    fn log(&self, text: &str) {
        self.watch.log(&format!("TestClient-{}", self.index), text);
    }

    pub async fn run(mut self) -> Result<Finished, Error> {
        let options = self.options.clone();
        let (name, every, rows) = (options.command.test_name(), options.every(), options.rows);
        self.log(&format!("Start {name} at offset {} for {rows} rows", self.rows.offset));
        self.log(&format!("Sampling 1 every {every} out of {rows} total rows."));
        let (mut latencies_us, mut over_threshold) = (histogram()?, 0);
        let began = Instant::now();
        let period = options.period();
        for cycle in 0..options.cycles {
            if options.cycles > 1 {
                self.log(&format!("Cycle={cycle} of {}", options.cycles));
            }
            for row in (self.rows.start..self.rows.end).filter(|row| row % every == 0) {
                let start = Instant::now();
                let sent = self.row(row).await?;
                if row - self.rows.start > options.measure_after {
                    let took = start.elapsed();
                    if sent {
                        latencies_us.saturating_record(took.as_micros() as u64);
                        let ms = took.as_millis() as u64;
                        over_threshold += u64::from(options.latency_threshold > 0 && ms >= options.latency_threshold);
                    }
                    if row > 0 && row % period == 0 {
                        self.status(row, &latencies_us);
                    }
                }
                self.watch.row();
                tokio::task::consume_budget().await;
            }
        }
        self.send().await?;
        drop(self.scanner.take());
        let finished = Finished { took: began.elapsed(), latencies_us, over_threshold, stale: self.stale };
        report::client(&options, &self.watch, self.index, self.rows.offset, &finished);
        Ok(finished)
    }

    fn status(&self, row: u64, latencies_us: &Histogram<u64>) {
        let Rows { start, end, .. } = self.rows;
        self.log(&format!("row [start={start}, current={row}, last={end}], latency [{}]", short(latencies_us)));
    }

    /// Whether something was asked now; of several that go together, only with the last.
    async fn row(&mut self, row: u64) -> Result<bool, Error> {
        let options = self.options.clone();
        let sleep_ms = options.random_sleep_ms;
        if sleep_ms > 0 && options.command.does == Does::Get && options.command.random {
            tokio::time::sleep(Duration::from_millis(self.random.below(sleep_ms))).await;
        }
        let key = rows::key(if options.command.random { self.random.below(options.total_rows) } else { row });
        match options.command.does {
            Does::Get => return self.get(&key).await,
            Does::Put => return self.put(&key).await,
            Does::Delete => return self.delete(&key).await,
            Does::Scan { reversed } => self.next(reversed).await?,
            Does::FilterScan => {
                let equal = build::single_column_value("info0", "0", CompareOp::Equal, build::binary(self.value()));
                let mut filters = vec![equal.build()];
                filters.extend(options.filter_all.then(build::filter_all));
                let scan = self.columns_of_first(self.scan()).filter(build::all(filters));
                self.all(scan).await?;
            }
            Does::SeekScan => {
                let mut filters: Vec<pb::Filter> = options.filter_all.then(build::filter_all).into_iter().collect();
                filters.push(build::while_match(build::page(SEEK_ROWS)));
                let scan = self.columns_of_all(self.scan().start(key)).filter(build::all(filters));
                self.all(scan).await?;
            }
            Does::Range(rows) => {
                let first = self.random.below(options.total_rows);
                let stop = rows::key(first + rows);
                let scan = self.columns_of_all(self.scan().start(rows::key(first)).stop(stop));
                let scan = if options.filter_all { scan.filter(build::filter_all()) } else { scan };
                let count = self.all(scan).await?;
                if row.is_multiple_of(100) {
                    let text = |key: &rows::Key| String::from_utf8_lossy(key).into_owned();
                    let (from, to) = (text(&rows::key(first)), text(&stop));
                    self.log(&format!("Scan for key range {from} - {to} returned {count} rows"));
                }
            }
            _ => self.change(&rows::key(row)).await?,
        }
        Ok(true)
    }

    async fn get(&mut self, key: &rows::Key) -> Result<bool, Error> {
        let options = &self.options;
        let mut get = Get::row(key);
        for family in &self.families {
            get = match options.add_columns {
                true => self.qualifiers.iter().fold(get, |get, qualifier| get.column(family, qualifier)),
                false => get.family(family),
            };
        }
        if options.filter_all {
            get = get.filter(build::filter_all());
        }
        if options.replicas > 1 && options.command.random {
            get = get.consistency(pb::Consistency::Timeline);
        }
        if options.multi_get > 0 && options.command.random {
            self.waiting.push(get.into());
            return if self.waiting.len() >= options.multi_get { self.send().await.map(|()| true) } else { Ok(false) };
        }
        let row = self.table.get(get).await?;
        self.stale += u64::from(row.is_stale());
        Ok(true)
    }

    fn durability(&self) -> Durability {
        if self.options.write_to_wal { Durability::SyncWal } else { Durability::SkipWal }
    }

    async fn put(&mut self, key: &rows::Key) -> Result<bool, Error> {
        let mut put = Put::row(key).durability(self.durability());
        let mut bytes = 0;
        for family in &self.families {
            for qualifier in &self.qualifiers {
                let value = self.value();
                bytes += CELL_OVERHEAD + key.len() + family.len() + qualifier.len() + value.len();
                put.add(family, qualifier, value);
            }
        }
        let options = &self.options;
        let several = options.multi_put > 0;
        if !several && (options.command.asynchronous || options.auto_flush) {
            self.table.put(put).await?;
            return Ok(true);
        }
        self.waiting.push(put.into());
        self.waiting_bytes += bytes;
        if several {
            let full = self.waiting.len() >= options.multi_put;
            return if full { self.send().await.map(|()| true) } else { Ok(false) };
        }
        self.send_if_full().await?;
        Ok(true)
    }

    async fn delete(&mut self, key: &rows::Key) -> Result<bool, Error> {
        let delete = self.families.iter().fold(Delete::row(key), |delete, family| delete.family(family));
        let delete = delete.durability(self.durability());
        if self.options.auto_flush {
            self.table.delete(delete).await?;
            return Ok(true);
        }
        self.waiting.push(delete.into());
        self.waiting_bytes += self.families.len() * (CELL_OVERHEAD + key.len());
        self.send_if_full().await?;
        Ok(true)
    }

    async fn send_if_full(&mut self) -> Result<(), Error> {
        if self.waiting_bytes > self.options.buffer_size { self.send().await } else { Ok(()) }
    }

    /// Sends what waits.
    async fn send(&mut self) -> Result<(), Error> {
        self.waiting_bytes = 0;
        if self.waiting.is_empty() {
            return Ok(());
        }
        for result in self.table.batch(std::mem::take(&mut self.waiting)).await {
            self.stale += u64::from(result?.is_stale());
        }
        Ok(())
    }

    fn scan(&self) -> Scan {
        let options = &self.options;
        Scan::new()
            .caching(options.caching)
            .cache_blocks(options.cache_blocks)
            .read_type(options.read_type)
            .with_metrics(true)
    }

    fn columns_of_all(&self, scan: Scan) -> Scan {
        self.families.iter().fold(scan, |scan, family| self.columns_of(scan, family))
    }

    fn columns_of_first(&self, scan: Scan) -> Scan {
        self.columns_of(scan, &self.families[0])
    }

    fn columns_of(&self, scan: Scan, family: &str) -> Scan {
        match self.options.add_columns {
            true => self.qualifiers.iter().fold(scan, |scan, qualifier| scan.column(family, qualifier)),
            false => scan.family(family),
        }
    }

    /// The next row of the client's one scan; none when there are no more.
    async fn next(&mut self, reversed: bool) -> Result<(), Error> {
        if self.scanner.is_none() {
            let scan = self.scan();
            let scan = if reversed { scan.reversed(true) } else { scan.start(rows::key(self.rows.offset)) };
            let scan = self.columns_of_all(scan);
            let scan = if self.options.filter_all { scan.filter(build::filter_all()) } else { scan };
            self.scanner = Some(self.table.scan(scan));
        }
        if let Some(scanner) = &mut self.scanner {
            let row: Option<Row> = scanner.next().await?;
            self.stale += u64::from(row.is_some_and(|row| row.is_stale()));
        }
        Ok(())
    }

    /// How many rows a scan returns.
    async fn all(&self, scan: Scan) -> Result<u64, Error> {
        let mut scanner = self.table.scan(scan);
        let mut count = 0;
        while scanner.next().await?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    /// What reads a row before it writes it.
    async fn change(&mut self, key: &rows::Key) -> Result<(), Error> {
        let (table, own) = (&self.table, &self.own_qualifier);
        match self.options.command.does {
            Does::Increment => {
                let row = Increment::row(key);
                let increment = self.families.iter().fold(row, |row, family| row.column(family, own, 1));
                table.increment(increment).await?;
            }
            Does::Append => {
                let append = self.families.iter().fold(Append::row(key), |row, family| row.column(family, own, key));
                table.append(append).await?;
            }
            does => {
                // A value to be found by the check.
                let put = Put::row(key).column("info0", own, key);
                table.put(put.clone()).await?;
                let check = CheckAndMutate::row(key).if_equals("info0", own, key);
                let check = match does {
                    Does::CheckAndMutate => check.mutations(RowMutations::row(key).put(put)),
                    Does::CheckAndPut => check.put(put),
                    _ => check.delete(Delete::row(key).column("info0", own)),
                };
                table.check_and_mutate(check).await?;
            }
        }
        Ok(())
    }

    /// Runs of eight equal letters.
    fn value(&self) -> Vec<u8> {
        let len = match self.options.value {
            ValueSize::Fixed => self.options.value_size,
            ValueSize::Random => self.random.below(self.options.value_size as u64) as usize,
            ValueSize::Zipf => {
                let drawn = uniform(self.random.u64()) * self.lengths.last().copied().unwrap_or(0.0);
                1 + self.lengths.partition_point(|sum| *sum <= drawn)
            }
        };
        let mut value = Vec::with_capacity(len + 8);
        while value.len() < len {
            value.extend_from_slice(&[b'A' + self.random.below(26) as u8; 8]);
        }
        value.truncate(len);
        value
    }
}

/// Sums of 1 / length^1.2, for lengths from 1 to below `most`.
fn zipf_sums(most: usize) -> Vec<f64> {
    let weights = (1..most.max(2)).map(|len| (len as f64).powf(-ZIPF));
    weights
        .scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pe::options::tests::parse;

    #[test]
    fn clients_have_rows_of_their_own_unless_they_shall_meet() {
        let rows = |line: &str, index| Rows::of(&parse(line).unwrap(), index);
        assert_eq!(rows("--rows=10 sequentialWrite 3", 2), Rows { start: 20, end: 30, offset: 20 });
        assert_eq!(rows("--rows=10 --startRow=5 sequentialWrite 3", 2), Rows { start: 5, end: 15, offset: 5 });
        assert_eq!(rows("--rows=10 increment 3", 2), Rows { start: 0, end: 10, offset: 20 });
    }

    #[test]
    fn short_values_come_most_often_by_zipf_s_law() {
        let sums = zipf_sums(1000);
        assert_eq!(sums.len(), 999);
        let share = |len: usize| sums[len - 1] / sums[998];
        assert!((share(1) - 1.0 / sums[998]).abs() < 1e-9 && share(10) > 0.5 && share(10) < 0.7, "{}", share(10));
    }
}
