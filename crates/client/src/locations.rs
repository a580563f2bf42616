//! [`Regions`]: the regions of one table as far as they are known, by start key.
//!
//! A region is forgotten when a call to it fails in a way that says it is elsewhere; a region that is read from
//! hbase:meta takes the place of all that it overlaps.

use crate::servers::Peer;
use bytes::Bytes;
use martite_catalog::{RegionInfo, ServerName, TableName};
use martite_proto as pb;
use parking_lot::RwLock;
use pb::Message;
use std::sync::Arc;

/// A region and the server that has it.
#[derive(Debug, Clone)]
pub struct Location {
    pub info: RegionInfo,
    pub server: ServerName,
    /// The region's sequence number when it was opened there; −1: not known.
    pub open_seq_num: i64,
}

/// A location with what calls need.
#[derive(Debug)]
pub(crate) struct Region {
    pub location: Location,
    pub peer: Arc<Peer>,
    /// Field 1 of every request: the region's name.
    pub field: Vec<u8>,
}

impl Region {
    pub fn new(location: Location, peer: Arc<Peer>) -> Region {
        let specifier = specifier(&location.info);
        let mut field = Vec::new();
        pb::prost::encoding::message::encode(1, &specifier, &mut field);
        Region { location, peer, field }
    }

    pub fn info(&self) -> &RegionInfo {
        &self.location.info
    }

    /// A request: the region, and `message` as its field 2.
    pub fn request<M: Message>(&self, message: &M) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.field.len() + message.encoded_len() + 8);
        out.extend_from_slice(&self.field);
        pb::prost::encoding::message::encode(2, message, &mut out);
        out
    }
}

/// A region as requests name it.
pub fn specifier(info: &RegionInfo) -> pb::RegionSpecifier {
    pb::RegionSpecifier {
        r#type: pb::region_specifier::RegionSpecifierType::RegionName as i32,
        value: info.name().clone(),
    }
}

/// What is known of a table's regions.
#[derive(Debug)]
pub(crate) struct Regions {
    pub table: TableName,
    /// Sorted by start key, none overlapping another.
    known: RwLock<Vec<(Bytes, Arc<Region>)>>,
    /// Held by the one who looks a region up.
    pub searching: tokio::sync::Mutex<()>,
}

impl Regions {
    pub fn new(table: TableName) -> Regions {
        Regions { table, known: RwLock::default(), searching: tokio::sync::Mutex::default() }
    }

    /// The region that has a row.
    pub fn of_row(&self, row: &[u8]) -> Option<Arc<Region>> {
        find(&self.known.read(), row).cloned()
    }

    /// The regions of many rows.
    pub fn of_rows<'a>(&self, rows: impl Iterator<Item = &'a [u8]>) -> Vec<Option<Arc<Region>>> {
        let known = self.known.read();
        let mut last: Option<&Arc<Region>> = None;
        let find = |row| {
            // Neighbours in a batch are mostly neighbours in the table.
            if !last.is_some_and(|region| region.info().contains_row(row)) {
                last = find(&known, row);
            }
            last.cloned()
        };
        rows.map(find).collect()
    }

    /// The region that has the greatest row less than this one; of the empty row, the last region.
    pub fn before(&self, row: &[u8]) -> Option<Arc<Region>> {
        let known = self.known.read();
        let at = if row.is_empty() { known.len() } else { known.partition_point(|(start, _)| &start[..] < row) };
        let (_, region) = known.get(at.checked_sub(1)?)?;
        let end = &region.info().end_key()[..];
        (end.is_empty() || (!row.is_empty() && row <= end)).then(|| region.clone())
    }

    /// Takes the place of what it overlaps, unless that was opened later.
    pub fn insert(&self, region: Arc<Region>) {
        let info = region.info();
        let (start, end) = (info.start_key(), info.end_key());
        if !end.is_empty() && end <= start {
            return;
        }
        let mut known = self.known.write();
        let ends_before = |r: &Region| !r.info().end_key().is_empty() && r.info().end_key() <= start;
        let from = known.partition_point(|(_, region)| ends_before(region));
        let to = if end.is_empty() { known.len() } else { known.partition_point(|(start, _)| start < end) };
        let newer = |r: &Region| r.info() == info && r.location.open_seq_num > region.location.open_seq_num;
        if known[from..to].iter().any(|(_, region)| newer(region)) {
            return;
        }
        known.splice(from..to, [(start.clone(), region.clone())]);
    }

    /// Forgets a region, unless something else has taken its place.
    pub fn forget(&self, region: &Arc<Region>) {
        self.known.write().retain(|(_, known)| !Arc::ptr_eq(known, region));
    }

    /// Forgets all regions.
    pub fn clear(&self) {
        self.known.write().clear();
    }
}

fn find<'a>(known: &'a [(Bytes, Arc<Region>)], row: &[u8]) -> Option<&'a Arc<Region>> {
    let at = known.partition_point(|(start, _)| &start[..] <= row);
    let (_, region) = known.get(at.checked_sub(1)?)?;
    let end = &region.info().end_key()[..];
    (end.is_empty() || row < end).then_some(region)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Connection, Options, Registry};

    #[test]
    fn what_is_read_takes_the_place_of_what_it_overlaps() {
        let connection = Connection::new(Options::new(Registry::rpc("localhost:1"))).unwrap();
        let table = TableName::parse("t").unwrap();
        let regions = Regions::new(table.clone());
        let region = |start: &'static str, end: &'static str, id: u64, open_seq_num: i64| {
            let info = RegionInfo::new(table.clone(), start.as_bytes(), end.as_bytes(), id);
            connection.region_at(Location { info, server: ServerName::new("h", 1, 1), open_seq_num })
        };
        let of = |row: &str| regions.of_row(row.as_bytes()).map(|r| (r.info().region_id(), r.location.open_seq_num));
        let before = |row: &str| regions.before(row.as_bytes()).map(|r| r.info().region_id());
        let whole = region("", "", 1, 5);
        regions.insert(whole.clone());
        assert_eq!((of("x"), before(""), before("a")), (Some((1, 5)), Some(1), Some(1)));
        regions.insert(region("m", "", 2, 6));
        assert_eq!((of("a"), of("m"), before("m"), before("n")), (None, Some((2, 6)), None, Some(2)));
        regions.insert(region("", "m", 3, 6));
        assert_eq!((of("a"), before("m"), before("")), (Some((3, 6)), Some(3), Some(2)));
        // Old news of the same region do not count.
        regions.insert(region("m", "", 2, 4));
        assert_eq!(of("z"), Some((2, 6)));
        // What was replaced is not forgotten again.
        regions.forget(&whole);
        assert_eq!(of("a"), Some((3, 6)));
        regions.insert(region("", "", 4, 9));
        assert_eq!((of("a"), of("z")), (Some((4, 9)), Some((4, 9))));
        // A region that ends before it begins is none.
        regions.insert(region("q", "c", 5, 9));
        assert_eq!(of("q"), Some((4, 9)));
    }
}
