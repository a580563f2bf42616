//! [`Target`]: a table as requests need it: its regions with the bytes that name them.

use crate::Error;
use crate::request::header_end;
use crate::rows::{self, Shape};
use bytes::Bytes;
use martite_client::Location;
use martite_client::admin::by_name;
use martite_proto as pb;
use martite_rpc::format::put_varint;
use pb::Message;
use std::net::SocketAddr;

/// A region of the table.
#[derive(Debug, Clone)]
pub struct Region {
    /// Its first row, of those that the table can have.
    first: u64,
    /// Exclusive; empty: no end.
    pub end: Bytes,
    pub specifier: pb::RegionSpecifier,
    /// Field 1, a RegionSpecifier, as it stands in every request.
    pub field: Vec<u8>,
}

/// One table on the one region server that is driven.
#[derive(Debug, Clone)]
pub struct Target {
    pub shape: Shape,
    /// Rows 0 .. rows are there.
    pub rows: u64,
    pub address: SocketAddr,
    /// By start key, without gaps.
    pub regions: Vec<Region>,
    /// Field `column` of a Get (2): the family with its columns.
    pub get_columns: Vec<u8>,
    /// What every request header ends with.
    pub header_end: Vec<u8>,
}

/// Appends a field that is bytes or a message.
pub fn put_field(out: &mut Vec<u8>, field: u32, bytes: &[u8]) {
    put_varint(out, u64::from(field << 3 | 2));
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

impl Target {
    pub async fn new(shape: Shape, rows: u64, locations: Vec<Location>) -> Result<Target, Error> {
        let server = locations.first().map(|l| l.server.address()).ok_or_else(|| Error::no_table(shape.table))?;
        if let Some(other) = locations.iter().find(|l| l.server.address() != server) {
            return Err(Error::Setup(format!(
                "{} is on {server} and {}: the load generator drives one region server",
                shape.table,
                other.server.address()
            )));
        }
        let address = martite_client::cluster::resolve(&server).await?;
        let regions = locations
            .into_iter()
            .map(|l| {
                let specifier = by_name(&l.info);
                let mut field = Vec::new();
                put_field(&mut field, 1, &specifier.encode_to_vec());
                Region { first: first_row(l.info.start_key(), rows), end: l.info.end_key().clone(), specifier, field }
            })
            .collect();
        Ok(Target { shape, rows, address, regions, get_columns: get_columns(shape), header_end: header_end(0) })
    }

    /// The same for requests of another priority.
    pub fn with_priority(&self, priority: u32) -> Target {
        Target { header_end: header_end(priority), ..self.clone() }
    }

    /// The place of the region that has a row.
    #[inline]
    pub fn region_of(&self, row: u64) -> usize {
        self.regions.partition_point(|r| r.first <= row).saturating_sub(1)
    }

    /// The rows of the region at a place.
    pub fn rows_of(&self, region: usize) -> std::ops::Range<u64> {
        self.regions[region].first..self.regions.get(region + 1).map_or(self.rows, |next| next.first)
    }

    /// How many cells of an answer have so many bytes: all are equally long.
    pub fn cells_in(&self, bytes: usize) -> Result<u64, Error> {
        let cell = self.row_bytes() / self.shape.columns as u64;
        if !(bytes as u64).is_multiple_of(cell) {
            return Err(Error::wrong(format!("{bytes} bytes of cells, of which one has {cell}")));
        }
        Ok(bytes as u64 / cell)
    }

    /// Bytes of a row's cells in an answer.
    pub fn row_bytes(&self) -> u64 {
        let key = martite_cell::key::KEY_OVERHEAD + rows::KEY_LEN + rows::FAMILY.len() + Shape::qualifier(0).len();
        // Lengths of the cell, its key and its value are before them.
        (self.shape.columns * (12 + key + self.shape.value_len)) as u64
    }
}

/// The first of `rows` rows that is not before a region's start.
fn first_row(start: &[u8], rows: u64) -> u64 {
    let (mut low, mut high) = (0, rows);
    while low < high {
        let middle = low + (high - low) / 2;
        if rows::key(middle)[..] < *start { low = middle + 1 } else { high = middle }
    }
    low
}

/// The columns that a read names: all of the table's, as PerformanceEvaluation does.
pub fn columns(shape: Shape) -> pb::Column {
    pb::Column {
        family: rows::FAMILY.into(),
        qualifier: (0..shape.columns).map(|c| Bytes::copy_from_slice(&Shape::qualifier(c))).collect(),
    }
}

fn get_columns(shape: Shape) -> Vec<u8> {
    let mut field = Vec::new();
    put_field(&mut field, 2, &columns(shape).encode_to_vec());
    field
}

#[cfg(test)]
pub fn example(shape: Shape, rows: u64, splits: &[u64]) -> Target {
    use martite_catalog::{RegionInfo, ServerName, TableName};
    let name = TableName::parse(shape.table).unwrap();
    let mut bounds = vec![Bytes::new()];
    bounds.extend(splits.iter().map(|s| Bytes::copy_from_slice(&rows::key(*s))));
    bounds.push(Bytes::new());
    let server = ServerName::new("127.0.0.1", 16020, 1);
    let locations = bounds
        .windows(2)
        .map(|b| Location {
            open_seq_num: -1,
            info: RegionInfo::new(name.clone(), b[0].clone(), b[1].clone(), 1),
            server: server.clone(),
        })
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(Target::new(shape, rows, locations)).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::SINGLE;

    #[test]
    fn a_row_is_in_the_region_that_begins_at_or_before_it() {
        let target = example(SINGLE, 100, &[10, 50]);
        let region = |row| target.region_of(row);
        assert_eq!([0, 9, 10, 49, 50, 99].map(region), [0, 0, 1, 1, 2, 2]);
        assert_eq!([0, 1, 2].map(|region| target.rows_of(region)), [0..10, 10..50, 50..100]);
        let first = |start: &[u8]| first_row(start, 100);
        assert_eq!(
            [&b""[..], b"0", &rows::key(42), b"00000000000000000000000042x", b"1"].map(first),
            [0, 0, 42, 43, 100]
        );
    }
}
