//! [`Reader`]: an open file: trailer, root index, file info, bloom meta; decodes blocks.

use crate::{Block, BlockSource, BloomType, Compression, Encoding, FileId, FileInfo, HFileError, Step};
use martite_cell::Order;
use martite_env::ReadAt;

pub struct Reader {
    id: FileId,
    name: String,
}

impl Reader {
    /// Reads and checks the trailer and the load-on-open section.
    pub fn open(_id: FileId, _name: &str, _src: &dyn ReadAt) -> Result<Reader, HFileError> {
        todo!()
    }
    pub fn id(&self) -> FileId {
        self.id
    }
    pub fn name(&self) -> &str {
        &self.name
    }
    pub fn file_info(&self) -> &FileInfo {
        todo!()
    }
    /// Number of cells.
    pub fn entries(&self) -> u64 {
        todo!()
    }
    pub fn order(&self) -> Order {
        todo!()
    }
    /// Bytes of the file.
    pub fn file_size(&self) -> u64 {
        todo!()
    }
    /// Flat key of the first cell. Reads the first data block.
    pub fn first_key(&self, _src: &dyn BlockSource) -> Result<Step<Option<Vec<u8>>>, HFileError> {
        todo!()
    }
    /// Flat key of the last cell; `None` in an empty file.
    pub fn last_key(&self) -> Option<&[u8]> {
        todo!()
    }
    pub fn has_tags(&self) -> bool {
        todo!()
    }
    pub fn has_mvcc(&self) -> bool {
        todo!()
    }
    /// `MAX_SEQ_ID_KEY`: every edit of the family up to it is in this or an older file.
    pub fn max_seq_id(&self) -> Option<u64> {
        todo!()
    }
    /// Oldest and newest timestamp, both inclusive.
    pub fn time_range(&self) -> Option<(u64, u64)> {
        todo!()
    }
    pub fn is_major_compaction(&self) -> bool {
        todo!()
    }
    pub fn excluded_from_minor_compaction(&self) -> bool {
        todo!()
    }
    /// Set when the file was made for a bulk load.
    pub fn bulk_load_time_ms(&self) -> Option<u64> {
        todo!()
    }
    /// Names of the files that were compacted into this one.
    pub fn compacted_inputs(&self) -> Vec<String> {
        todo!()
    }
    pub fn create_time_ms(&self) -> Option<u64> {
        todo!()
    }
    pub fn earliest_put_ms(&self) -> Option<u64> {
        todo!()
    }
    /// Number of DeleteFamily and DeleteFamilyVersion cells; `None` when the file does not say.
    pub fn delete_family_count(&self) -> Option<u64> {
        todo!()
    }
    pub fn bloom_type(&self) -> BloomType {
        todo!()
    }
    pub fn compression(&self) -> Compression {
        todo!()
    }
    pub fn encoding(&self) -> Encoding {
        todo!()
    }
    /// Bytes of memory held by the reader itself: root index, bloom index, file info.
    pub fn heap_size(&self) -> usize {
        todo!()
    }
    /// Size of all blocks before compression, from the trailer.
    pub fn total_uncompressed_bytes(&self) -> u64 {
        todo!()
    }
    /// Bytes of all index blocks before compression.
    pub fn index_size(&self) -> u64 {
        todo!()
    }
    /// Bytes of all bloom chunks.
    pub fn bloom_size(&self) -> u64 {
        todo!()
    }
    /// Decodes the block at `offset` from its bytes in the file: checksum, decompression, encoding.
    pub fn decode_block(&self, _offset: u64, _on_disk: &[u8]) -> Result<Block, HFileError> {
        todo!()
    }
    /// A key in the middle of the file's blocks, to split at. `src` must be one that may block.
    pub fn mid_key(&self, _src: &dyn BlockSource) -> Result<Option<Vec<u8>>, HFileError> {
        todo!()
    }
    /// False only if the file has no cell of `row`.
    pub fn may_contain_row(&self, _row: &[u8], _src: &dyn BlockSource) -> Result<Step<bool>, HFileError> {
        todo!()
    }
    /// False only if the file has no cell of the column. Row filters answer for the row. A ROWCOL filter knows
    /// nothing of family-wide deletes: ask [`Reader::may_contain_delete_family`] too.
    pub fn may_contain_row_col(
        &self,
        _row: &[u8],
        _qualifier: &[u8],
        _src: &dyn BlockSource,
    ) -> Result<Step<bool>, HFileError> {
        todo!()
    }
    /// False only if the file has no DeleteFamily or DeleteFamilyVersion of `row`.
    pub fn may_contain_delete_family(&self, _row: &[u8], _src: &dyn BlockSource) -> Result<Step<bool>, HFileError> {
        todo!()
    }
    /// For a scan of the rows `start..stop` that share a prefix: false only if a ROWPREFIX filter excludes them.
    pub fn may_contain_prefix_of(
        &self,
        _start: &[u8],
        _stop: &[u8],
        _src: &dyn BlockSource,
    ) -> Result<Step<bool>, HFileError> {
        todo!()
    }
}
