//! [`FileInfo`]: the key-value map of a file.
//!
//! Payload of its block: `"PBUF" | varint length | FileInfoProto { map_entry { first: key, second: value }* }`.

use crate::{error::Parsed, format::info};
use martite_proto::{BytesBytesPair, CompactionEventTracker, FileInfoProto, Message, PBUF_MAGIC, TimeRangeTracker};
use std::collections::BTreeMap;

/// Facts about a file by name; unknown ones are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileInfo {
    entries: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl FileInfo {
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.entries.get(key).map(Vec::as_slice)
    }
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().map(|(k, v)| (k.as_slice(), v.as_slice()))
    }
    pub(crate) fn set(&mut self, key: &[u8], value: &[u8]) {
        self.entries.insert(key.to_vec(), value.to_vec());
    }
    pub(crate) fn set_u64(&mut self, key: &[u8], value: u64) {
        self.set(key, &value.to_be_bytes());
    }
    pub(crate) fn set_u32(&mut self, key: &[u8], value: u32) {
        self.set(key, &value.to_be_bytes());
    }
    /// Java's way to store a boolean: FF or 00.
    pub(crate) fn set_bool(&mut self, key: &[u8], value: bool) {
        self.set(key, &[if value { 0xff } else { 0 }]);
    }
    /// A big-endian i64; `None` if absent or of another size.
    pub fn u64(&self, key: &[u8]) -> Option<u64> {
        Some(u64::from_be_bytes(self.get(key)?.try_into().ok()?))
    }
    pub fn u32(&self, key: &[u8]) -> Option<u32> {
        Some(u32::from_be_bytes(self.get(key)?.try_into().ok()?))
    }
    pub fn bool(&self, key: &[u8]) -> bool {
        self.get(key).is_some_and(|v| v.len() == 1 && v[0] != 0)
    }

    /// Oldest and newest timestamp; `None` if the file does not tell or has no cells.
    pub(crate) fn time_range(&self) -> Option<(u64, u64)> {
        let value = self.get(info::TIMERANGE)?;
        let (min, max) = match value.strip_prefix(PBUF_MAGIC) {
            Some(proto) => {
                let tracker = TimeRangeTracker::decode(proto).ok()?;
                (tracker.from?, tracker.to?)
            }
            None => {
                let (min, max) = value.split_first_chunk::<8>()?;
                (u64::from_be_bytes(*min), u64::from_be_bytes(max.try_into().ok()?))
            }
        };
        (min as i64 <= max as i64).then_some((min, max))
    }

    pub(crate) fn compacted_inputs(&self) -> Vec<String> {
        let Some(proto) = self.get(info::COMPACTION_EVENT_KEY).and_then(|v| v.strip_prefix(PBUF_MAGIC)) else {
            return Vec::new();
        };
        let inputs = CompactionEventTracker::decode(proto).map(|t| t.compacted_store_file).unwrap_or_default();
        inputs.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }

    pub(crate) fn set_compacted_inputs(&mut self, names: &[String]) {
        let proto = CompactionEventTracker {
            compacted_store_file: names.iter().map(|n| n.clone().into_bytes().into()).collect(),
        };
        self.set(info::COMPACTION_EVENT_KEY, &[PBUF_MAGIC, proto.encode_to_vec().as_slice()].concat());
    }

    pub(crate) fn parse(payload: &[u8]) -> Parsed<FileInfo> {
        let proto = payload.strip_prefix(PBUF_MAGIC).ok_or("file info does not begin with PBUF")?;
        let proto = FileInfoProto::decode_length_delimited(proto).map_err(|e| format!("file info: {e}"))?;
        let entries = proto.map_entry.into_iter().map(|pair| (pair.first.into(), pair.second.into())).collect();
        Ok(FileInfo { entries })
    }

    pub(crate) fn to_payload(&self) -> Vec<u8> {
        let pair = |(k, v): (&Vec<u8>, &Vec<u8>)| BytesBytesPair { first: k.clone().into(), second: v.clone().into() };
        let proto = FileInfoProto { map_entry: self.entries.iter().map(pair).collect() };
        [PBUF_MAGIC, proto.encode_length_delimited_to_vec().as_slice()].concat()
    }

    pub(crate) fn heap_size(&self) -> usize {
        self.entries.iter().map(|(k, v)| k.capacity() + v.capacity() + 64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_come_back_and_odd_values_are_absent() {
        let mut file_info = FileInfo::default();
        file_info.set(b"own key", b"\0\xff");
        file_info.set_u64(info::MAX_SEQ_ID_KEY, 42);
        file_info.set_bool(info::MAJOR_COMPACTION_KEY, true);
        file_info.set(info::TIMERANGE, &[5u64.to_be_bytes(), 9u64.to_be_bytes()].concat());
        file_info.set_compacted_inputs(&["a".to_owned(), "b".to_owned()]);
        let back = FileInfo::parse(&file_info.to_payload()).unwrap();
        assert_eq!(back, file_info);
        assert_eq!(back.u64(info::MAX_SEQ_ID_KEY), Some(42));
        assert_eq!(back.u32(info::MAX_SEQ_ID_KEY), None);
        assert_eq!((back.time_range(), back.bool(info::MAJOR_COMPACTION_KEY)), (Some((5, 9)), true));
        assert_eq!(back.compacted_inputs(), ["a", "b"]);
        assert!(FileInfo::parse(b"PBUX").is_err());
        // What HBase writes for a file without cells.
        file_info.set(info::TIMERANGE, &[i64::MAX.to_be_bytes(), (-1i64).to_be_bytes()].concat());
        assert_eq!(file_info.time_range(), None);
    }
}
