//! [`Db`]: what a client thread speaks to. As in YCSB each thread has its own; what they share lies behind it.

pub mod basic;
pub mod hbase;

use super::measurement::{Observe, Status};
use super::workload::Values;
use basic::{Basic, Write};
use bytes::Bytes;
use hbase::HBase;

#[derive(Debug)]
pub enum Db {
    Basic(Basic),
    HBase(Box<HBase>),
}

impl Db {
    /// Fields of a record; without `fields` all. The values are there if `keep` wants them.
    pub async fn read(&mut self, key: &Bytes, fields: Option<&[Bytes]>, keep: bool) -> (Status, Values) {
        match self {
            Db::Basic(basic) => (basic.read(key, fields).await, Values::new()),
            Db::HBase(hbase) => hbase.read(key, fields, keep).await,
        }
    }

    /// At most `records` records from a key on; how many there were.
    pub async fn scan(&mut self, key: &Bytes, records: u64, fields: Option<&[Bytes]>) -> (Status, u64) {
        match self {
            Db::Basic(basic) => (basic.scan(key, records, fields).await, 0),
            Db::HBase(hbase) => hbase.scan(key, records, fields).await,
        }
    }

    pub async fn update(&mut self, key: &Bytes, values: Values) -> Status {
        match self {
            Db::Basic(basic) => basic.write(Write::Update, key, &values).await,
            Db::HBase(hbase) => hbase.write(key, values).await,
        }
    }

    pub async fn insert(&mut self, key: &Bytes, values: Values) -> Status {
        match self {
            Db::Basic(basic) => basic.write(Write::Insert, key, &values).await,
            Db::HBase(hbase) => hbase.write(key, values).await,
        }
    }

    /// The thread has done all. A binding may measure it, too.
    pub async fn cleanup(&mut self, observe: &dyn Observe) {
        match self {
            Db::Basic(basic) => basic.cleanup(),
            Db::HBase(hbase) => hbase.cleanup(observe).await,
        }
    }
}
