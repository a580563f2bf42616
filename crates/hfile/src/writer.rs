//! [`Writer`]: makes a file from cells in order.

use crate::{BloomType, ChecksumType, Compression, Encoding, HFileError};
use martite_cell::{CellRef, Order};
use std::io::Write;

/// The form of a new file.
#[derive(Debug, Clone)]
pub struct WriterOptions {
    /// For error messages.
    pub name: String,
    /// A data block is closed at this size, before compression.
    pub block_size: usize,
    pub compression: Compression,
    pub encoding: Encoding,
    pub bloom: BloomType,
    pub include_tags: bool,
    pub include_mvcc: bool,
    /// Dictionary for tags; only with an encoding.
    pub compress_tags: bool,
    pub order: Order,
    pub checksum: ChecksumType,
    pub bytes_per_checksum: u32,
    pub create_time_ms: u64,
    /// Size of a leaf or intermediate index block.
    pub index_block_size: usize,
    /// An index block of fewer entries is not closed for its size.
    pub index_min_entries: usize,
    pub bloom_block_size: usize,
    pub bloom_error_rate: f64,
    pub bloom_max_fold: u32,
    /// An estimate, 0 if unknown.
    pub expected_keys: u64,
}

impl Default for WriterOptions {
    fn default() -> WriterOptions {
        WriterOptions {
            name: String::new(),
            block_size: 64 << 10,
            compression: Compression::None,
            encoding: Encoding::None,
            bloom: BloomType::Row,
            include_tags: false,
            include_mvcc: true,
            compress_tags: false,
            order: Order::Default,
            checksum: ChecksumType::Crc32c,
            bytes_per_checksum: 16 << 10,
            create_time_ms: 0,
            index_block_size: 128 << 10,
            index_min_entries: 16,
            bloom_block_size: 128 << 10,
            bloom_error_rate: 0.01,
            bloom_max_fold: 7,
            expected_keys: 0,
        }
    }
}

/// What a store knows of its new file.
#[derive(Debug, Clone, Default)]
pub struct StoreMeta {
    /// `None`: a file for bulk load or a tool, not from a flush or compaction.
    pub max_seq_id: Option<u64>,
    pub major_compaction: bool,
    pub exclude_from_minor_compaction: bool,
    /// Names of the files that were compacted into this one.
    pub compacted_inputs: Vec<String>,
}

/// A finished file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finished {
    pub file_size: u64,
    pub entries: u64,
    pub first_key: Option<Vec<u8>>,
    pub last_key: Option<Vec<u8>>,
    /// Oldest and newest timestamp, inclusive.
    pub time_range: Option<(u64, u64)>,
    pub max_cell_seq_id: u64,
    pub delete_family_count: u64,
    pub total_uncompressed_bytes: u64,
}

pub struct Writer<W: Write> {
    out: W,
}

impl<W: Write> Writer<W> {
    pub fn new(_out: W, _options: WriterOptions) -> Result<Writer<W>, HFileError> {
        todo!()
    }
    /// Cells in the file's order; equal keys by descending sequence id.
    pub fn append(&mut self, _cell: &CellRef<'_>) -> Result<(), HFileError> {
        todo!()
    }
    pub fn append_file_info(&mut self, _key: &[u8], _value: &[u8]) {
        todo!()
    }
    /// A block of bytes under a name, read back by tools.
    pub fn append_meta_block(&mut self, _name: &[u8], _payload: &[u8]) {
        todo!()
    }
    /// Bytes written so far, the open block not included.
    pub fn position(&self) -> u64 {
        todo!()
    }
    pub fn entries(&self) -> u64 {
        todo!()
    }
    /// Writes what is left. The caller syncs.
    pub fn finish(self, _meta: StoreMeta) -> Result<(W, Finished), HFileError> {
        let _ = self.out;
        todo!()
    }
}
