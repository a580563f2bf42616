//! [`Writer`]: makes a file from cells in order.

use crate::{
    BlockType, BloomType, ChecksumType, Compression, Encoding, FileInfo, HFileError,
    block_writer::BlockWriter,
    bloom::{BloomWriter, row_col_key},
    cells::Layout,
    encoding::Encoder,
    format::{HEADER_BYTES, TRAILER_BYTES, info},
    index_writer::{Chunk, IndexWriter},
    midpoint,
    trailer::Trailer,
};
use martite_cell::{CellRef, CellType, LATEST_TIMESTAMP, Order, key};
use std::{cmp::Ordering, collections::BTreeMap, io::Write};

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
    /// An intermediate index block of fewer entries is not closed for its size.
    pub index_min_entries: usize,
    pub bloom_block_size: usize,
    pub bloom_error_rate: f64,
    pub bloom_max_fold: u32,
    /// An estimate, 0 if unknown.
    pub expected_keys: u64,
}

impl Default for WriterOptions {
    /// HBase's defaults for a column family.
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
    /// Oldest and newest timestamp, inclusive; as HBase tracks it, a delete of a column or family reaches back to 0.
    pub time_range: Option<(u64, u64)>,
    pub max_cell_seq_id: u64,
    pub delete_family_count: u64,
    pub total_uncompressed_bytes: u64,
}

/// What accumulates cell by cell.
#[derive(Debug)]
struct Totals {
    entries: u64,
    key_bytes: u64,
    value_bytes: u64,
    biggest: u64,
    biggest_key: Vec<u8>,
    max_tags: usize,
    max_seq_id: u64,
    min_ts: i64,
    max_ts: i64,
    earliest_put: u64,
    delete_families: u64,
}

/// A file in the making. Dropped unfinished, it leaves a torso that no reader opens.
pub struct Writer<W: Write> {
    blocks: BlockWriter<W>,
    options: WriterOptions,
    encoder: Encoder,
    index: IndexWriter,
    bloom: Option<BloomWriter>,
    delete_bloom: Option<BloomWriter>,
    file_info: FileInfo,
    meta_blocks: BTreeMap<Vec<u8>, Vec<u8>>,
    totals: Totals,
    first_key: Option<Vec<u8>>,
    /// Key of the last cell appended, then of the first in the open block, then of the last in the block before.
    last_key: Vec<u8>,
    block_first_key: Vec<u8>,
    previous_block_last_key: Option<Vec<u8>>,
    /// Offsets of the first and the last data block.
    data_blocks: Option<(u64, u64)>,
    payload: Vec<u8>,
}

impl<W: Write> Writer<W> {
    pub fn new(out: W, options: WriterOptions) -> Result<Writer<W>, HFileError> {
        if !options.compression.supported() {
            let what = format!("compression {}", options.compression.name());
            return Err(HFileError::unsupported(&options.name, what));
        }
        if (options.bytes_per_checksum as usize) < HEADER_BYTES {
            let what = format!("{} bytes per checksum", options.bytes_per_checksum);
            return Err(HFileError::unsupported(&options.name, what));
        }
        let (name, checksum) = (options.name.clone(), options.checksum);
        let layout = Layout { tags: options.include_tags, mvcc: options.include_mvcc };
        let bloom =
            |flat| BloomWriter::new(flat, options.bloom_block_size, options.bloom_error_rate, options.bloom_max_fold);
        let row_col = options.bloom == BloomType::RowCol;
        Ok(Writer {
            blocks: BlockWriter::new(out, name, options.compression, checksum, options.bytes_per_checksum),
            encoder: Encoder::new(options.encoding, layout, options.compress_tags),
            index: IndexWriter::new(options.index_block_size, options.index_min_entries),
            bloom: (options.bloom != BloomType::None).then(|| bloom(row_col)),
            // A ROWCOL filter holds the empty column of a family delete itself.
            delete_bloom: (!row_col).then(|| bloom(false)),
            file_info: FileInfo::default(),
            meta_blocks: BTreeMap::new(),
            totals: Totals::new(),
            first_key: None,
            last_key: Vec::new(),
            block_first_key: Vec::new(),
            previous_block_last_key: None,
            data_blocks: None,
            payload: Vec::new(),
            options,
        })
    }

    /// Cells in the file's order; equal keys by descending sequence id.
    pub fn append(&mut self, cell: &CellRef<'_>) -> Result<(), HFileError> {
        let first = self.first_key.is_none();
        self.check(cell)?;
        let order = if first { Ordering::Less } else { self.options.order.keys(&self.last_key, cell.key) };
        if order == Ordering::Greater {
            return Err(self.refused(cell, "it sorts before the cell appended last"));
        }
        self.add_to_blooms(cell);
        // Equal keys stay in one block, so that an index key never points between them.
        if order == Ordering::Less && self.encoder.size() >= self.options.block_size {
            self.finish_block()?;
            self.write_inline_blocks(false)?;
        }
        if self.encoder.is_empty() {
            self.block_first_key.clear();
            self.block_first_key.extend_from_slice(cell.key);
        }
        self.encoder.append(cell).map_err(|e| self.refused(cell, &e))?;
        if first {
            self.first_key = Some(cell.key.to_vec());
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(cell.key);
        self.totals.add(cell);
        Ok(())
    }

    /// Keys that begin with `hfile.` are the format's own.
    pub fn append_file_info(&mut self, key: &[u8], value: &[u8]) {
        self.file_info.set(key, value);
    }

    /// A block of bytes under a name, read back by tools.
    pub fn append_meta_block(&mut self, name: &[u8], payload: &[u8]) {
        self.meta_blocks.insert(name.to_vec(), payload.to_vec());
    }

    /// Bytes written so far, the open block not included.
    pub fn position(&self) -> u64 {
        self.blocks.position
    }

    pub fn entries(&self) -> u64 {
        self.totals.entries
    }

    /// Writes what is left. The caller syncs.
    pub fn finish(mut self, meta: StoreMeta) -> Result<(W, Finished), HFileError> {
        self.finish_block()?;
        self.write_inline_blocks(true)?;
        let mut meta_index = Chunk::default();
        for (name, payload) in &self.meta_blocks {
            meta_index.add(name, self.blocks.write(BlockType::Meta, payload)?);
        }
        let counted = self.blocks.uncompressed;
        let blocks = &mut self.blocks;
        let (root, data_index_count, index_levels) =
            self.index.finish(|payload| blocks.write(BlockType::IntermediateIndex, payload))?;
        let load_on_open_offset = self.blocks.write(BlockType::RootIndex, &root)?.offset;
        // HBase leaves these index blocks out of the sum.
        self.blocks.uncompressed = counted;
        self.payload.clear();
        meta_index.put_root(&mut self.payload);
        self.blocks.write(BlockType::RootIndex, &self.payload)?;
        self.fill_file_info(&meta);
        let file_info_offset = self.blocks.write(BlockType::FileInfo, &self.file_info.to_payload())?.offset;
        for (kind, bloom) in
            [(BlockType::GeneralBloomMeta, &self.bloom), (BlockType::DeleteFamilyBloomMeta, &self.delete_bloom)]
        {
            if let Some(bloom) = bloom.as_ref().filter(|b| !b.is_empty()) {
                self.blocks.write(kind, &bloom.meta())?;
            }
        }
        let trailer = Trailer {
            file_info_offset,
            load_on_open_offset,
            uncompressed_index_size: self.index.uncompressed_size,
            total_uncompressed_bytes: self.blocks.uncompressed + TRAILER_BYTES as u64,
            data_index_count,
            meta_index_count: meta_index.len() as u32,
            entries: self.totals.entries,
            index_levels,
            first_data_block: self.data_blocks.map_or(-1, |(first, _)| first as i64),
            last_data_block: self.data_blocks.map_or(-1, |(_, last)| last as i64),
            order: self.options.order,
            compression: self.options.compression,
        };
        self.blocks.write_raw(&trailer.to_bytes())?;
        let empty = self.totals.entries == 0;
        let finished = Finished {
            file_size: self.blocks.position,
            entries: self.totals.entries,
            first_key: self.first_key,
            last_key: (!empty).then_some(self.last_key),
            time_range: self.totals.time_range(),
            max_cell_seq_id: self.totals.max_seq_id,
            delete_family_count: self.totals.delete_families,
            total_uncompressed_bytes: trailer.total_uncompressed_bytes,
        };
        Ok((self.blocks.out, finished))
    }

    fn check(&self, cell: &CellRef<'_>) -> Result<(), HFileError> {
        key::check(cell.key)
            .map_err(|e| HFileError::BadCell { file: self.options.name.clone(), reason: e.to_string() })?;
        if cell.row().len() > key::MAX_ROW_LENGTH || cell.family().len() > key::MAX_FAMILY_LENGTH {
            return Err(self.refused(cell, "its row or family is too long"));
        }
        if cell.key_value_len() > i32::MAX as usize || cell.tags.len() > u16::MAX as usize {
            return Err(self.refused(cell, "it is too large"));
        }
        if !cell.tags.is_empty() && !self.options.include_tags {
            return Err(self.refused(cell, "it has tags, the file has not"));
        }
        Ok(())
    }

    fn refused(&self, cell: &CellRef<'_>, reason: &str) -> HFileError {
        HFileError::BadCell { file: self.options.name.clone(), reason: format!("{reason}: {cell:?}") }
    }

    fn add_to_blooms(&mut self, cell: &CellRef<'_>) {
        let row = cell.row();
        if let Some(bloom) = &mut self.bloom {
            match self.options.bloom {
                BloomType::RowCol => bloom.add(&row_col_key(row, cell.qualifier())),
                BloomType::RowPrefix(len) => bloom.add(&row[..len.min(row.len())]),
                _ => bloom.add(row),
            }
        }
        if is_family_delete(cell.type_code())
            && let Some(bloom) = &mut self.delete_bloom
        {
            bloom.add(row);
        }
    }

    fn finish_block(&mut self) -> Result<(), HFileError> {
        if self.encoder.is_empty() {
            return Ok(());
        }
        self.encoder.finish_block(&mut self.payload);
        let kind = match self.options.encoding {
            Encoding::None => BlockType::Data,
            _ => BlockType::EncodedData,
        };
        let place = self.blocks.write(kind, &self.payload)?;
        self.data_blocks = Some((self.data_blocks.map_or(place.offset, |(first, _)| first), place.offset));
        match &mut self.previous_block_last_key {
            None => {
                self.index.add(&self.block_first_key, place);
                self.previous_block_last_key = Some(self.last_key.clone());
            }
            Some(left) => {
                self.index.add(&midpoint::between(self.options.order, left, &self.block_first_key), place);
                left.clone_from(&self.last_key);
            }
        }
        Ok(())
    }

    fn write_inline_blocks(&mut self, closing: bool) -> Result<(), HFileError> {
        self.payload.clear();
        while self.index.ready_leaf(closing, &mut self.payload) {
            let place = self.blocks.write(BlockType::LeafIndex, &self.payload)?;
            self.index.leaf_written(place, self.payload.len());
            self.payload.clear();
        }
        for bloom in [&mut self.bloom, &mut self.delete_bloom].into_iter().flatten() {
            while let Some(chunk) = bloom.ready_chunk(closing) {
                let place = self.blocks.write(BlockType::BloomChunk, chunk)?;
                bloom.written(place);
            }
        }
        Ok(())
    }

    fn fill_file_info(&mut self, meta: &StoreMeta) {
        let (file_info, totals) = (&mut self.file_info, &self.totals);
        if let Some(max_seq_id) = meta.max_seq_id {
            file_info.set_u64(info::MAX_SEQ_ID_KEY, max_seq_id);
            file_info.set_bool(info::MAJOR_COMPACTION_KEY, meta.major_compaction);
            file_info.set_compacted_inputs(&meta.compacted_inputs);
            // Only HBase's split of a compaction into live and historical cells sets it.
            file_info.set_bool(info::HISTORICAL, false);
        }
        if meta.exclude_from_minor_compaction {
            file_info.set_bool(info::EXCLUDE_FROM_MINOR_COMPACTION, true);
        }
        file_info.set(info::TIMERANGE, &[totals.min_ts.to_be_bytes(), totals.max_ts.to_be_bytes()].concat());
        file_info.set_u64(info::EARLIEST_PUT_TS, totals.earliest_put);
        file_info.set_u64(info::DELETE_FAMILY_COUNT, totals.delete_families);
        if let Some(bloom) = self.bloom.as_ref().filter(|b| !b.is_empty()) {
            file_info.set(info::BLOOM_FILTER_TYPE, self.options.bloom.name().as_bytes());
            file_info.set(info::LAST_BLOOM_KEY, bloom.last_key());
            if let BloomType::RowPrefix(len) = self.options.bloom {
                file_info.set_u32(info::BLOOM_FILTER_PARAM, len as u32);
            }
        }
        if self.options.encoding != Encoding::None {
            file_info.set(info::DATA_BLOCK_ENCODING, self.options.encoding.name().as_bytes());
        }
        if self.options.include_mvcc {
            file_info.set_u64(info::MAX_MEMSTORE_TS_KEY, totals.max_seq_id);
            file_info.set_u32(info::KEY_VALUE_VERSION, 1);
        }
        if self.options.include_tags {
            let dictionary = self.options.compress_tags && self.options.encoding != Encoding::None;
            file_info.set_u32(info::MAX_TAGS_LEN, totals.max_tags as u32);
            file_info.set_bool(info::TAGS_COMPRESSED, dictionary);
        }
        let average = |bytes: u64| bytes.checked_div(totals.entries).unwrap_or(0) as u32;
        file_info.set_u32(info::AVG_KEY_LEN, average(totals.key_bytes));
        file_info.set_u32(info::AVG_VALUE_LEN, average(totals.value_bytes));
        file_info.set_u64(info::CREATE_TIME_TS, self.options.create_time_ms);
        if totals.entries > 0 {
            file_info.set(info::LASTKEY, &self.last_key);
            file_info.set(info::KEY_OF_BIGGEST_CELL, &totals.biggest_key);
            file_info.set_u64(info::LEN_OF_BIGGEST_CELL, totals.biggest);
        }
    }
}

impl Totals {
    fn new() -> Totals {
        Totals {
            entries: 0,
            key_bytes: 0,
            value_bytes: 0,
            biggest: 0,
            biggest_key: Vec::new(),
            max_tags: 0,
            max_seq_id: 0,
            // What HBase's tracker holds before it has seen a timestamp.
            min_ts: i64::MAX,
            max_ts: -1,
            earliest_put: LATEST_TIMESTAMP,
            delete_families: 0,
        }
    }

    fn add(&mut self, cell: &CellRef<'_>) {
        self.entries += 1;
        self.key_bytes += cell.key.len() as u64;
        self.value_bytes += cell.value.len() as u64;
        // As HBase counts it: with the length that precedes a KeyValue on the wire.
        let size = 4 + (cell.key_value_len() + if cell.tags.is_empty() { 0 } else { 2 + cell.tags.len() }) as u64;
        if size > self.biggest {
            self.biggest = size;
            self.biggest_key.clear();
            self.biggest_key.extend_from_slice(cell.key);
        }
        self.max_tags = self.max_tags.max(cell.tags.len());
        self.max_seq_id = self.max_seq_id.max(cell.seq_id);
        let (ts, code) = (cell.timestamp() as i64, cell.type_code());
        self.min_ts = self.min_ts.min(ts);
        self.max_ts = self.max_ts.max(ts);
        if code == CellType::Put as u8 {
            self.earliest_put = self.earliest_put.min(cell.timestamp());
        }
        if code == CellType::DeleteColumn as u8 || code == CellType::DeleteFamily as u8 {
            self.min_ts = self.min_ts.min(0);
        }
        if is_family_delete(code) {
            self.delete_families += 1;
        }
    }

    fn time_range(&self) -> Option<(u64, u64)> {
        (self.min_ts <= self.max_ts).then_some((self.min_ts as u64, self.max_ts as u64))
    }
}

fn is_family_delete(code: u8) -> bool {
    code == CellType::DeleteFamily as u8 || code == CellType::DeleteFamilyVersion as u8
}
