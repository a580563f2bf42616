//! [`RegionInfo`]: which rows of which table, and the names that follow from that.
//!
//! ```text
//! new format   table,startkey,id[_RRRR].md5.     RRRR: replica id in four hex digits, absent for replica 0
//!              md5: of everything before the first '.' that precedes it; these 32 characters are the encoded name
//! old format   hbase:meta,,1                     encoded name: |lookup3 hash|, in decimal: 1588230740
//! ```

use crate::{CatalogError, ServerName, TableName, jenkins, to_string_binary, with_magic, without_magic};
use bytes::Bytes;
use martite_proto::{self as pb, Message};
use md5::{Digest, Md5};
use std::cmp::Ordering;
use std::sync::Arc;

/// Characters of an MD5 in hex.
const MD5_HEX_LENGTH: usize = 32;

/// A region; cheap to clone. Equality and order are HBase's.
#[derive(Clone)]
pub struct RegionInfo {
    table: TableName,
    start_key: Bytes,
    end_key: Bytes,
    region_id: u64,
    replica_id: i32,
    offline: bool,
    split: bool,
    name: Bytes,
    encoded: Arc<str>,
}

impl RegionInfo {
    /// A region of replica 0 that is neither offline nor split.
    pub fn new(table: TableName, start_key: impl Into<Bytes>, end_key: impl Into<Bytes>, region_id: u64) -> RegionInfo {
        RegionInfo::replica(table, start_key, end_key, region_id, 0)
    }

    /// A region of any replica.
    pub fn replica(
        table: TableName,
        start_key: impl Into<Bytes>,
        end_key: impl Into<Bytes>,
        region_id: u64,
        replica_id: i32,
    ) -> RegionInfo {
        let (start_key, end_key) = (start_key.into(), end_key.into());
        let name: Bytes = region_name(&table, &start_key, &region_id.to_string(), replica_id, !table.is_meta()).into();
        let encoded = encoded_name(&name).into();
        RegionInfo { table, start_key, end_key, region_id, replica_id, offline: false, split: false, name, encoded }
    }

    /// This region's other replica.
    pub fn with_replica_id(&self, replica_id: i32) -> RegionInfo {
        let (start, end) = (self.start_key.clone(), self.end_key.clone());
        let region = RegionInfo::replica(self.table.clone(), start, end, self.region_id, replica_id);
        region.with_flags(self.offline, self.split)
    }

    /// The one region of hbase:meta.
    pub fn meta() -> RegionInfo {
        RegionInfo::new(TableName::meta(), Bytes::new(), Bytes::new(), 1)
    }

    /// The one region of the master's own store.
    pub fn master_store() -> RegionInfo {
        RegionInfo::new(TableName::master_store(), Bytes::new(), Bytes::new(), 1)
    }

    /// The same region with other flags; a split parent is `offline` and `split`.
    pub fn with_flags(&self, offline: bool, split: bool) -> RegionInfo {
        RegionInfo { offline, split, ..self.clone() }
    }

    pub fn table(&self) -> &TableName {
        &self.table
    }
    pub fn start_key(&self) -> &Bytes {
        &self.start_key
    }
    /// Exclusive; empty means no end.
    pub fn end_key(&self) -> &Bytes {
        &self.end_key
    }
    /// Creation time in ms, made unique among a region's ancestors.
    pub fn region_id(&self) -> u64 {
        self.region_id
    }
    pub fn replica_id(&self) -> i32 {
        self.replica_id
    }
    pub fn is_offline(&self) -> bool {
        self.offline
    }
    pub fn is_split(&self) -> bool {
        self.split
    }
    /// Whether the region was split and its daughters took over.
    pub fn is_split_parent(&self) -> bool {
        self.split && self.offline
    }
    /// The full name: the row of the region in hbase:meta.
    pub fn name(&self) -> &Bytes {
        &self.name
    }
    /// The encoded name: the directory, and the key of everything that concerns the region.
    pub fn encoded_name(&self) -> &str {
        &self.encoded
    }
    pub fn encoded_name_arc(&self) -> &Arc<str> {
        &self.encoded
    }
    /// The full name as HBase prints it.
    pub fn name_string(&self) -> String {
        let printed = to_string_binary(&self.name);
        if has_encoded_name(&self.name) { printed } else { format!("{printed}.{}", self.encoded) }
    }
    pub fn is_meta(&self) -> bool {
        self.table.is_meta()
    }

    pub fn contains_row(&self, row: &[u8]) -> bool {
        // An empty key may have no address, where glibc's `memcmp` by AVX-512 takes 80 ns to read nothing (an AMD EPYC, glibc 2.36).
        (self.start_key.is_empty() || row >= &self.start_key[..])
            && (self.end_key.is_empty() || row < &self.end_key[..])
    }

    /// Whether one region ends where the other begins.
    pub fn is_adjacent(&self, other: &RegionInfo) -> bool {
        let (a, b) = if self.start_key <= other.start_key { (self, other) } else { (other, self) };
        self.table == other.table && a.end_key == b.start_key
    }

    /// Whether some row belongs to both.
    pub fn overlaps(&self, other: &RegionInfo) -> bool {
        let before_end = |start: &Bytes, end: &Bytes| end.is_empty() || start < end;
        self.table == other.table
            && before_end(&self.start_key, &other.end_key)
            && before_end(&other.start_key, &self.end_key)
    }

    pub fn from_proto(info: &pb::RegionInfo) -> Result<RegionInfo, CatalogError> {
        let table = TableName::from_proto(&info.table_name)?;
        let start = info.start_key.clone().unwrap_or_default();
        let end = info.end_key.clone().unwrap_or_default();
        let region = if table.is_meta() && info.replica_id.unwrap_or(0) == 0 {
            RegionInfo::meta()
        } else {
            RegionInfo::replica(table, start, end, info.region_id, info.replica_id.unwrap_or(0))
        };
        Ok(region.with_flags(info.offline.unwrap_or(false), info.split.unwrap_or(false)))
    }

    pub fn to_proto(&self) -> pb::RegionInfo {
        pb::RegionInfo {
            region_id: self.region_id,
            table_name: self.table.to_proto(),
            start_key: Some(self.start_key.clone()),
            end_key: Some(self.end_key.clone()),
            offline: Some(self.offline),
            split: Some(self.split),
            replica_id: Some(self.replica_id),
        }
    }

    /// `PBUF` and the message: the form of info:regioninfo.
    pub fn to_bytes(&self) -> Vec<u8> {
        with_magic(&self.to_proto())
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<RegionInfo, CatalogError> {
        let body = without_magic(bytes, "region info")?;
        let info = pb::RegionInfo::decode(body).map_err(|e| CatalogError::malformed("region info", e))?;
        RegionInfo::from_proto(&info)
    }

    /// `PBUF`, a varint length, and the message: the form of `.regioninfo` files.
    pub fn to_delimited_bytes(&self) -> Vec<u8> {
        let mut out = pb::PBUF_MAGIC.to_vec();
        out.extend_from_slice(&self.to_proto().encode_length_delimited_to_vec());
        out
    }

    pub fn from_delimited_bytes(bytes: &[u8]) -> Result<RegionInfo, CatalogError> {
        let body = without_magic(bytes, "region info")?;
        let info =
            pb::RegionInfo::decode_length_delimited(body).map_err(|e| CatalogError::malformed("region info", e))?;
        RegionInfo::from_proto(&info)
    }

    /// HBase's message for a region that is not here.
    pub fn not_online_message(&self, server: &ServerName) -> String {
        format!("{} is not online on {server}", self.name_string())
    }
}

impl PartialEq for RegionInfo {
    fn eq(&self, other: &RegionInfo) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for RegionInfo {}

impl std::hash::Hash for RegionInfo {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl PartialOrd for RegionInfo {
    fn partial_cmp(&self, other: &RegionInfo) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RegionInfo {
    /// Table, start key, end key (the table's last region after all others), id, replica, offline first.
    fn cmp(&self, other: &RegionInfo) -> Ordering {
        let last = |r: &RegionInfo| !r.start_key.is_empty() && r.end_key.is_empty();
        let ends = || match (last(self), last(other)) {
            _ if self.end_key == other.end_key => Ordering::Equal,
            (true, _) => Ordering::Greater,
            (_, true) => Ordering::Less,
            _ => self.end_key.cmp(&other.end_key),
        };
        self.table
            .cmp(&other.table)
            .then_with(|| self.start_key.cmp(&other.start_key))
            .then_with(ends)
            .then_with(|| self.region_id.cmp(&other.region_id))
            .then_with(|| self.replica_id.cmp(&other.replica_id))
            .then_with(|| other.offline.cmp(&self.offline))
    }
}

impl std::fmt::Display for RegionInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name_string())
    }
}

impl std::fmt::Debug for RegionInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{{ENCODED => {}, NAME => '{}', STARTKEY => '", self.encoded, self.name_string())?;
        write!(f, "{}', ENDKEY => '{}'", to_string_binary(&self.start_key), to_string_binary(&self.end_key))?;
        if self.offline {
            f.write_str(", OFFLINE => true")?;
        }
        if self.split {
            f.write_str(", SPLIT => true")?;
        }
        if self.replica_id > 0 {
            write!(f, ", REPLICA_ID => {}", self.replica_id)?;
        }
        f.write_str("}")
    }
}

/// The name of a region; `id` may also be a bound such as `99999999999999` for lookups.
pub fn region_name(table: &TableName, start_key: &[u8], id: &str, replica_id: i32, new_format: bool) -> Vec<u8> {
    let mut name = Vec::with_capacity(table.as_bytes().len() + start_key.len() + id.len() + MD5_HEX_LENGTH + 9);
    name.extend_from_slice(table.as_bytes());
    name.push(b',');
    name.extend_from_slice(start_key);
    name.push(b',');
    name.extend_from_slice(id.as_bytes());
    if replica_id > 0 {
        name.extend_from_slice(format!("_{replica_id:04X}").as_bytes());
    }
    if new_format {
        let digest = md5_hex(&name);
        name.push(b'.');
        name.extend_from_slice(digest.as_bytes());
        name.push(b'.');
    }
    name
}

/// The encoded name of a full region name in either format.
pub fn encoded_name(name: &[u8]) -> String {
    if has_encoded_name(name) {
        let end = name.len() - 1;
        String::from_utf8_lossy(&name[end.saturating_sub(MD5_HEX_LENGTH)..end]).into_owned()
    } else {
        (jenkins::hash(name, 0) as i32).wrapping_abs().to_string()
    }
}

/// Whether the name is of the new format, which ends in the encoded name and a dot.
pub fn has_encoded_name(name: &[u8]) -> bool {
    name.last() == Some(&b'.') && name.len() > MD5_HEX_LENGTH
}

/// The parts of a full region name.
#[derive(Debug, PartialEq, Eq)]
pub struct RegionNameParts<'a> {
    pub table: &'a [u8],
    pub start_key: &'a [u8],
    pub id: &'a [u8],
    pub replica: Option<&'a [u8]>,
}

/// Takes a full region name apart; the start key may hold commas, so the name is read from both ends.
pub fn parse_region_name(name: &[u8]) -> Option<RegionNameParts<'_>> {
    let first = name.iter().position(|&b| b == b',')?;
    let mut end = name.len();
    if name.len() > MD5_HEX_LENGTH + 2 && name[end - 1] == b'.' && name[end - MD5_HEX_LENGTH - 2] == b'.' {
        end -= MD5_HEX_LENGTH + 2;
    }
    let last = name[..end].iter().rposition(|&b| b == b',')?;
    let start_key = if last > first { &name[first + 1..last] } else { &name[first..first] };
    let tail = &name[last + 1..end];
    let (id, replica) = match tail.iter().position(|&b| b == b'_') {
        Some(at) => (&tail[..at], Some(&tail[at + 1..])),
        None => (tail, None),
    };
    Some(RegionNameParts { table: &name[..first], start_key, id, replica })
}

fn md5_hex(bytes: &[u8]) -> String {
    Md5::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str) -> TableName {
        TableName::parse(name).unwrap()
    }

    #[test]
    fn names_of_meta_and_of_the_masters_region() {
        let meta = RegionInfo::meta();
        assert_eq!(&meta.name()[..], b"hbase:meta,,1");
        assert_eq!(meta.encoded_name(), "1588230740");
        assert_eq!(meta.name_string(), "hbase:meta,,1.1588230740");
        // The name that every HBase cluster gives to the directory under MasterData.
        assert_eq!(RegionInfo::master_store().encoded_name(), "1595e783b53d99cd5eef43b6debb2682");
    }

    #[test]
    fn a_region_name_from_a_real_cluster() {
        let region = RegionInfo::new(table("TestTable"), &b"0094429456"[..], Bytes::new(), 1_289_497_600_452);
        assert_eq!(region.name_string(), "TestTable,0094429456,1289497600452.527db22f95c8a9e0116f0cc13c680396.");
        assert_eq!(encoded_name(region.name()), "527db22f95c8a9e0116f0cc13c680396");
    }

    #[test]
    fn names_carry_start_key_id_and_replica() {
        let region = RegionInfo::new(table("ns:t"), &b"a,\x00b"[..], &b"z"[..], 1_700_000_000_000);
        let parts = parse_region_name(region.name()).unwrap();
        assert_eq!((parts.table, parts.start_key), (&b"ns:t"[..], &b"a,\x00b"[..]));
        assert_eq!((parts.id, parts.replica), (&b"1700000000000"[..], None));
        assert!(region.name().ends_with(format!(".{}.", region.encoded_name()).as_bytes()));
        let replica = RegionInfo::replica(table("ns:t"), &b"a"[..], &b"z"[..], 5, 26);
        assert_eq!(replica.with_replica_id(0).with_replica_id(26), replica);
        assert!(replica.name().starts_with(b"ns:t,a,5_001A."));
        assert_eq!(parse_region_name(replica.name()).unwrap().replica, Some(&b"001A"[..]));
        assert_eq!(parse_region_name(b"nocomma"), None);
    }

    #[test]
    fn proto_and_file_forms_round_trip() {
        let parent = RegionInfo::new(table("t"), &b"b"[..], Bytes::new(), 9).with_flags(true, true);
        for read in
            [RegionInfo::from_bytes(&parent.to_bytes()), RegionInfo::from_delimited_bytes(&parent.to_delimited_bytes())]
        {
            let read = read.unwrap();
            assert_eq!(read, parent);
            assert!(read.is_split_parent());
        }
        assert!(RegionInfo::from_bytes(b"XXXX").is_err());
        assert!(RegionInfo::from_bytes(b"PBUF\xff").is_err());
    }

    #[test]
    fn rows_and_neighbours() {
        let r = |s: &'static str, e: &'static str| RegionInfo::new(table("t"), s.as_bytes(), e.as_bytes(), 1);
        assert!(r("b", "d").contains_row(b"b") && r("b", "d").contains_row(b"c\xff"));
        assert!(!r("b", "d").contains_row(b"d") && !r("b", "d").contains_row(b"a"));
        assert!(r("b", "").contains_row(b"\xff") && r("", "b").contains_row(b""));
        assert!(r("a", "b").is_adjacent(&r("b", "c")) && r("b", "").is_adjacent(&r("a", "b")));
        assert!(!r("a", "b").is_adjacent(&r("c", "d")));
        assert!(r("a", "c").overlaps(&r("b", "d")) && !r("a", "b").overlaps(&r("b", "c")));
        assert!(r("b", "") > r("b", "z") && r("a", "z") < r("b", "c"));
        assert!(r("", "") < r("", "b"), "only a region with a start key is a last region");
    }
}
