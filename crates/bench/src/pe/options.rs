//! [`Options`]: PerformanceEvaluation's command line.

use super::command::{Command, Does};
use crate::Error;
use crate::rows::KEY_LEN;
use martite_catalog::TableName;
use martite_proto::scan::ReadType;
use std::str::FromStr;

/// Bytes of what PerformanceEvaluation calls a gigabyte, by which it counts rows.
const GIGABYTE: u64 = 1024 * 1024 * 1000;
const DEFAULT_VALUE_SIZE: usize = 1000;
const MOST_CLIENTS: usize = 10_000;
/// Options that are there in HBase, and why not here.
const REFUSED: [(&str, &str); 5] = [
    ("traceRate", "there is no tracing here"),
    ("encryption", "there is no encryption here"),
    ("usetags", "the client writes no tags"),
    ("numoftags", "the client writes no tags"),
    ("commandPropertiesFile", "there are no commands that take properties"),
];

/// How long values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSize {
    Fixed,
    /// Evenly, below the size.
    Random,
    /// By Zipf's law, the short ones most often.
    Zipf,
}

#[derive(Debug, Clone)]
pub struct Options {
    pub command: Command,
    pub clients: usize,
    pub table: TableName,
    /// Rows of each client.
    pub rows: u64,
    /// Of which random rows are drawn.
    pub total_rows: u64,
    pub start_row: u64,
    pub size: f64,
    pub cycles: u64,
    pub sample_rate: f64,
    pub period: Option<u64>,
    pub measure_after: u64,
    /// In ms; 0: none.
    pub latency_threshold: u64,
    pub value_size: usize,
    pub value: ValueSize,
    pub columns: usize,
    pub families: usize,
    pub add_columns: bool,
    pub filter_all: bool,
    pub write_to_wal: bool,
    pub auto_flush: bool,
    pub buffer_size: usize,
    pub multi_get: usize,
    pub multi_put: usize,
    pub random_sleep_ms: u64,
    pub one_connection: bool,
    pub connections: Option<usize>,
    pub caching: u32,
    pub cache_blocks: bool,
    pub read_type: ReadType,
    pub presplit: usize,
    pub replicas: i32,
    pub split_policy: Option<String>,
    pub in_memory: bool,
    /// Settings of the families, by HBase's names.
    pub family: Vec<(&'static str, String)>,
    pub defines: Vec<(String, String)>,
}

impl Options {
    fn new(command: Command) -> Result<Options, Error> {
        Ok(Options {
            command,
            clients: 1,
            table: "TestTable".parse().map_err(martite_client::Error::from)?,
            rows: GIGABYTE / DEFAULT_VALUE_SIZE as u64,
            total_rows: 0,
            start_row: 0,
            size: 1.0,
            cycles: 1,
            sample_rate: 1.0,
            period: None,
            measure_after: 0,
            latency_threshold: 0,
            value_size: DEFAULT_VALUE_SIZE,
            value: ValueSize::Fixed,
            columns: 1,
            families: 1,
            add_columns: true,
            filter_all: false,
            write_to_wal: true,
            auto_flush: false,
            buffer_size: 2 << 20,
            multi_get: 0,
            multi_put: 0,
            random_sleep_ms: 0,
            one_connection: false,
            connections: None,
            caching: 30,
            cache_blocks: true,
            read_type: ReadType::Default,
            presplit: 0,
            replicas: 1,
            split_policy: None,
            in_memory: false,
            family: Vec::new(),
            defines: Vec::new(),
        })
    }

    pub fn parse(words: &[String]) -> Result<Options, Error> {
        let wrong = |what: String| Error::Setup(format!("{what}; see martite pe --help"));
        let at = words.iter().position(|word| !word.starts_with('-'));
        let at = at.ok_or_else(|| wrong("there is no command".to_owned()))?;
        let name = &words[at];
        let command =
            Command::parse(name).ok_or_else(|| wrong(format!("ERROR: Unrecognized option/command: {name}")))??;
        let mut options = Options::new(command)?;
        let default_rows = options.rows;
        for word in &words[..at] {
            match (word.strip_prefix("--"), word.strip_prefix("-D")) {
                (Some(option), _) => {
                    let (name, value) = option.split_once('=').map_or((option, None), |(n, v)| (n, Some(v.trim())));
                    options.set(name.trim(), value)?;
                }
                (_, Some(define)) => {
                    let pair =
                        define.split_once('=').ok_or_else(|| wrong(format!("expected NAME=VALUE, not {word}")))?;
                    options.defines.push((pair.0.to_owned(), pair.1.to_owned()));
                }
                _ => return Err(wrong(format!("ERROR: Unrecognized option/command: {word}"))),
            }
        }
        let clients = words.get(at + 1).and_then(|clients| clients.parse().ok());
        options.clients = clients
            .filter(|clients| (1..=MOST_CLIENTS).contains(clients))
            .ok_or_else(|| wrong(format!("Command {name} does not have threads number")))?;
        if let Some(more) = words.get(at + 2) {
            return Err(wrong(format!("what stands behind the number of clients is not known: {more}")));
        }
        options.count_rows(default_rows);
        options.check()?;
        Ok(options)
    }

    fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), Error> {
        if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            return Err(Error::Setup(format!("--{name}: {why}")));
        }
        let on = || match value {
            None => Ok(true),
            Some(text) => text.to_ascii_lowercase().parse().map_err(|_| invalid(name, text)),
        };
        match name {
            "filterAll" => self.filter_all = on()?,
            "writeToWAL" => self.write_to_wal = on()?,
            "inmemory" => self.in_memory = on()?,
            "autoFlush" => self.auto_flush = on()?,
            "oneCon" => self.one_connection = on()?,
            "addColumns" => self.add_columns = on()?,
            "cacheBlocks" => self.cache_blocks = on()?,
            "valueRandom" => self.vary(on()?, ValueSize::Random)?,
            "valueZipf" => self.vary(on()?, ValueSize::Zipf)?,
            // All clients are threads of one process; latencies are always reported; HBase reads the others nowhere, or the client
            // fetches ahead anyway.
            "nomapred" | "latency" | "flushCommits" | "asyncPrefetch" => drop(on()?),
            _ => self.set_value(name, value)?,
        }
        Ok(())
    }

    fn vary(&mut self, on: bool, how: ValueSize) -> Result<(), Error> {
        if on && self.value != ValueSize::Fixed && self.value != how {
            return Err(Error::Setup("Either valueZipf or valueRandom but not both".to_owned()));
        }
        if on {
            self.value = how;
        }
        Ok(())
    }

    fn set_value(&mut self, name: &str, value: Option<&str>) -> Result<(), Error> {
        let text = || value.filter(|value| !value.is_empty()).ok_or_else(|| needs_value(name));
        match name {
            "rows" => self.rows = number(name, text()?)?,
            "size" => self.size = number(name, text()?)?,
            "startRow" => self.start_row = number(name, text()?)?,
            "cycles" => self.cycles = number(name, text()?)?,
            "sampleRate" => self.sample_rate = number(name, text()?)?,
            "period" => self.period = Some(number(name, text()?)?),
            "measureAfter" => self.measure_after = number(name, text()?)?,
            "latencyThreshold" => self.latency_threshold = number(name, text()?)?,
            "table" => self.table = text()?.parse().map_err(martite_client::Error::from)?,
            "valueSize" => self.value_size = number(name, text()?)?,
            "columns" => self.columns = number(name, text()?)?,
            "families" => self.families = number(name, text()?)?,
            "bufferSize" => self.buffer_size = number(name, text()?)?,
            "multiGet" => self.multi_get = number(name, text()?)?,
            "multiPut" => self.multi_put = number(name, text()?)?,
            "randomSleep" => self.random_sleep_ms = number(name, text()?)?,
            "connCount" => self.connections = Some(number(name, text()?)?),
            "caching" => self.caching = number(name, text()?)?,
            "presplit" => self.presplit = number(name, text()?)?,
            "replicas" => self.replicas = number(name, text()?)?,
            "splitPolicy" => self.split_policy = Some(text()?.to_owned()),
            "compress" => self.family.push(("COMPRESSION", text()?.to_owned())),
            "blockEncoding" => self.family.push(("DATA_BLOCK_ENCODING", text()?.to_owned())),
            "bloomFilter" => self.family.push(("BLOOMFILTER", text()?.to_owned())),
            "blockSize" => self.family.push(("BLOCKSIZE", number::<u32>(name, text()?)?.to_string())),
            "inmemoryCompaction" => self.family.push(("IN_MEMORY_COMPACTION", text()?.to_owned())),
            "scanReadType" => {
                self.read_type = match text()?.to_ascii_lowercase().as_str() {
                    "default" => ReadType::Default,
                    "stream" => ReadType::Stream,
                    "pread" => ReadType::Pread,
                    other => return Err(invalid(name, other)),
                }
            }
            _ => {
                return Err(Error::Setup(format!(
                    "ERROR: Unrecognized option/command: --{name}; see martite pe --help"
                )));
            }
        }
        Ok(())
    }

    /// Rows of all clients, by rows or by size.
    fn count_rows(&mut self, default_rows: u64) {
        let drawn = self.command.name == "randomRead" || self.command.does == Does::SeekScan;
        let total = (self.size * self.rows_per_gigabyte() as f64) as u64;
        if drawn && self.size != 1.0 && self.rows != default_rows {
            self.total_rows = total;
        } else if self.size != 1.0 {
            self.total_rows = total;
            self.rows = total / self.clients as u64;
        } else {
            self.total_rows = self.rows * self.clients as u64;
        }
    }

    fn rows_per_gigabyte(&self) -> u64 {
        let row = self.average_value_size() * self.families * self.columns;
        GIGABYTE / row.max(1) as u64
    }

    fn average_value_size(&self) -> usize {
        if self.value == ValueSize::Random { self.value_size / 2 } else { self.value_size }
    }

    /// Bytes of a row, by which throughput is told.
    pub fn row_bytes(&self) -> u64 {
        let column = self.average_value_size() + "info0".len() + "0".len();
        (KEY_LEN + column * self.columns * self.families) as u64
    }

    /// One in so many rows.
    pub fn every(&self) -> u64 {
        ((1.0 / self.sample_rate) as u64).max(1)
    }

    pub fn connections(&self) -> usize {
        if self.one_connection { 1 } else { self.connections.unwrap_or(self.clients) }
    }

    /// Rows between two lines of progress.
    pub fn period(&self) -> u64 {
        let tenth = |parts: u64| Some(self.rows / parts).filter(|rows| *rows > 0).unwrap_or(self.rows);
        match self.command.does {
            Does::SeekScan | Does::Range(_) => tenth(100),
            Does::Get if self.command.random => tenth(10),
            // As in HBase, of the default number of rows.
            _ => self.period.unwrap_or(GIGABYTE / DEFAULT_VALUE_SIZE as u64 / 10),
        }
        .max(1)
    }

    fn check(&self) -> Result<(), Error> {
        let wrong = if self.multi_put > 0 && !self.auto_flush && !self.command.asynchronous {
            "autoFlush must be true when multiPut is more than 0"
        } else if self.one_connection && self.connections.is_some_and(|n| n > 1) {
            "oneCon is set to true, connCount should not bigger than 1"
        } else if self.connections == Some(0) {
            "connCount must be above 0"
        } else if self.size < 1.0 || self.size.is_nan() {
            "Size must be > 1; i.e. 1GB"
        } else if !(self.sample_rate > 0.0 && self.sample_rate <= 1.0) {
            "sampleRate must be above 0 and at most 1"
        } else if self.families == 0 || self.columns == 0 || self.families > 1000 || self.columns > 100_000 {
            "families must be from 1 to 1000, columns from 1 to 100000"
        } else if self.rows == 0 || self.total_rows == 0 {
            "there are no rows"
        } else if self.value_size > 256 << 20 || (self.value_size == 0 && self.value != ValueSize::Fixed) {
            "valueSize is not possible"
        } else if self.replicas < 1 {
            "replicas must be above 0"
        } else {
            return Ok(());
        };
        Err(Error::Setup(wrong.to_owned()))
    }
}

fn invalid(name: &str, value: &str) -> Error {
    Error::Setup(format!("Invalid option: --{name}={value}"))
}

fn needs_value(name: &str) -> Error {
    Error::Setup(format!("--{name} requires a value"))
}

fn number<N: FromStr>(name: &str, text: &str) -> Result<N, Error> {
    text.parse().map_err(|_| invalid(name, text))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn parse(line: &str) -> Result<Options, Error> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&words)
    }

    #[test]
    fn options_are_those_of_hbase() {
        let o = parse("--nomapred --rows=1000 --presplit=4 --valueSize=100 --autoFlush=true --compress=GZ -Da.b=c=d randomWrite 5").unwrap();
        assert_eq!((o.command.name, o.clients, o.rows, o.total_rows, o.presplit), ("randomWrite", 5, 1000, 5000, 4));
        assert_eq!((o.value_size, o.auto_flush, o.connections()), (100, true, 5));
        assert_eq!(o.family, [("COMPRESSION", "GZ".to_owned())]);
        assert_eq!(o.defines, [("a.b".to_owned(), "c=d".to_owned())]);
        let o = parse("sequentialWrite 1").unwrap();
        assert_eq!((o.rows, o.period(), o.table.to_string().as_str()), (1_048_576, 104_857, "TestTable"));
        assert_eq!(parse("--oneCon --rows=50 increment 7").unwrap().connections(), 1);
    }

    #[test]
    fn size_and_rows_are_counted_as_in_hbase() {
        let counts = |line: &str| parse(line).map(|o| (o.rows, o.total_rows)).unwrap();
        assert_eq!(counts("--size=2 sequentialWrite 4"), (524_288, 2_097_152));
        assert_eq!(counts("--size=2 --rows=10 randomRead 4"), (10, 2_097_152));
        assert_eq!(counts("--size=2 --rows=10 scan 4"), (524_288, 2_097_152));
        assert_eq!(counts("--size=2 --valueSize=100 --columns=10 randomRead 1"), (2_097_152, 2_097_152));
        assert_eq!(parse("--rows=10 --valueSize=1000 scan 1").unwrap().row_bytes(), 26 + 1006);
        assert_eq!(parse("--sampleRate=0.1 --rows=100 randomRead 1").unwrap().every(), 10);
        assert_eq!(parse("--rows=500 randomSeekScan 1").unwrap().period(), 5);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, named) in [
            ("", "no command"),
            ("walk 1", "walk"),
            ("randomRead", "randomRead"),
            ("randomRead 0", "threads number"),
            ("randomRead 1 2", "2"),
            ("--walk=1 scan 1", "--walk"),
            ("-x scan 1", "-x"),
            ("--rows scan 1", "--rows requires a value"),
            ("--rows=x scan 1", "--rows=x"),
            ("--filterAll=maybe scan 1", "--filterAll=maybe"),
            ("--traceRate=1 scan 1", "--traceRate"),
            ("--usetags scan 1", "--usetags"),
            ("cleanMeta 1", "cleanMeta"),
            ("--multiPut=5 randomWrite 1", "autoFlush"),
            ("--oneCon --connCount=2 scan 1", "connCount"),
            ("--valueRandom --valueZipf randomWrite 1", "not both"),
            ("--size=0.5 scan 1", "Size"),
            ("--rows=0 scan 1", "no rows"),
            ("--scanReadType=fast scan 1", "fast"),
        ] {
            let told = parse(line).unwrap_err().to_string();
            assert!(told.contains(named), "{line}: {told}");
        }
    }
}
