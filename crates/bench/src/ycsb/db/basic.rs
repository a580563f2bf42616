//! [`Basic`]: a binding that stores nothing: it writes what it is asked, and says that all went well. YCSB's default.

use super::super::java::string_hash;
use super::super::measurement::Status;
use super::super::properties::Properties;
use super::super::workload::Values;
use crate::Error;
use bytes::Bytes;
use martite_env::{OsRandom, Random, SeededRandom};
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;

/// What all threads did: hashes of what was asked, by kind.
#[derive(Debug, Default)]
pub struct Seen {
    threads: usize,
    reads: HashSet<i32>,
    scans: HashSet<i32>,
    updates: HashSet<i32>,
    inserts: HashSet<i32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Write {
    Update,
    Insert,
}

#[derive(Debug)]
pub struct Basic {
    table: String,
    verbose: bool,
    delay_ms: u64,
    randomize_delay: bool,
    /// None: nothing is counted.
    seen: Option<Rc<RefCell<Seen>>>,
    random: SeededRandom,
}

impl Basic {
    pub fn new(p: &Properties, table: &str, seen: &Rc<RefCell<Seen>>) -> Result<Basic, Error> {
        let basic = Basic {
            table: table.to_owned(),
            verbose: p.flag("basicdb.verbose", true),
            delay_ms: p.number("basicdb.simulatedelay", 0)?,
            randomize_delay: p.flag("basicdb.randomizedelay", true),
            seen: p.flag("basicdb.count", false).then(|| seen.clone()),
            random: SeededRandom::new(OsRandom.u64()),
        };
        seen.borrow_mut().threads += 1;
        if basic.verbose {
            println!("***************** properties *****************");
            for (name, value) in p.iter() {
                println!("\"{name}\"=\"{value}\"");
            }
            println!("**********************************************");
        }
        Ok(basic)
    }

    async fn delay(&self) {
        let ms = if self.randomize_delay { self.random.below(self.delay_ms) } else { self.delay_ms };
        if ms > 0 {
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
    }

    fn count(&self, of: fn(&mut Seen) -> &mut HashSet<i32>, parts: &[&[u8]]) {
        if let Some(seen) = &self.seen {
            let asked = [self.table.as_bytes(), &parts.concat()].concat();
            of(&mut seen.borrow_mut()).insert(string_hash(&asked));
        }
    }

    fn names(fields: Option<&[Bytes]>) -> String {
        match fields {
            None => "<all fields>".to_owned(),
            Some(fields) => fields.iter().map(|field| format!("{} ", String::from_utf8_lossy(field))).collect(),
        }
    }

    fn counted<'a>(key: &'a Bytes, fields: Option<&'a [Bytes]>) -> Vec<&'a [u8]> {
        std::iter::once(&key[..]).chain(fields.unwrap_or_default().iter().map(|field| &field[..])).collect()
    }

    pub async fn read(&self, key: &Bytes, fields: Option<&[Bytes]>) -> Status {
        self.delay().await;
        if self.verbose {
            println!("READ {} {} [ {}]", self.table, String::from_utf8_lossy(key), Basic::names(fields));
        }
        self.count(|seen| &mut seen.reads, &Basic::counted(key, fields));
        Status::Ok
    }

    pub async fn scan(&self, key: &Bytes, records: u64, fields: Option<&[Bytes]>) -> Status {
        self.delay().await;
        if self.verbose {
            let (key, names) = (String::from_utf8_lossy(key), Basic::names(fields));
            println!("SCAN {} {key} {records} [ {names}]", self.table);
        }
        self.count(|seen| &mut seen.scans, &Basic::counted(key, fields));
        Status::Ok
    }

    pub async fn write(&self, write: Write, key: &Bytes, values: &Values) -> Status {
        self.delay().await;
        if self.verbose {
            let name = if write == Write::Update { "UPDATE" } else { "INSERT" };
            let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
            let values: String =
                values.iter().map(|(field, value)| format!("{}={} ", text(field), text(value))).collect();
            println!("{name} {} {} [ {values}]", self.table, text(key));
        }
        let mut parts = vec![&key[..]];
        parts.extend(values.iter().flat_map(|(field, value)| [&field[..], &value[..]]));
        match write {
            Write::Update => self.count(|seen| &mut seen.updates, &parts),
            Write::Insert => self.count(|seen| &mut seen.inserts, &parts),
        }
        Status::Ok
    }

    /// The last thread tells what was counted.
    pub fn cleanup(&self) {
        let Some(seen) = &self.seen else { return };
        let mut seen = seen.borrow_mut();
        seen.threads = seen.threads.saturating_sub(1);
        if seen.threads == 0 {
            let sizes = [
                ("READS", seen.reads.len()),
                ("SCANS", seen.scans.len()),
                ("UPDATES", seen.updates.len()),
                ("INSERTS", seen.inserts.len()),
                ("DELETES", 0),
            ];
            for (name, size) in sizes {
                println!("[{name}], Uniques, {size}");
            }
        }
    }
}
