//! The rows of hbase:meta: what their cells mean, and the cells to write.
//!
//! ```text
//! row = region name       info:regioninfo          PBUF RegionInfo
//!                         info:server              host:port               ┐ where it is open, or was last
//!                         info:serverstartcode     i64 BE                  │
//!                         info:seqnumDuringOpen    i64 BE                  ┘
//!                         info:sn                  host,port,startcode     where it goes
//!                         info:state               OPEN, CLOSED, …
//!                         info:splitA, splitB      PBUF RegionInfo of the daughters, on a split parent
//!                         info:mergeNNNN           PBUF RegionInfo of a parent, on a merged region
//! row = table name        table:state              TableState without magic
//! ```
//! Columns of replica 1, 2, … end in `_0001`, `_0002`, ….

use crate::system::{CATALOG_FAMILY, TABLE_FAMILY};
use crate::{CatalogError, RegionInfo, ServerName, TableName, TableState, to_string_binary};
use bytes::Bytes;
use martite_cell::{CellRef, CellType, OwnedCell, key};

pub const REGIONINFO: &[u8] = b"regioninfo";
pub const SERVER: &str = "server";
pub const STARTCODE: &str = "serverstartcode";
pub const SEQNUM: &str = "seqnumDuringOpen";
pub const SERVER_NAME: &str = "sn";
pub const STATE: &str = "state";
pub const SPLIT_A: &[u8] = b"splitA";
pub const SPLIT_B: &[u8] = b"splitB";
const MERGE_PREFIX: &[u8] = b"merge";

/// Where a region stands; the codes are those of the RegionState message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RegionState {
    Offline = 0,
    Opening = 2,
    Open = 3,
    Closing = 5,
    Closed = 6,
    Splitting = 7,
    Split = 8,
    FailedOpen = 9,
    FailedClose = 10,
    Merging = 11,
    Merged = 12,
    SplittingNew = 13,
    MergingNew = 14,
    AbnormallyClosed = 15,
}

impl RegionState {
    const ALL: [(RegionState, &'static str); 14] = [
        (RegionState::Offline, "OFFLINE"),
        (RegionState::Opening, "OPENING"),
        (RegionState::Open, "OPEN"),
        (RegionState::Closing, "CLOSING"),
        (RegionState::Closed, "CLOSED"),
        (RegionState::Splitting, "SPLITTING"),
        (RegionState::Split, "SPLIT"),
        (RegionState::FailedOpen, "FAILED_OPEN"),
        (RegionState::FailedClose, "FAILED_CLOSE"),
        (RegionState::Merging, "MERGING"),
        (RegionState::Merged, "MERGED"),
        (RegionState::SplittingNew, "SPLITTING_NEW"),
        (RegionState::MergingNew, "MERGING_NEW"),
        (RegionState::AbnormallyClosed, "ABNORMALLY_CLOSED"),
    ];

    /// The text of info:state.
    pub fn name(self) -> &'static str {
        RegionState::ALL.iter().find(|(state, _)| *state == self).map_or("OFFLINE", |(_, name)| name)
    }

    pub fn from_name(name: &[u8]) -> Option<RegionState> {
        RegionState::ALL.iter().find(|(_, n)| n.as_bytes() == name).map(|(state, _)| *state)
    }

    /// The state's number in messages.
    pub fn code(self) -> i32 {
        self as i32
    }

    pub fn from_code(code: i32) -> Option<RegionState> {
        RegionState::ALL.iter().find(|(state, _)| *state as i32 == code).map(|(state, _)| *state)
    }
}

/// A region's row, decoded (replica 0).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaRegion {
    pub info: RegionInfo,
    /// None: the column is absent or says something unknown.
    pub state: Option<RegionState>,
    /// Where the region is open, or was last.
    pub server: Option<ServerName>,
    /// Where the region is being opened.
    pub target: Option<ServerName>,
    /// −1 when absent.
    pub open_seq_num: i64,
    /// Daughters of a split parent.
    pub split: Option<(RegionInfo, RegionInfo)>,
    /// Parents of a merged region whose files it may still use, with their qualifiers.
    pub merged: Vec<(Bytes, RegionInfo)>,
    /// Highest replica id that the row mentions.
    pub replicas: i32,
}

/// A row of hbase:meta, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetaRow {
    Region(Box<MetaRegion>),
    Table(TableName, TableState),
    /// A row without info:regioninfo and table:state; tools may leave such.
    Other,
}

/// Decodes the newest cells of one row, in order.
pub fn decode<'a>(cells: impl IntoIterator<Item = CellRef<'a>>) -> Result<MetaRow, CatalogError> {
    let mut columns: Vec<CellRef<'a>> = Vec::new();
    for cell in cells {
        let newer = columns.last().is_some_and(|c| c.family() == cell.family() && c.qualifier() == cell.qualifier());
        if !newer && !cell.is_delete() {
            columns.push(cell);
        }
    }
    let find = |family: &[u8], qualifier: &[u8]| {
        columns.iter().find(|c| c.family() == family && c.qualifier() == qualifier).copied()
    };
    if let Some(cell) = find(TABLE_FAMILY, STATE.as_bytes()) {
        let what = || row_name(cell.row(), "table:state");
        let table = TableName::parse_bytes(cell.row()).map_err(|e| CatalogError::malformed(what(), e))?;
        let state = TableState::from_bytes(cell.value).map_err(|e| CatalogError::malformed(what(), e))?;
        return Ok(MetaRow::Table(table, state));
    }
    match find(CATALOG_FAMILY, REGIONINFO) {
        Some(cell) if !cell.value.is_empty() => {
            let region = decode_region(&cell, &columns, |qualifier| find(CATALOG_FAMILY, qualifier))?;
            Ok(MetaRow::Region(Box::new(region)))
        }
        _ => Ok(MetaRow::Other),
    }
}

fn decode_region<'a>(
    info: &CellRef<'a>,
    columns: &[CellRef<'a>],
    find: impl Fn(&[u8]) -> Option<CellRef<'a>>,
) -> Result<MetaRegion, CatalogError> {
    let row = info.row();
    let value = |column: &str| find(column.as_bytes()).map(|c| c.value).filter(|v| !v.is_empty());
    let region_at = |cell: &CellRef<'_>| {
        RegionInfo::from_bytes(cell.value)
            .map_err(|e| CatalogError::malformed(row_name(row, &String::from_utf8_lossy(cell.qualifier())), e))
    };
    let text = |column: &str, bytes: &[u8]| {
        String::from_utf8(bytes.to_vec()).map_err(|e| CatalogError::malformed(row_name(row, column), e))
    };
    let start_code = value(STARTCODE).and_then(be_i64).unwrap_or(-1);
    let server = match value(SERVER) {
        Some(v) => Some(ServerName::parse_address(&text(SERVER, v)?, start_code)?),
        None => None,
    };
    let target = match value(SERVER_NAME) {
        Some(v) => Some(ServerName::parse(&text(SERVER_NAME, v)?)?),
        None => None,
    };
    let split = match (find(SPLIT_A), find(SPLIT_B)) {
        (Some(a), Some(b)) => Some((region_at(&a)?, region_at(&b)?)),
        _ => None,
    };
    let mut merged = Vec::new();
    for cell in columns.iter().filter(|c| c.family() == CATALOG_FAMILY && c.qualifier().starts_with(MERGE_PREFIX)) {
        merged.push((Bytes::copy_from_slice(cell.qualifier()), region_at(cell)?));
    }
    Ok(MetaRegion {
        info: region_at(info)?,
        state: value(STATE).and_then(RegionState::from_name),
        server,
        target,
        open_seq_num: value(SEQNUM).and_then(be_i64).unwrap_or(-1),
        split,
        merged,
        replicas: columns.iter().filter_map(|c| replica_of(c.qualifier())).max().unwrap_or(0),
    })
}

fn row_name(row: &[u8], column: &str) -> String {
    format!("hbase:meta row {} column {column}", to_string_binary(row))
}

fn be_i64(bytes: &[u8]) -> Option<i64> {
    Some(i64::from_be_bytes(bytes.try_into().ok()?))
}

/// The replica id at the end of a server column.
fn replica_of(qualifier: &[u8]) -> Option<i32> {
    let text = std::str::from_utf8(qualifier).ok()?;
    let (column, replica) = text.rsplit_once('_')?;
    (column == SERVER).then(|| i32::from_str_radix(replica, 16).ok()).flatten()
}

/// A column's name for a replica: `server`, `server_0001`, ….
pub fn replica_column(column: &str, replica_id: i32) -> String {
    if replica_id == 0 { column.to_string() } else { format!("{column}_{replica_id:04X}") }
}

/// The row of the region in hbase:meta: the name of its replica 0.
pub fn row_of(info: &RegionInfo) -> Bytes {
    match info.replica_id() {
        0 => info.name().clone(),
        _ => info.with_replica_id(0).name().clone(),
    }
}

/// The cells of one change to one row of hbase:meta, written with one timestamp.
#[derive(Debug, Clone)]
pub struct MetaEdit {
    row: Bytes,
    timestamp_ms: u64,
    cells: Vec<OwnedCell>,
}

impl MetaEdit {
    pub fn new(row: impl Into<Bytes>, timestamp_ms: u64) -> MetaEdit {
        MetaEdit { row: row.into(), timestamp_ms, cells: Vec::new() }
    }

    /// A change to the region's row.
    pub fn region(info: &RegionInfo, timestamp_ms: u64) -> MetaEdit {
        MetaEdit::new(row_of(info), timestamp_ms)
    }

    /// The whole row of a table: its state.
    pub fn table_state(table: &TableName, state: TableState, timestamp_ms: u64) -> MetaEdit {
        MetaEdit::new(table.as_bytes().to_vec(), timestamp_ms).cell(TABLE_FAMILY, STATE.as_bytes(), &state.to_bytes())
    }

    pub fn cell(mut self, family: &[u8], qualifier: &[u8], value: &[u8]) -> MetaEdit {
        self.cells.push(OwnedCell::put(&self.row, family, qualifier, self.timestamp_ms, value));
        self
    }

    fn info(self, column: &str, replica_id: i32, value: &[u8]) -> MetaEdit {
        self.cell(CATALOG_FAMILY, replica_column(column, replica_id).as_bytes(), value)
    }

    pub fn region_info(self, info: &RegionInfo) -> MetaEdit {
        self.cell(CATALOG_FAMILY, REGIONINFO, &info.to_bytes())
    }

    pub fn state(self, state: RegionState, replica_id: i32) -> MetaEdit {
        self.info(STATE, replica_id, state.name().as_bytes())
    }

    /// Where the region goes, written while it opens.
    pub fn target(self, server: &ServerName, replica_id: i32) -> MetaEdit {
        self.info(SERVER_NAME, replica_id, server.to_string().as_bytes())
    }

    /// Where the region is open.
    pub fn location(self, server: &ServerName, open_seq_num: u64, replica_id: i32) -> MetaEdit {
        self.info(SERVER, replica_id, server.address().as_bytes())
            .info(STARTCODE, replica_id, &server.start_code.to_be_bytes())
            .info(SEQNUM, replica_id, &open_seq_num.to_be_bytes())
    }

    /// Empty location columns, from which clients learn that the replica exists.
    pub fn empty_location(self, replica_id: i32) -> MetaEdit {
        self.info(SERVER, replica_id, b"").info(STARTCODE, replica_id, b"").info(SEQNUM, replica_id, b"")
    }

    /// Deletes all that the row says of a replica that is no more; not of replica 0.
    pub fn without_replica(self, replica_id: i32) -> MetaEdit {
        [SERVER, STARTCODE, SEQNUM, SERVER_NAME, STATE].iter().fold(self, |edit, column| {
            edit.delete_column(CATALOG_FAMILY, replica_column(column, replica_id).as_bytes())
        })
    }

    pub fn daughters(self, a: &RegionInfo, b: &RegionInfo) -> MetaEdit {
        self.cell(CATALOG_FAMILY, SPLIT_A, &a.to_bytes()).cell(CATALOG_FAMILY, SPLIT_B, &b.to_bytes())
    }

    pub fn merge_parents(mut self, parents: &[RegionInfo]) -> MetaEdit {
        for (i, parent) in parents.iter().enumerate() {
            self = self.cell(CATALOG_FAMILY, format!("merge{i:04}").as_bytes(), &parent.to_bytes());
        }
        self
    }

    /// Deletes every version of a column.
    pub fn delete_column(mut self, family: &[u8], qualifier: &[u8]) -> MetaEdit {
        let code = CellType::DeleteColumn as u8;
        let key = key::flat_key(&self.row, family, qualifier, self.timestamp_ms, code);
        self.cells.push(OwnedCell::new(&key, &[], &[], 0));
        self
    }

    /// Deletes a whole family of the row.
    pub fn delete_family(mut self, family: &[u8]) -> MetaEdit {
        let key = key::flat_key(&self.row, family, &[], self.timestamp_ms, CellType::DeleteFamily as u8);
        self.cells.push(OwnedCell::new(&key, &[], &[], 0));
        self
    }

    pub fn row(&self) -> &Bytes {
        &self.row
    }
    pub fn cells(&self) -> &[OwnedCell] {
        &self.cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_cell::Order;

    fn decode_edit(edit: &MetaEdit) -> Result<MetaRow, CatalogError> {
        let mut cells = edit.cells().to_vec();
        cells.sort_by(|a, b| Order::Meta.cells(&a.as_ref(), &b.as_ref()));
        decode(cells.iter().map(OwnedCell::as_ref))
    }

    #[test]
    fn region_rows_round_trip() {
        let table = TableName::parse("t").unwrap();
        let server = ServerName::new("h", 16020, 77);
        let region =
            |s: &'static str, e: &'static str, id| RegionInfo::new(table.clone(), s.as_bytes(), e.as_bytes(), id);
        let (parent, a, b) = (region("a", "z", 1), region("a", "m", 2), region("m", "z", 2));
        let edit = MetaEdit::region(&parent, 5)
            .region_info(&parent.with_flags(true, true))
            .state(RegionState::Split, 0)
            .location(&server, 9, 0)
            .target(&server, 0)
            .empty_location(2)
            .daughters(&a, &b)
            .merge_parents(&[a.clone(), b.clone()]);
        let MetaRow::Region(row) = decode_edit(&edit).unwrap() else { panic!("not a region") };
        assert!(row.info.is_split_parent());
        assert_eq!((row.state, row.open_seq_num, row.replicas), (Some(RegionState::Split), 9, 2));
        assert_eq!((row.server.as_ref(), row.target.as_ref()), (Some(&server), Some(&server)));
        assert_eq!(row.split, Some((a.clone(), b.clone())));
        assert_eq!(row.merged, [(Bytes::from("merge0000"), a), (Bytes::from("merge0001"), b)]);
    }

    #[test]
    fn an_empty_location_is_no_location() {
        let region = RegionInfo::new(TableName::parse("t").unwrap(), "", "", 1);
        let edit = MetaEdit::region(&region, 5).region_info(&region).empty_location(0);
        let MetaRow::Region(row) = decode_edit(&edit).unwrap() else { panic!("not a region") };
        assert_eq!((row.server, row.open_seq_num, row.state), (None, -1, None));
    }

    #[test]
    fn table_rows_and_strangers() {
        let table = TableName::parse("ns:t").unwrap();
        let edit = MetaEdit::table_state(&table, TableState::Disabling, 1);
        assert_eq!(decode_edit(&edit).unwrap(), MetaRow::Table(table, TableState::Disabling));
        let stranger = MetaEdit::new("t,,1", 1).cell(b"info", b"x", b"y");
        assert_eq!(decode_edit(&stranger).unwrap(), MetaRow::Other);
        let broken = MetaEdit::new("t,,1", 1).cell(b"info", b"regioninfo", b"garbage");
        assert_eq!(
            decode_edit(&broken).unwrap_err().to_string(),
            "malformed hbase:meta row t,,1 column regioninfo: malformed region info: no PBUF magic"
        );
    }

    #[test]
    fn states_have_hbases_numbers() {
        assert_eq!(RegionState::from_code(3), Some(RegionState::Open));
        assert_eq!(RegionState::from_code(1), None, "PENDING_OPEN is gone");
        for (state, name) in RegionState::ALL {
            assert_eq!(
                (RegionState::from_name(name.as_bytes()), RegionState::from_code(state.code())),
                (Some(state), Some(state))
            );
            assert_eq!(state.name(), name);
        }
    }
}
