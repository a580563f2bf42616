//! [`Entry`]: what one append writes and what a reader yields.

use bytes::Bytes;
use std::borrow::Cow;

/// How far an edit of a family is replicated; values are HBase's and are persisted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Scope {
    Local = 0,
    Global = 1,
    Serial = 2,
}

/// One atomic edit of one region: a WAL key and its cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Encoded region name: 32 hex digits, or the number of a meta region.
    pub region: Bytes,
    /// `table` or `namespace:table`.
    pub table: Bytes,
    /// MVCC write number of the edit, unique in its region.
    pub seq: u64,
    pub write_time_ms: u64,
    /// 0: none.
    pub nonce_group: u64,
    /// 0: none.
    pub nonce: u64,
    /// Sequence id in the log that the edit came from, for edits that were replayed; 0: none.
    pub orig_seq: u64,
    /// Clusters that have seen the edit: UUIDs as (most significant, least significant) halves.
    pub cluster_ids: Cow<'a, [(u64, u64)]>,
    /// Families that are replicated. Not listed: local.
    pub scopes: Cow<'a, [(Bytes, Scope)]>,
    /// Extended attributes of the key, without the checksum.
    pub attributes: Cow<'a, [(String, Bytes)]>,
    /// The cells in `KeyValueCodecWithTags` form: what [`martite_cell::CellBuf::bytes`] holds.
    pub cells: Cow<'a, [u8]>,
    pub cell_count: u32,
    /// Families whose memstores hold the edit afterwards, for the accounting of what is not flushed. Empty for
    /// markers (`METAFAMILY`). Not written; a reader leaves it empty.
    pub families: Cow<'a, [Bytes]>,
}

impl Entry<'_> {
    /// The same entry, holding its bytes.
    pub fn into_owned(self) -> Entry<'static> {
        Entry {
            cluster_ids: Cow::Owned(self.cluster_ids.into_owned()),
            scopes: Cow::Owned(self.scopes.into_owned()),
            attributes: Cow::Owned(self.attributes.into_owned()),
            cells: Cow::Owned(self.cells.into_owned()),
            families: Cow::Owned(self.families.into_owned()),
            ..self
        }
    }
}
