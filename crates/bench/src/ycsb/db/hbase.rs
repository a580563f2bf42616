//! [`HBase`]: YCSB's binding hbase2: a row a record, a column a field, all in one family.
//!
//! ```text
//! read     Get of the family, or of the fields that are named
//! scan     from a row on, PageFilter and caching of as many rows as are wanted
//! update   Put; with clientbuffering, batches of writebuffersize bytes; insert is the same
//! ```

use super::super::measurement::{Name, Observe, Span, Status};
use super::super::properties::Properties;
use super::super::workload::Values;
use crate::Error;
use bytes::Bytes;
use martite_client::{Action, Connection, Get, Options, Put, Scan, Table};
use martite_filter::{CompareOp, build};
use martite_proto as pb;
use pb::mutation_proto::Durability;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

/// Bytes that are buffered before they are sent, unless said: YCSB's.
const WRITE_BUFFER: usize = 12 << 20;
/// What a buffered cell takes beside its names and value, as HBase's client estimates it, about.
const CELL_OVERHEAD: usize = 100;

/// What all threads share.
#[derive(Debug, Clone)]
pub struct Shared {
    table: Table,
    family: Bytes,
    durability: Durability,
    /// None: each Put is sent.
    write_buffer: Option<usize>,
    page_filter: bool,
    value_filter: Option<pb::Filter>,
    debug: bool,
    /// The first error is told.
    told: Rc<Cell<bool>>,
}

#[derive(Debug)]
pub struct HBase {
    shared: Shared,
    /// What every Get and Scan of all fields is made of.
    get: Get,
    buffer: Vec<Action>,
    buffered_bytes: usize,
}

/// Settings of a client: of the folders' hbase-site.xml, then what is given.
pub fn site<'a>(given: impl Iterator<Item = (&'a str, &'a str)>, folders: &[PathBuf]) -> Result<Options, Error> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for folder in folders {
        let file = folder.join("hbase-site.xml");
        let text = match std::fs::read_to_string(&file) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            text => text.map_err(Error::file(&file))?,
        };
        let parsed = martite_config::parse_site(&file.display().to_string(), &text);
        let parsed = parsed.map_err(|e| Error::Setup(e.to_string()))?;
        pairs.extend(parsed.into_iter().map(|property| (property.name, property.value)));
    }
    pairs.extend(given.map(|(name, value)| (name.to_owned(), value.to_owned())));
    Ok(Options::from_site(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))?)
}

impl Shared {
    pub async fn connect(p: &Properties, folders: &[PathBuf], table: &str) -> Result<Shared, Error> {
        let connection = Connection::connect(site(p.iter(), folders)?).await?;
        Shared::new(p, &connection, table).await
    }

    pub async fn new(p: &Properties, connection: &Connection, table: &str) -> Result<Shared, Error> {
        for name in ["principal", "keytab"] {
            if p.get(name).is_some() {
                return Err(Error::Setup(format!("the property {name}: there is no Kerberos here")));
            }
        }
        let family = p.get("columnfamily").filter(|family| !family.is_empty());
        let family =
            family.ok_or_else(|| Error::Setup("Error, must specify a columnfamily for HBase table".to_owned()))?;
        let table = connection.table(table.parse().map_err(martite_client::Error::from)?);
        // It is told now, not by each operation.
        table.locations().await?;
        let buffers = p.flag("clientbuffering", false);
        Ok(Shared {
            table,
            family: Bytes::copy_from_slice(family.as_bytes()),
            durability: durability(p)?,
            write_buffer: buffers.then_some(p.number("writebuffersize", WRITE_BUFFER)?),
            page_filter: p.flag("hbase.usepagefilter", true),
            value_filter: value_filter(p)?,
            debug: p.flag("debug", false),
            told: Rc::default(),
        })
    }

    pub fn db(&self) -> HBase {
        let get = Get::row(b"").family(&self.family);
        HBase { shared: self.clone(), get, buffer: Vec::new(), buffered_bytes: 0 }
    }
}

fn durability(p: &Properties) -> Result<Durability, Error> {
    match p.text("durability", "USE_DEFAULT") {
        "USE_DEFAULT" => Ok(Durability::UseDefault),
        "SKIP_WAL" => Ok(Durability::SkipWal),
        "ASYNC_WAL" => Ok(Durability::AsyncWal),
        "SYNC_WAL" => Ok(Durability::SyncWal),
        "FSYNC_WAL" => Ok(Durability::FsyncWal),
        other => Err(Error::Setup(format!("the property durability: {other:?} is not known"))),
    }
}

/// About half of all random values are less or equal, so that is what YCSB compares with unless told.
fn value_filter(p: &Properties) -> Result<Option<pb::Filter>, Error> {
    if !p.flag("hbase.usescanvaluefiltering", false) {
        return Ok(None);
    }
    let given = |name: &str| p.get(name).map(str::trim).filter(|text| !text.is_empty());
    let operator = given("hbase.scanfilteroperator").unwrap_or("less_or_equal");
    let operator = match operator.to_ascii_lowercase().as_str() {
        "less" => CompareOp::Less,
        "less_or_equal" => CompareOp::LessOrEqual,
        "equal" => CompareOp::Equal,
        "not_equal" => CompareOp::NotEqual,
        "greater_or_equal" => CompareOp::GreaterOrEqual,
        "greater" => CompareOp::Greater,
        other => return Err(Error::Setup(format!("the property hbase.scanfilteroperator: {other:?} is not known"))),
    };
    let value = match given("hbase.scanfiltervalue") {
        None => [&[0x7f][..], &[0xff; 99]].concat(),
        Some(hex) => unhex(hex)
            .ok_or_else(|| Error::Setup(format!("the property hbase.scanfiltervalue: {hex:?} is not hexadecimal")))?,
    };
    Ok(Some(build::value(operator, build::binary(value))))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

impl HBase {
    fn failed(&self, what: &str, error: &martite_client::Error) -> Status {
        if self.shared.debug || !self.shared.told.replace(true) {
            eprintln!("Error doing {what}: {error}");
        }
        Status::Error
    }

    pub async fn read(&self, key: &Bytes, fields: Option<&[Bytes]>, keep: bool) -> (Status, Values) {
        let family = &self.shared.family;
        let get = match fields {
            None => self.get.of(key),
            Some(fields) => fields.iter().fold(Get::row(key), |get, field| get.column(family, field)),
        };
        match self.shared.table.get(get).await {
            Err(e) => (self.failed("get", &e), Values::new()),
            Ok(row) if row.is_empty() => (Status::NotFound, Values::new()),
            Ok(_) if !keep => (Status::Ok, Values::new()),
            Ok(row) => {
                let value = |cell: martite_cell::CellRef<'_>| {
                    let (_, qualifier) = martite_cell::key::column(cell.key);
                    (Bytes::copy_from_slice(qualifier), Bytes::copy_from_slice(cell.value))
                };
                (Status::Ok, row.cells().map(value).collect())
            }
        }
    }

    pub async fn scan(&self, key: &Bytes, records: u64, fields: Option<&[Bytes]>) -> (Status, u64) {
        let Shared { family, page_filter, value_filter, .. } = &self.shared;
        let rows = u32::try_from(records).unwrap_or(u32::MAX);
        let mut scan = Scan::new().start(key).caching(rows).limit(rows);
        let page = page_filter.then(|| build::page(records as i64));
        let filters: Vec<pb::Filter> = page.into_iter().chain(value_filter.clone()).collect();
        if !filters.is_empty() {
            scan = scan.filter(build::all(filters));
        }
        let scan = match fields {
            None => scan.family(family),
            Some(fields) => fields.iter().fold(scan, |scan, field| scan.column(family, field)),
        };
        let mut scanner = self.shared.table.scan(scan);
        let mut seen = 0;
        loop {
            match scanner.next().await {
                Ok(Some(_)) => seen += 1,
                Ok(None) => return (Status::Ok, seen),
                Err(e) => return (self.failed("scan", &e), seen),
            }
            if seen >= records {
                return (Status::Ok, seen);
            }
        }
    }

    pub async fn write(&mut self, key: &Bytes, values: Values) -> Status {
        let mut put = Put::row(key);
        if self.shared.durability != Durability::UseDefault {
            put = put.durability(self.shared.durability);
        }
        for (field, value) in &values {
            put.add(&self.shared.family, field, value);
        }
        let Some(most) = self.shared.write_buffer else {
            return match self.shared.table.put(put).await {
                Ok(()) => Status::Ok,
                Err(e) => self.failed("put", &e),
            };
        };
        let bytes = |(field, value): &(Bytes, Bytes)| CELL_OVERHEAD + key.len() + field.len() + value.len();
        self.buffered_bytes += values.iter().map(bytes).sum::<usize>();
        self.buffer.push(put.into());
        if self.buffered_bytes > most { self.flush().await } else { Status::Ok }
    }

    /// Sends what is buffered.
    async fn flush(&mut self) -> Status {
        self.buffered_bytes = 0;
        let results = self.shared.table.batch(std::mem::take(&mut self.buffer)).await;
        let mut failed = results.iter().filter_map(|result| result.as_ref().err());
        failed.next().map_or(Status::Ok, |e| self.failed("put", e))
    }

    /// Measures what it takes, too, as YCSB's binding does: as an update if Puts are buffered.
    pub async fn cleanup(&mut self, observe: &dyn Observe) {
        let begin = Instant::now();
        let mut status = Status::Ok;
        if !self.buffer.is_empty() {
            status = self.flush().await;
        }
        let name = if self.shared.write_buffer.is_some() { Name::Update } else { Name::Cleanup };
        let span = Span { intended: None, begin, end: Instant::now() };
        if status == Status::Ok { observe.took(name, span) } else { observe.operation(name, status, span) }
    }
}

/// Folders of a class path that may have an hbase-site.xml.
pub fn folders(class_path: &str) -> Vec<PathBuf> {
    class_path.split(':').filter(|folder| !folder.is_empty()).map(|folder| Path::new(folder).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_to_compare_with_are_hexadecimal() {
        assert_eq!(unhex("7Fff00"), Some(vec![0x7f, 0xff, 0]));
        assert_eq!((unhex("7"), unhex("xy"), unhex("")), (None, None, Some(vec![])));
        let mut p = Properties::default();
        assert!(value_filter(&p).unwrap().is_none());
        p.set("hbase.usescanvaluefiltering", "true");
        assert!(value_filter(&p).unwrap().is_some_and(|filter| filter.name.ends_with(".ValueFilter")));
        p.set("hbase.scanfilteroperator", "Greater");
        assert!(value_filter(&p).is_ok());
        p.set("hbase.scanfilteroperator", "like");
        assert!(value_filter(&p).unwrap_err().to_string().contains("\"like\""));
    }

    #[test]
    fn settings_come_from_files_and_properties() {
        let folder = tempfile::tempdir().unwrap();
        let text = "<configuration><property><name>hbase.zookeeper.quorum</name><value>a,b</value></property>\
                    <property><name>hbase.zookeeper.property.clientPort</name><value>1234</value></property></configuration>";
        std::fs::write(folder.path().join("hbase-site.xml"), text).unwrap();
        let none = folder.path().join("none");
        let mut p = Properties::default();
        let of_file = site(p.iter(), &[folder.path().to_owned(), none.clone()]).unwrap();
        assert_eq!(of_file.registry, martite_client::Registry::zookeeper("a:1234,b:1234"));
        p.set("hbase.zookeeper.quorum", "c");
        assert_eq!(
            site(p.iter(), &[folder.path().to_owned()]).unwrap().registry,
            martite_client::Registry::zookeeper("c:1234")
        );
        std::fs::write(folder.path().join("hbase-site.xml"), "<configuration>").unwrap();
        assert!(site(p.iter(), &[folder.path().to_owned()]).unwrap_err().to_string().contains("hbase-site.xml"));
        assert_eq!(folders("/a::/b"), [Path::new("/a"), Path::new("/b")]);
    }

    #[test]
    fn durabilities_have_hbase_s_names() {
        let mut p = Properties::default();
        assert_eq!(durability(&p).unwrap(), Durability::UseDefault);
        p.set("durability", "SKIP_WAL");
        assert_eq!(durability(&p).unwrap(), Durability::SkipWal);
        p.set("durability", "NONE");
        assert!(durability(&p).unwrap_err().to_string().contains("\"NONE\""));
    }
}
