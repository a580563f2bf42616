//! [`Workload`]: YCSB's core workload: which operation on which record with which values.
//!
//! ```text
//! record 17 ── FNV, unless insertorder=ordered ──▶ key user8067410236021437203
//! fields       field0 … field9, each of 100 random printable bytes, or, with dataintegrity, bytes that follow from key and field
//! ```
//! Load hands out records from `insertstart` on. Run draws an operation by the proportions and a record by the request distribution;
//! what it inserts comes after the last record, and is read from when it is there.

use super::generator::{Acknowledged, Discrete, Histogram, Numbers};
use super::java::string_hash;
use super::properties::Properties;
use crate::Error;
use crate::zipfian::hash;
use bytes::Bytes;
use martite_env::{Random, SeededRandom};
use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

/// The class that a properties file names, in YCSB from 0.13 on and before.
const CLASSES: [&str; 2] = ["site.ycsb.workloads.CoreWorkload", "com.yahoo.ycsb.workloads.CoreWorkload"];
/// A record count of 0 means so many.
const MANY: u64 = i32::MAX as u64;

/// What a client thread does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
}

/// Fields to write: names and values.
pub type Values = Vec<(Bytes, Bytes)>;

/// What to do when an insert of the load fails.
#[derive(Debug, Clone, Copy)]
pub struct Retry {
    pub limit: u32,
    pub interval: Duration,
    pub keep_going: bool,
}

#[derive(Debug)]
pub struct Workload {
    pub table: String,
    pub data_integrity: bool,
    pub retry: Retry,
    /// Records that the load inserts.
    pub insert_count: u64,
    /// The end of the records that are there, also of those that were inserted.
    pub inserted: Acknowledged,
    fields: Vec<Bytes>,
    field_length: Numbers,
    read_all_fields: bool,
    read_all_by_name: bool,
    write_all_fields: bool,
    key_prefix: String,
    zero_padding: usize,
    ordered: bool,
    operations: Option<Discrete<Kind>>,
    records: Numbers,
    scan_length: Numbers,
    loaded: Cell<u64>,
}

impl Workload {
    pub fn new(p: &Properties) -> Result<Workload, Error> {
        let class = p.get("workload").ok_or_else(|| Error::Setup("Missing property: workload".to_owned()))?;
        if !CLASSES.contains(&class) {
            return Err(Error::Setup(format!("the workload {class} is not known, only {}", CLASSES[0])));
        }
        let fields: u64 = p.number("fieldcount", 10)?;
        let prefix = p.text("fieldnameprefix", "field");
        let start: u64 = p.number("insertstart", 0)?;
        let records = match p.number("recordcount", 0)? {
            0 => MANY,
            records => records,
        };
        let count: u64 = p.number("insertcount", records.saturating_sub(start))?;
        if fields == 0 || fields > 100_000 {
            return Err(Error::Setup(format!("the property fieldcount: {fields} is not from 1 to 100000")));
        }
        if records < start.saturating_add(count) || count == 0 {
            return Err(Error::Setup(format!(
                "insertstart ({start}) and insertcount ({count}) do not lie within recordcount ({records})"
            )));
        }
        let data_integrity = p.flag("dataintegrity", false);
        if data_integrity && p.text("fieldlengthdistribution", "constant") != "constant" {
            return Err(Error::Setup("dataintegrity needs fieldlengthdistribution=constant".to_owned()));
        }
        Ok(Workload {
            table: p.text("table", "usertable").to_owned(),
            data_integrity,
            retry: Retry {
                limit: p.number("core_workload_insertion_retry_limit", 0)?,
                interval: Duration::from_secs(p.number("core_workload_insertion_retry_interval", 3)?),
                keep_going: p.flag("core_workload_insertion_keep_going_on_error", false),
            },
            // Not less what is before insertstart: as in YCSB.
            insert_count: p.number("insertcount", p.number("recordcount", 0)?)?,
            inserted: Acknowledged::new(records),
            fields: (0..fields).map(|i| Bytes::from(format!("{prefix}{i}"))).collect(),
            field_length: field_length(p)?,
            read_all_fields: p.flag("readallfields", true),
            read_all_by_name: p.flag("readallfieldsbyname", false),
            write_all_fields: p.flag("writeallfields", false),
            key_prefix: p.text("keyprefix", "user").to_owned(),
            zero_padding: p.number("zeropadding", 1)?,
            ordered: p.text("insertorder", "hashed") != "hashed",
            operations: operations(p)?,
            records: record_numbers(p, start, count, records)?,
            scan_length: scan_length(p)?,
            loaded: Cell::new(start),
        })
    }

    /// The next operation of the run; none if no operation has a proportion.
    #[inline]
    pub fn operation(&self, random: &SeededRandom) -> Option<Kind> {
        self.operations.as_ref().map(|operations| operations.draw(random))
    }

    /// The next record of the load.
    pub fn next_loaded(&self) -> u64 {
        let number = self.loaded.get();
        self.loaded.set(number + 1);
        number
    }

    /// A record that is there.
    #[inline]
    pub fn record(&self, random: &SeededRandom) -> u64 {
        let last = self.inserted.last();
        loop {
            let drawn = self.records.draw(random, last);
            // Exponentially far back from the last.
            let number = match self.records {
                Numbers::Exponential { .. } => last.checked_sub(drawn),
                _ => Some(drawn).filter(|number| *number <= last),
            };
            if let Some(number) = number {
                return number;
            }
        }
    }

    pub fn key(&self, record: u64) -> Bytes {
        let number = if self.ordered { record } else { hash(record) };
        let (prefix, width) = (&self.key_prefix, self.zero_padding);
        Bytes::from(format!("{prefix}{number:0width$}"))
    }

    pub fn scan_length(&self, random: &SeededRandom) -> u64 {
        self.scan_length.draw(random, 0)
    }

    /// The fields that a Get names; none: all, unnamed. A read-modify-write or a scan does not name all of them even for verification.
    pub fn fields_to_read(&self, random: &SeededRandom, read: bool) -> Option<&[Bytes]> {
        if !self.read_all_fields {
            let nth = random.below(self.fields.len() as u64) as usize;
            return Some(&self.fields[nth..=nth]);
        }
        (read && (self.data_integrity || self.read_all_by_name)).then_some(&self.fields[..])
    }

    /// What an insert writes: all fields.
    pub fn all_values(&self, key: &[u8], random: &SeededRandom) -> Values {
        let lengths: Vec<usize> = self.fields.iter().map(|_| self.field_length.draw(random, 0) as usize).collect();
        if self.data_integrity {
            let values = self.fields.iter().zip(lengths);
            return values.map(|(field, len)| (field.clone(), deterministic(key, field, len).into())).collect();
        }
        // One piece of memory for all.
        let mut bytes = printable(lengths.iter().sum(), random);
        self.fields.iter().zip(lengths).map(|(field, len)| (field.clone(), bytes.split_to(len))).collect()
    }

    /// What an update writes: a field, or all.
    pub fn update_values(&self, key: &[u8], random: &SeededRandom) -> Values {
        if self.write_all_fields {
            return self.all_values(key, random);
        }
        let field = &self.fields[random.below(self.fields.len() as u64) as usize];
        let len = self.field_length.draw(random, 0) as usize;
        let value = if self.data_integrity { deterministic(key, field, len).into() } else { printable(len, random) };
        vec![(field.clone(), value)]
    }

    /// Whether a value is the one that follows from key and field.
    pub fn is_right(&self, key: &[u8], field: &[u8], value: &[u8]) -> bool {
        let Numbers::Constant(len) = self.field_length else { return false };
        deterministic(key, field, len as usize) == value
    }
}

fn unknown(name: &str, value: &str) -> Error {
    Error::Setup(format!("the property {name}: {value:?} is not known"))
}

fn field_length(p: &Properties) -> Result<Numbers, Error> {
    let (least, most) = (p.number("minfieldlength", 1)?, p.number("fieldlength", 100)?);
    if most > 256 << 20 {
        return Err(Error::Setup(format!("the property fieldlength: {most} is too long")));
    }
    match p.text("fieldlengthdistribution", "constant") {
        "constant" => Ok(Numbers::Constant(most)),
        "uniform" => Ok(Numbers::uniform(least, most)),
        "zipfian" => Ok(Numbers::zipfian(least, most)),
        "histogram" => {
            let file = p.text("fieldlengthhistogram", "hist.txt");
            let text = std::fs::read_to_string(file).map_err(Error::file(Path::new(file)))?;
            Ok(Numbers::Histogram(Histogram::parse(file, &text)?))
        }
        other => Err(unknown("fieldlengthdistribution", other)),
    }
}

fn scan_length(p: &Properties) -> Result<Numbers, Error> {
    let (least, most) = (p.number("minscanlength", 1)?, p.number("maxscanlength", 1000)?);
    match p.text("scanlengthdistribution", "uniform") {
        "uniform" => Ok(Numbers::uniform(least, most)),
        "zipfian" => Ok(Numbers::zipfian(least, most)),
        other => Err(unknown("scanlengthdistribution", other)),
    }
}

fn operations(p: &Properties) -> Result<Option<Discrete<Kind>>, Error> {
    let weights = [
        (p.number("readproportion", 0.95)?, Kind::Read),
        (p.number("updateproportion", 0.05)?, Kind::Update),
        (p.number("insertproportion", 0.0)?, Kind::Insert),
        (p.number("scanproportion", 0.0)?, Kind::Scan),
        (p.number("readmodifywriteproportion", 0.0)?, Kind::ReadModifyWrite),
    ];
    Ok(Discrete::new(&weights))
}

/// Records from `start`, `count` of them, of `records` in all.
fn record_numbers(p: &Properties, start: u64, count: u64, records: u64) -> Result<Numbers, Error> {
    let last = start + count - 1;
    match p.text("requestdistribution", "uniform") {
        "uniform" => Ok(Numbers::uniform(start, last)),
        "sequential" => Ok(Numbers::sequential(start, last)),
        "zipfian" => {
            // Records that will be inserted have their place from the beginning, so that what is popular stays so.
            let inserts: f64 = p.number("insertproportion", 0.0)?;
            let operations: u64 = p.number("operationcount", 0)?;
            let expected = (operations as f64 * inserts * 2.0) as u64;
            Ok(Numbers::scrambled(start, start + count + expected))
        }
        "latest" => Ok(Numbers::latest(records.saturating_sub(1))),
        "hotspot" => {
            let (data, draws) = (p.number("hotspotdatafraction", 0.2)?, p.number("hotspotopnfraction", 0.8)?);
            Ok(Numbers::hotspot(start, last, data, draws))
        }
        "exponential" => {
            let percent: f64 = p.number("exponential.percentile", 95.0)?;
            let share: f64 = p.number("exponential.frac", 0.857_142_857_1)?;
            if !(percent > 0.0 && percent < 100.0 && share > 0.0) {
                return Err(Error::Setup(format!(
                    "exponential.percentile={percent}, exponential.frac={share}: no law"
                )));
            }
            Ok(Numbers::exponential(percent, records as f64 * share))
        }
        other => Err(unknown("requestdistribution", other)),
    }
}

/// Random printable bytes: of 31 bits that are drawn six bytes, as YCSB makes them.
fn printable(len: usize, random: &SeededRandom) -> Bytes {
    let mut out = Vec::with_capacity(len + 12);
    while out.len() < len {
        let drawn = random.u64();
        for bits in [drawn as u32, (drawn >> 32) as u32] {
            let part = |shift: u32, mask: u32| ((bits >> shift) & mask) as u8 + b' ';
            out.extend_from_slice(&[part(0, 31), part(5, 63), part(10, 95), part(15, 31), part(20, 63), part(25, 95)]);
        }
    }
    out.truncate(len);
    Bytes::from(out)
}

/// `key:field:` and then the hash of all before, again and again, cut to the length.
fn deterministic(key: &[u8], field: &[u8], len: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(len + 12);
    out.extend_from_slice(key);
    out.push(b':');
    out.extend_from_slice(field);
    while out.len() < len {
        out.push(b':');
        out.extend_from_slice(string_hash(&out).to_string().as_bytes());
    }
    out.truncate(len);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(text: &str) -> Result<Workload, Error> {
        let mut properties = Properties::default();
        properties
            .parse(&format!("workload=site.ycsb.workloads.CoreWorkload\nrecordcount=100\noperationcount=100\n{text}"));
        Workload::new(&properties)
    }

    #[test]
    fn keys_are_ycsb_s() {
        // FNV-1a of eight zero bytes, and of 1, without a sign.
        let hashed = workload("").unwrap();
        assert_eq!(hashed.key(0), "user6284781860667377211");
        assert_eq!(hashed.key(1), "user8517097267634966620");
        assert_eq!(workload("insertorder=ordered\nzeropadding=5").unwrap().key(42), "user00042");
        assert_eq!(workload("insertorder=ordered\nkeyprefix=k").unwrap().key(42), "k42");
    }

    #[test]
    fn values_follow_from_key_and_field_if_they_must() {
        let verified = workload("dataintegrity=true\nfieldlength=40\nfieldcount=2").unwrap();
        let values = verified.all_values(b"user1", &SeededRandom::new(1));
        assert_eq!(values.len(), 2);
        for (field, value) in &values {
            assert!(verified.is_right(b"user1", field, value) && !verified.is_right(b"user2", field, value));
            assert_eq!(value.len(), 40);
        }
        // The hash is of the text with the colon behind it.
        let hash = string_hash(b"user1:field0:");
        assert!(values[0].1.starts_with(format!("user1:field0:{hash}:").as_bytes()), "{:?}", values[0].1);
        assert_eq!(deterministic(b"user1", b"field0", 7), b"user1:f");
        assert!(workload("dataintegrity=true\nfieldlengthdistribution=uniform").is_err());
    }

    #[test]
    fn values_are_printable_and_have_their_length() {
        let random = SeededRandom::new(2);
        let values = workload("").unwrap().all_values(b"k", &random);
        assert_eq!(values.iter().map(|(_, value)| value.len()).collect::<Vec<_>>(), [100; 10]);
        let all = values.iter().flat_map(|(_, value)| value.iter().copied());
        assert!(all.clone().all(|byte| (b' '..=b' ' + 95).contains(&byte)));
        let seen: std::collections::BTreeSet<u8> = all.collect();
        assert!(seen.len() > 50, "{seen:?}");
        let one = workload("").unwrap().update_values(b"k", &random);
        assert!(one.len() == 1 && one[0].0.starts_with(b"field") && one[0].1.len() == 100);
        assert_eq!(workload("writeallfields=true").unwrap().update_values(b"k", &random).len(), 10);
        let lengths = workload("fieldlengthdistribution=uniform\nminfieldlength=3\nfieldlength=5").unwrap();
        assert!(lengths.all_values(b"k", &random).iter().all(|(_, value)| (3..=5).contains(&value.len())));
    }

    #[test]
    fn operations_come_by_their_proportions() {
        let random = SeededRandom::new(3);
        let update_heavy = workload("readproportion=0.5\nupdateproportion=0.5").unwrap();
        let reads = (0..10_000).filter(|_| update_heavy.operation(&random) == Some(Kind::Read)).count();
        assert!((4700..=5300).contains(&reads), "{reads}");
        assert!(workload("readproportion=0\nupdateproportion=0").unwrap().operation(&random).is_none());
    }

    #[test]
    fn records_are_within_what_is_there() {
        let random = SeededRandom::new(4);
        for distribution in ["uniform", "zipfian", "latest", "hotspot", "sequential", "exponential"] {
            let text = format!(
                "requestdistribution={distribution}\ninsertproportion=0.5\nreadproportion=0.5\ninsertstart=20\ninsertcount=50"
            );
            let some = workload(&text).unwrap();
            let records: Vec<u64> = (0..2000).map(|_| some.record(&random)).collect();
            // Those two are of all records; what will be inserted is not there yet.
            let range = if matches!(distribution, "latest" | "exponential") { 0..100 } else { 20..100 };
            assert!(records.iter().all(|record| range.contains(record)), "{distribution}: {records:?}");
        }
        assert_eq!(workload("insertstart=90").unwrap().next_loaded(), 90);
    }

    #[test]
    fn inserted_records_are_read_once_they_are_there() {
        let random = SeededRandom::new(5);
        let latest = workload("requestdistribution=latest").unwrap();
        let record = latest.inserted.hand_out();
        let read = |latest: &Workload| (0..1000).any(|_| latest.record(&random) == record);
        assert!(record == 100 && !read(&latest));
        latest.inserted.acknowledge(record).unwrap();
        assert!(read(&latest));
    }

    #[test]
    fn fields_are_named_where_ycsb_names_them() {
        let random = SeededRandom::new(6);
        let named = |text: &str, read: bool| workload(text).unwrap().fields_to_read(&random, read).map(<[Bytes]>::len);
        assert_eq!([named("", true), named("readallfields=false", true)], [None, Some(1)]);
        assert_eq!([named("readallfieldsbyname=true", true), named("dataintegrity=true", true)], [Some(10); 2]);
        assert_eq!([named("readallfieldsbyname=true", false), named("readallfields=false", false)], [None, Some(1)]);
    }

    #[test]
    fn wrong_properties_are_named() {
        for (text, named) in [
            ("workload=x.Y", "x.Y"),
            ("requestdistribution=gauss", "gauss"),
            ("scanlengthdistribution=latest", "scanlengthdistribution"),
            ("fieldlengthdistribution=long", "fieldlengthdistribution"),
            ("fieldlengthdistribution=histogram\nfieldlengthhistogram=/none/hist.txt", "/none/hist.txt"),
            ("fieldcount=0", "fieldcount"),
            ("insertstart=50\ninsertcount=51", "insertcount"),
            ("insertstart=100", "insertstart"),
            ("recordcount=-1", "recordcount"),
            ("requestdistribution=exponential\nexponential.percentile=100", "exponential.percentile"),
        ] {
            let told = workload(text).unwrap_err().to_string();
            assert!(told.contains(named), "{text}: {told}");
        }
        assert!(Workload::new(&Properties::default()).unwrap_err().to_string().contains("workload"));
    }
}
