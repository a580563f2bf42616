//! Opening: the trailer tells where the load-on-open section is; that is read at once and taken apart.

use super::Reader;
use crate::{
    BlockType, BloomType, Encoding, FileId, FileInfo, HFileError,
    block::Header,
    bloom::Bloom,
    cells::Layout,
    format::{HEADER_BYTES, MAX_BLOCK_BYTES, TRAILER_BYTES, info},
    index::{Keys, RootIndex},
    trailer::Trailer,
};
use martite_env::ReadAt;

impl Reader {
    /// Reads and checks the trailer and the load-on-open section.
    pub fn open(id: FileId, name: &str, src: &dyn ReadAt) -> Result<Reader, HFileError> {
        let file_size = src.len();
        let Some(data_end) = file_size.checked_sub(TRAILER_BYTES as u64) else {
            return Err(HFileError::corrupt(name, 0, format!("{file_size} bytes are too few for an HFile")));
        };
        let mut trailer = [0; TRAILER_BYTES];
        src.read_exact_at(&mut trailer, data_end).map_err(|e| HFileError::io(name, data_end, e))?;
        let trailer = Trailer::parse(name, &trailer, file_size)?;
        let start = trailer.load_on_open_offset;
        if data_end - start > MAX_BLOCK_BYTES as u64 {
            let reason = format!("a load-on-open section of {} bytes", data_end - start);
            return Err(HFileError::corrupt(name, start, reason));
        }
        let mut section = vec![0; (data_end - start) as usize];
        src.read_exact_at(&mut section, start).map_err(|e| HFileError::io(name, start, e))?;
        let mut reader = Reader {
            id,
            name: name.to_owned(),
            file_size,
            trailer,
            file_info: FileInfo::default(),
            index: RootIndex::default(),
            meta_index: RootIndex::default(),
            layout: Layout::default(),
            encoding: Encoding::None,
            tags_compressed: false,
            bloom_type: BloomType::None,
            bloom: None,
            delete_bloom: None,
            delete_family_count: None,
            time_range: None,
            last_bloom_key: None,
        };
        reader.load(start, &section)?;
        Ok(reader)
    }

    fn load(&mut self, start: u64, section: &[u8]) -> Result<(), HFileError> {
        let data_end = self.file_size - TRAILER_BYTES as u64;
        let mut blocks = Blocks { next: start, rest: section };
        let (at, payload) = blocks.next(self, BlockType::RootIndex)?;
        let counts = (self.trailer.data_index_count as usize, self.trailer.meta_index_count as usize);
        let index = RootIndex::parse(&payload, counts.0, Keys::Flat, data_end);
        self.index = index.map_err(|e| HFileError::corrupt(&self.name, at, e))?;
        let (at, payload) = blocks.next(self, BlockType::RootIndex)?;
        let meta_index = RootIndex::parse(&payload, counts.1, Keys::Raw, data_end);
        self.meta_index = meta_index.map_err(|e| HFileError::corrupt(&self.name, at, e))?;
        let (at, payload) = blocks.next(self, BlockType::FileInfo)?;
        if at != self.trailer.file_info_offset {
            let reason = format!("file info, which the trailer has at {}", self.trailer.file_info_offset);
            return Err(HFileError::corrupt(&self.name, at, reason));
        }
        self.file_info = FileInfo::parse(&payload).map_err(|e| HFileError::corrupt(&self.name, at, e))?;
        self.use_file_info(at)?;
        while let Some(kind) = blocks.peek(self)? {
            let (at, payload) = blocks.next(self, kind)?;
            let bloom = match kind {
                BlockType::GeneralBloomMeta => &mut self.bloom,
                BlockType::DeleteFamilyBloomMeta => &mut self.delete_bloom,
                other => {
                    let reason = format!("a {other:?} block in the load-on-open section");
                    return Err(HFileError::corrupt(&self.name, at, reason));
                }
            };
            *bloom = Some(Bloom::parse(&payload, data_end).map_err(|e| HFileError::corrupt(&self.name, at, e))?);
        }
        self.use_blooms();
        Ok(())
    }

    /// Takes from the file info what decoding depends on.
    fn use_file_info(&mut self, at: u64) -> Result<(), HFileError> {
        let file_info = &self.file_info;
        let text = |key| file_info.get(key).map(String::from_utf8_lossy);
        if let Some(encoding) = text(info::INDEX_BLOCK_ENCODING).filter(|e| e != "NONE") {
            return Err(HFileError::unsupported(&self.name, format!("index block encoding {encoding}")));
        }
        self.encoding = match text(info::DATA_BLOCK_ENCODING) {
            None => Encoding::None,
            Some(name) => Encoding::from_name(&name)
                .ok_or_else(|| HFileError::unsupported(&self.name, format!("data block encoding {name}")))?,
        };
        self.layout = Layout {
            tags: file_info.get(info::MAX_TAGS_LEN).is_some(),
            mvcc: file_info.u32(info::KEY_VALUE_VERSION) == Some(1),
        };
        self.tags_compressed =
            self.layout.tags && self.encoding != Encoding::None && file_info.bool(info::TAGS_COMPRESSED);
        self.delete_family_count = file_info.u64(info::DELETE_FAMILY_COUNT);
        self.time_range = file_info.time_range();
        self.last_bloom_key = file_info.get(info::LAST_BLOOM_KEY).map(Box::from);
        let last_key = file_info.get(info::LASTKEY);
        if last_key.is_some() == (self.trailer.entries == 0) {
            let reason = format!("{} cells, last key {last_key:?}", self.trailer.entries);
            return Err(HFileError::corrupt(&self.name, at, reason));
        }
        if let Some(key) = last_key {
            martite_cell::key::check(key).map_err(|e| HFileError::corrupt(&self.name, at, format!("last key: {e}")))?;
        }
        Ok(())
    }

    /// A filter of a kind or with facts that do not fit together is not used: a filter only saves work.
    fn use_blooms(&mut self) {
        let last_key = self.file_info.get(info::LAST_BLOOM_KEY);
        let bloom_type = match self.file_info.get(info::BLOOM_FILTER_TYPE) {
            Some(b"ROW") => BloomType::Row,
            Some(b"ROWCOL") => BloomType::RowCol,
            Some(b"ROWPREFIX_FIXED_LENGTH") => match self.file_info.u32(info::BLOOM_FILTER_PARAM) {
                Some(len @ 1..) => BloomType::RowPrefix(len as usize),
                _ => BloomType::None,
            },
            _ => BloomType::None,
        };
        let row_col = bloom_type == BloomType::RowCol;
        let usable = self.bloom.as_ref().is_some_and(|b| b.flat_keys() == row_col)
            && (!row_col || last_key.is_none_or(|k| martite_cell::key::check(k).is_ok()));
        if usable && bloom_type != BloomType::None {
            self.bloom_type = bloom_type;
        } else {
            self.bloom = None;
        }
        if self.delete_bloom.as_ref().is_some_and(Bloom::flat_keys) {
            self.delete_bloom = None;
        }
    }
}

/// The blocks of the load-on-open section, one after the other.
struct Blocks<'a> {
    next: u64,
    rest: &'a [u8],
}

impl Blocks<'_> {
    fn header(&self, reader: &Reader) -> Result<Header, HFileError> {
        let corrupt = |reason: String| HFileError::corrupt(&reader.name, self.next, reason);
        let header =
            self.rest.get(..HEADER_BYTES).ok_or_else(|| corrupt("the section ends inside a block".to_owned()))?;
        Header::parse(header).map_err(corrupt)
    }

    fn peek(&self, reader: &Reader) -> Result<Option<BlockType>, HFileError> {
        if self.rest.is_empty() { Ok(None) } else { self.header(reader).map(|h| Some(h.kind)) }
    }

    /// Offset and payload of the next block, which must be of `kind`.
    fn next(&mut self, reader: &Reader, kind: BlockType) -> Result<(u64, Vec<u8>), HFileError> {
        let (at, header) = (self.next, self.header(reader)?);
        let corrupt = |reason: String| HFileError::corrupt(&reader.name, at, reason);
        if header.kind != kind {
            return Err(corrupt(format!("a {:?} block instead of {kind:?}", header.kind)));
        }
        let size = header.on_disk_size();
        let (block, rest) =
            self.rest.split_at_checked(size).ok_or_else(|| corrupt(format!("a block of {size} bytes at the end")))?;
        let payload = reader.unpack(at, block)?;
        self.next += size as u64;
        self.rest = rest;
        Ok((at, payload))
    }
}
