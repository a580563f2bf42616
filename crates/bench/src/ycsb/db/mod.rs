//! [`Db`]: what a client thread speaks to. As in YCSB each thread has its own; what they share lies behind it.

pub mod basic;

use super::measurement::{Observe, Status};
use super::workload::Values;
use basic::Basic;
use bytes::Bytes;

#[derive(Debug)]
pub enum Db {
    Basic(Basic),
}

impl Db {
    /// Fields of a record; without `fields` all. The values are there if `keep` wants them.
    pub async fn read(&mut self, key: &Bytes, fields: Option<&[Bytes]>, keep: bool) -> (Status, Values) {
        let _ = keep;
        match self {
            Db::Basic(basic) => (basic.read(key, fields).await, Values::new()),
        }
    }

    /// At most `records` records from a key on; how many there were.
    pub async fn scan(&mut self, key: &Bytes, records: u64, fields: Option<&[Bytes]>) -> (Status, u64) {
        match self {
            Db::Basic(basic) => (basic.scan(key, records, fields).await, 0),
        }
    }

    pub async fn update(&mut self, key: &Bytes, values: Values) -> Status {
        match self {
            Db::Basic(basic) => basic.write(basic::Write::Update, key, &values).await,
        }
    }

    pub async fn insert(&mut self, key: &Bytes, values: Values) -> Status {
        match self {
            Db::Basic(basic) => basic.write(basic::Write::Insert, key, &values).await,
        }
    }

    /// The thread has done all. A binding may measure it, too.
    pub async fn cleanup(&mut self, observe: &dyn Observe) {
        let _ = observe;
        match self {
            Db::Basic(basic) => basic.cleanup(),
        }
    }
}
