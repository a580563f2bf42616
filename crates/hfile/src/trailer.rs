//! [`Trailer`]: the last 4096 bytes of a file.
//!
//! ```text
//! "TRABLK"$" | varint length | FileTrailerProto | zeros | u32 minor version << 24 | major version
//! ```

use crate::{
    HFileError,
    block::BlockType,
    format::{COMPARATOR, MAJOR_VERSION, MAX_INDEX_LEVELS, META_COMPARATOR, MINOR_VERSION, TRAILER_BYTES},
};
use martite_cell::Order;
use martite_compress::Algorithm;
use martite_proto::{FileTrailerProto, Message};

/// Where things are, checked against the file's size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trailer {
    pub file_info_offset: u64,
    pub load_on_open_offset: u64,
    pub uncompressed_index_size: u64,
    pub total_uncompressed_bytes: u64,
    pub data_index_count: u32,
    pub meta_index_count: u32,
    pub entries: u64,
    pub index_levels: u32,
    /// -1 in an empty file.
    pub first_data_block: i64,
    pub last_data_block: i64,
    pub order: Order,
    pub compression: Algorithm,
}

impl Trailer {
    /// `bytes` are the last [`TRAILER_BYTES`] of a file of `file_size`.
    pub(crate) fn parse(file: &str, bytes: &[u8; TRAILER_BYTES], file_size: u64) -> Result<Trailer, HFileError> {
        let at = file_size - TRAILER_BYTES as u64;
        let corrupt = |reason: String| HFileError::corrupt(file, at, format!("trailer: {reason}"));
        let [.., a, b, c, d] = *bytes;
        let version = u32::from_be_bytes([a, b, c, d]);
        let (major, minor) = (version & 0xff_ffff, version >> 24);
        let Some(proto) = bytes.strip_prefix(BlockType::Trailer.magic()) else {
            // Older versions have smaller trailers, so their magic is elsewhere.
            return Err(match major {
                1 | 2 => HFileError::unsupported(file, format!("HFile version {major}.{minor}")),
                _ => corrupt(format!("begins with \"{}\"", bytes[..8].escape_ascii())),
            });
        };
        if major != MAJOR_VERSION || minor > MINOR_VERSION {
            return Err(HFileError::unsupported(file, format!("HFile version {major}.{minor}")));
        }
        let proto =
            FileTrailerProto::decode_length_delimited(&proto[..proto.len() - 4]).map_err(|e| corrupt(e.to_string()))?;
        if proto.encryption_key.as_ref().is_some_and(|k| !k.is_empty()) {
            return Err(HFileError::unsupported(file, "encryption"));
        }
        let trailer = Trailer {
            file_info_offset: proto.file_info_offset.unwrap_or_default(),
            load_on_open_offset: proto.load_on_open_data_offset.unwrap_or_default(),
            uncompressed_index_size: proto.uncompressed_data_index_size.unwrap_or_default(),
            total_uncompressed_bytes: proto.total_uncompressed_bytes.unwrap_or_default(),
            data_index_count: proto.data_index_count.unwrap_or_default(),
            meta_index_count: proto.meta_index_count.unwrap_or_default(),
            entries: proto.entry_count.unwrap_or_default(),
            index_levels: proto.num_data_index_levels.unwrap_or_default(),
            first_data_block: proto.first_data_block_offset.unwrap_or_default() as i64,
            last_data_block: proto.last_data_block_offset.unwrap_or_default() as i64,
            order: order(file, proto.comparator_class_name.as_deref())?,
            compression: compression(file, proto.compression_codec)?,
        };
        trailer.check(at).map_err(corrupt)?;
        Ok(trailer)
    }

    fn check(&self, at: u64) -> Result<(), String> {
        if self.load_on_open_offset > self.file_info_offset || self.file_info_offset >= at {
            let (load, info) = (self.load_on_open_offset, self.file_info_offset);
            return Err(format!("load-on-open section at {load}, file info at {info}, trailer at {at}"));
        }
        if !(1..=MAX_INDEX_LEVELS).contains(&self.index_levels) {
            return Err(format!("{} index levels", self.index_levels));
        }
        let empty = self.data_index_count == 0;
        if empty != (self.entries == 0) || empty && self.index_levels > 1 {
            return Err(format!("{} cells, but {} index entries", self.entries, self.data_index_count));
        }
        if !empty && (self.first_data_block < 0 || self.last_data_block < self.first_data_block) {
            return Err(format!("data blocks from {} to {}", self.first_data_block, self.last_data_block));
        }
        Ok(())
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let comparator = match self.order {
            Order::Default => COMPARATOR,
            Order::Meta => META_COMPARATOR,
        };
        let proto = FileTrailerProto {
            file_info_offset: Some(self.file_info_offset),
            load_on_open_data_offset: Some(self.load_on_open_offset),
            uncompressed_data_index_size: Some(self.uncompressed_index_size),
            total_uncompressed_bytes: Some(self.total_uncompressed_bytes),
            data_index_count: Some(self.data_index_count),
            meta_index_count: Some(self.meta_index_count),
            entry_count: Some(self.entries),
            num_data_index_levels: Some(self.index_levels),
            first_data_block_offset: Some(self.first_data_block as u64),
            last_data_block_offset: Some(self.last_data_block as u64),
            comparator_class_name: Some(comparator.into()),
            compression_codec: Some(self.compression.ordinal()),
            encryption_key: None,
        };
        let mut bytes = BlockType::Trailer.magic().to_vec();
        bytes.extend_from_slice(&proto.encode_length_delimited_to_vec());
        bytes.resize(TRAILER_BYTES - 4, 0);
        bytes.extend_from_slice(&(MINOR_VERSION << 24 | MAJOR_VERSION).to_be_bytes());
        bytes
    }
}

/// The order behind a comparator's Java name; several generations of HBase had their own.
fn order(file: &str, class: Option<&str>) -> Result<Order, HFileError> {
    let Some(class) = class else { return Ok(Order::Default) };
    Ok(match class.strip_prefix("org.apache.hadoop.hbase.").unwrap_or_default() {
        "KeyValue$KVComparator"
        | "KeyValue$KeyComparator"
        | "CellComparator"
        | "CellComparatorImpl"
        | "InnerStoreCellComparator" => Order::Default,
        "KeyValue$MetaComparator"
        | "KeyValue$MetaKeyComparator"
        | "MetaCellComparator"
        | "CellComparator$MetaCellComparator"
        | "CellComparatorImpl$MetaCellComparator" => Order::Meta,
        _ => return Err(HFileError::unsupported(file, format!("comparator {class}"))),
    })
}

fn compression(file: &str, ordinal: Option<u32>) -> Result<Algorithm, HFileError> {
    let Some(ordinal) = ordinal else { return Ok(Algorithm::None) };
    match Algorithm::from_ordinal(ordinal) {
        Some(algorithm) if algorithm.supported() => Ok(algorithm),
        Some(algorithm) => Err(HFileError::unsupported(file, format!("compression {}", algorithm.name()))),
        None => Err(HFileError::unsupported(file, format!("compression number {ordinal}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trailer() -> Trailer {
        Trailer {
            file_info_offset: 300,
            load_on_open_offset: 200,
            uncompressed_index_size: 50,
            total_uncompressed_bytes: 999,
            data_index_count: 1,
            meta_index_count: 0,
            entries: 7,
            index_levels: 1,
            first_data_block: 0,
            last_data_block: 0,
            order: Order::Meta,
            compression: Algorithm::Gz,
        }
    }

    fn parse(bytes: &[u8]) -> Result<Trailer, HFileError> {
        Trailer::parse("f", bytes.try_into().unwrap(), 400 + TRAILER_BYTES as u64)
    }

    #[test]
    fn written_trailers_come_back_and_impossible_ones_are_refused() {
        assert_eq!(parse(&trailer().to_bytes()).unwrap(), trailer());
        for wrong in [
            Trailer { load_on_open_offset: 301, ..trailer() },
            Trailer { file_info_offset: 400, ..trailer() },
            Trailer { index_levels: 0, ..trailer() },
            Trailer { index_levels: 17, ..trailer() },
            Trailer { entries: 0, ..trailer() },
            Trailer { data_index_count: 0, ..trailer() },
            Trailer { first_data_block: -1, ..trailer() },
        ] {
            let error = parse(&wrong.to_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("f is corrupt at offset 400: trailer: "), "{error}");
        }
    }

    #[test]
    fn other_versions_and_codecs_are_named() {
        let mut bytes = trailer().to_bytes();
        bytes[TRAILER_BYTES - 4] = 4;
        assert_eq!(parse(&bytes).unwrap_err().to_string(), "f: HFile version 3.4 is not supported");
        bytes[..8].fill(0);
        bytes[TRAILER_BYTES - 4..].copy_from_slice(&[3, 0, 0, 2]);
        assert_eq!(parse(&bytes).unwrap_err().to_string(), "f: HFile version 2.3 is not supported");
        let lzo = Trailer { compression: Algorithm::Lzo, ..trailer() };
        assert_eq!(parse(&lzo.to_bytes()).unwrap_err().to_string(), "f: compression LZO is not supported");
    }
}
