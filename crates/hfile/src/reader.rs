//! [`Reader`]: an open file: trailer, root index, file info, bloom meta; decodes blocks.

mod decode;
mod filter;
mod open;

use crate::{
    Block, BlockKindHint, BlockRequest, BlockSource, BlockType, BloomType, Compression, Encoding, FileId, FileInfo,
    HFileError, Step,
    bloom::Bloom,
    cells::{Cells, Layout},
    format::info,
    index::{Level, Place, RootIndex},
    index_path::IndexPath,
    source::ready,
    trailer::Trailer,
};
use martite_cell::Order;
use std::sync::Arc;

/// An open file. It holds no file handle: bytes come through a [`BlockSource`].
#[derive(Debug)]
pub struct Reader {
    id: FileId,
    name: String,
    file_size: u64,
    trailer: Trailer,
    file_info: FileInfo,
    index: RootIndex,
    meta_index: RootIndex,
    layout: Layout,
    encoding: Encoding,
    tags_compressed: bool,
    bloom_type: BloomType,
    bloom: Option<Bloom>,
    delete_bloom: Option<Bloom>,
    delete_family_count: Option<u64>,
    /// Facts of the file info that every read asks for.
    time_range: Option<(u64, u64)>,
    last_bloom_key: Option<Box<[u8]>>,
}

impl Reader {
    pub fn id(&self) -> FileId {
        self.id
    }
    pub fn name(&self) -> &str {
        &self.name
    }
    pub fn file_info(&self) -> &FileInfo {
        &self.file_info
    }
    /// Number of cells.
    pub fn entries(&self) -> u64 {
        self.trailer.entries
    }
    #[inline]
    pub fn order(&self) -> Order {
        self.trailer.order
    }
    /// Bytes of the file.
    pub fn file_size(&self) -> u64 {
        self.file_size
    }
    /// Flat key of the last cell; `None` in an empty file.
    pub fn last_key(&self) -> Option<&[u8]> {
        self.file_info.get(info::LASTKEY)
    }
    pub fn has_tags(&self) -> bool {
        self.layout.tags
    }
    pub fn has_mvcc(&self) -> bool {
        self.layout.mvcc
    }
    /// `MAX_SEQ_ID_KEY`: every edit of the family up to it is in this or an older file.
    pub fn max_seq_id(&self) -> Option<u64> {
        self.file_info.u64(info::MAX_SEQ_ID_KEY)
    }
    /// Oldest and newest timestamp, both inclusive.
    pub fn time_range(&self) -> Option<(u64, u64)> {
        self.time_range
    }
    pub fn is_major_compaction(&self) -> bool {
        self.file_info.bool(info::MAJOR_COMPACTION_KEY)
    }
    pub fn excluded_from_minor_compaction(&self) -> bool {
        self.file_info.bool(info::EXCLUDE_FROM_MINOR_COMPACTION)
    }
    /// Set when the file was made for a bulk load.
    pub fn bulk_load_time_ms(&self) -> Option<u64> {
        self.file_info.u64(info::BULKLOAD_TIMESTAMP)
    }
    /// Names of the files that were compacted into this one.
    pub fn compacted_inputs(&self) -> Vec<String> {
        self.file_info.compacted_inputs()
    }
    pub fn create_time_ms(&self) -> Option<u64> {
        self.file_info.u64(info::CREATE_TIME_TS)
    }
    pub fn earliest_put_ms(&self) -> Option<u64> {
        self.file_info.u64(info::EARLIEST_PUT_TS)
    }
    /// Number of DeleteFamily and DeleteFamilyVersion cells; `None` when the file does not say.
    pub fn delete_family_count(&self) -> Option<u64> {
        self.delete_family_count
    }
    /// What the file's bloom filter holds; `None` if it has none that can be used.
    pub fn bloom_type(&self) -> BloomType {
        self.bloom_type
    }
    pub fn compression(&self) -> Compression {
        self.trailer.compression
    }
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }
    /// Levels of the data index; 1: all data blocks are named in memory.
    pub fn index_levels(&self) -> u32 {
        self.trailer.index_levels
    }
    /// Bytes of memory held by the reader itself: root index, bloom index, file info.
    pub fn heap_size(&self) -> usize {
        size_of::<Reader>()
            + self.name.capacity()
            + self.index.heap_size()
            + self.meta_index.heap_size()
            + self.file_info.heap_size()
            + self.bloom.iter().chain(&self.delete_bloom).map(Bloom::heap_size).sum::<usize>()
    }
    /// Size of all blocks before compression, from the trailer.
    pub fn total_uncompressed_bytes(&self) -> u64 {
        self.trailer.total_uncompressed_bytes
    }
    /// Bytes of all index blocks before compression.
    pub fn index_size(&self) -> u64 {
        self.trailer.uncompressed_index_size
    }
    /// Bytes of all bloom chunks.
    pub fn bloom_size(&self) -> u64 {
        self.bloom.iter().chain(&self.delete_bloom).map(|b| b.size_bytes).sum()
    }

    /// Number of keys in the general bloom filter.
    pub fn bloom_keys(&self) -> u64 {
        self.bloom.as_ref().map_or(0, |b| b.keys)
    }

    /// Flat key of the first cell. Reads the first data block.
    pub fn first_key(&self, src: &dyn BlockSource) -> Result<Step<Option<Vec<u8>>>, HFileError> {
        let mut path = IndexPath::default();
        if !ready!(path.first(self, src)?) {
            return Ok(Step::Ready(None));
        }
        let block = ready!(self.fetch_data(path.place(self), true, src)?);
        let first = self.cells(&block).first();
        Ok(Step::Ready(first.map(|cell| cell.key(block.payload()).to_vec())))
    }

    /// A key in the middle of the file's blocks, to split at. `src` must be one that may block.
    pub fn mid_key(&self, src: &dyn BlockSource) -> Result<Option<Vec<u8>>, HFileError> {
        let Some(mid_key) = self.index.mid_key else {
            let middle = self.index.len() / 2;
            return Ok((self.index.len() > 0).then(|| self.index.key(middle).to_vec()));
        };
        let leaf = match self.fetch(mid_key.leaf, BlockType::LeafIndex, BlockKindHint::Index, true, src)? {
            Step::Ready(leaf) => leaf,
            Step::Need(_) => {
                return Err(HFileError::unsupported(&self.name, "a mid key from a source that cannot wait"));
            }
        };
        let level = Level::new(&leaf);
        if mid_key.entry as usize >= level.len() {
            let reason = format!("the mid key is entry {} of {}", mid_key.entry, level.len());
            return Err(HFileError::corrupt(&self.name, leaf.offset, reason));
        }
        Ok(Some(level.key(mid_key.entry as usize).to_vec()))
    }

    /// The payload of a meta block, as a tool put it there.
    pub fn meta_block(&self, name: &[u8], src: &dyn BlockSource) -> Result<Step<Option<Arc<Block>>>, HFileError> {
        let entry = self.meta_index.find_raw(name).filter(|e| self.meta_index.key(*e) == name);
        let Some(entry) = entry else { return Ok(Step::Ready(None)) };
        let place = self.meta_index.place(entry);
        Ok(self.fetch(place, BlockType::Meta, BlockKindHint::Meta, true, src)?.map(Some))
    }

    /// Names of the meta blocks, sorted.
    pub fn meta_block_names(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.meta_index.len()).map(|i| self.meta_index.key(i))
    }

    pub(crate) fn index(&self) -> &RootIndex {
        &self.index
    }

    #[inline]
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// The cells of a data block.
    #[inline]
    pub(crate) fn cells<'a>(&self, block: &'a Block) -> Cells<'a> {
        Cells { payload: block.payload(), marks: block.marks(), layout: self.layout, order: self.order() }
    }

    pub(crate) fn fetch_data(
        &self,
        place: Place,
        cache: bool,
        src: &dyn BlockSource,
    ) -> Result<Step<Arc<Block>>, HFileError> {
        self.fetch(place, BlockType::Data, BlockKindHint::Data, cache, src)
    }

    /// Asks the source for a block that an index names.
    pub(crate) fn fetch(
        &self,
        place: Place,
        kind: BlockType,
        hint: BlockKindHint,
        cache: bool,
        src: &dyn BlockSource,
    ) -> Result<Step<Arc<Block>>, HFileError> {
        let request = self.request(place, hint, cache);
        let block = src.get(self, &request)?;
        self.checked(request, kind, block.map(|block| (block.kind, block)), src)
    }

    /// As `fetch`, for a block that is looked at and let go.
    pub(crate) fn look_at<T>(
        &self,
        place: Place,
        kind: BlockType,
        hint: BlockKindHint,
        src: &dyn BlockSource,
        look: impl Fn(&Block) -> T,
    ) -> Result<Step<T>, HFileError> {
        let request = self.request(place, hint, true);
        let mut seen = None;
        src.look_at(self, &request, &mut |block| seen = Some((block.kind, (block.kind == kind).then(|| look(block)))))?;
        let Step::Ready(seen) = self.checked(request, kind, seen, src)? else { return Ok(Step::Need(request)) };
        seen.map(Step::Ready).ok_or_else(|| HFileError::corrupt(&self.name, place.offset, "a block of another kind"))
    }

    pub(crate) fn request(&self, place: Place, hint: BlockKindHint, cache: bool) -> BlockRequest {
        BlockRequest { file: self.id, offset: place.offset, len: place.size, kind: hint, cache }
    }

    /// What a source gave, if it is a block of the kind that the index has there.
    fn checked<T>(
        &self,
        request: BlockRequest,
        kind: BlockType,
        found: Option<(BlockType, T)>,
        src: &dyn BlockSource,
    ) -> Result<Step<T>, HFileError> {
        let corrupt = |reason: String| HFileError::corrupt(&self.name, request.offset, reason);
        match found {
            Some((found, value)) if found == kind => Ok(Step::Ready(value)),
            Some((found, _)) => Err(corrupt(format!("a {found:?} block where the index has a {kind:?} block"))),
            None if src.may_block() => Err(corrupt("the block source has no such block".to_owned())),
            None => Ok(Step::Need(request)),
        }
    }
}
