//! Decoding blocks: checksum, decompression, encoding, and a check of every length inside.

use super::Reader;
use crate::{
    Block, BlockType, Compression, HFileError,
    block::Header,
    cells, encoding,
    error::Parsed,
    format::{HEADER_BYTES, TRAILER_BYTES},
    index::Level,
};

impl Reader {
    /// Decodes the block at `offset` from its bytes in the file: checksum, decompression, encoding.
    pub fn decode_block(&self, offset: u64, on_disk: &[u8]) -> Result<Block, HFileError> {
        let header = self.verify(offset, on_disk)?;
        let data = &on_disk[HEADER_BYTES..header.data_with_header as usize];
        let payload = self.plain(&header, data).map_err(|e| HFileError::corrupt(&self.name, offset, e))?;
        self.build(offset, header, payload, 0)
    }

    /// As `decode_block`; uncompressed bytes become the block's without a copy.
    pub fn decode_block_vec(&self, offset: u64, mut on_disk: Vec<u8>) -> Result<Block, HFileError> {
        if self.compression() != Compression::None {
            return self.decode_block(offset, &on_disk);
        }
        let header = self.verify(offset, &on_disk)?;
        let data = header.data_with_header as usize;
        if data - HEADER_BYTES != header.plain_size as usize {
            return Err(HFileError::corrupt(&self.name, offset, wrong_size(&header, data - HEADER_BYTES)));
        }
        on_disk.truncate(data);
        self.build(offset, header, on_disk, HEADER_BYTES)
    }

    /// A data block again from the payload of a decoded one, which is `bytes[start..]`: checked as after decoding. That
    /// the payload is this block's, the caller knows.
    pub fn restore_data_block(
        &self,
        offset: u64,
        on_disk_size: u32,
        bytes: Vec<u8>,
        start: usize,
    ) -> Result<Block, HFileError> {
        let corrupt = |reason: String| HFileError::corrupt(&self.name, offset, reason);
        let start = u32::try_from(start).ok().filter(|start| *start as usize <= bytes.len());
        let start = start.ok_or_else(|| corrupt("a payload that begins after its end".to_owned()))?;
        let block = Block::of_payload(offset, on_disk_size, bytes, start);
        let marks = cells::check(block.payload(), self.layout, self.order()).map_err(corrupt)?;
        Ok(block.with_marks(marks))
    }

    /// The plain payload of a block that is read when the file is opened.
    pub(super) fn unpack(&self, offset: u64, on_disk: &[u8]) -> Result<Vec<u8>, HFileError> {
        let header = self.verify(offset, on_disk)?;
        let data = &on_disk[HEADER_BYTES..header.data_with_header as usize];
        self.plain(&header, data).map_err(|e| HFileError::corrupt(&self.name, offset, e))
    }

    /// Checks sizes and checksums.
    fn verify(&self, offset: u64, on_disk: &[u8]) -> Result<Header, HFileError> {
        let corrupt = |reason: String| HFileError::corrupt(&self.name, offset, reason);
        let header = Header::parse(on_disk).map_err(corrupt)?;
        if header.on_disk_size() != on_disk.len() {
            return Err(corrupt(format!("the block has {} bytes, its place {}", header.on_disk_size(), on_disk.len())));
        }
        let (data, sums) = on_disk.split_at(header.data_with_header as usize);
        header.checksum.verify(header.bytes_per_checksum, data, sums).map_err(corrupt)?;
        Ok(header)
    }

    fn plain(&self, header: &Header, data: &[u8]) -> Parsed<Vec<u8>> {
        let mut plain = Vec::new();
        if self.compression() == Compression::None && data.len() != header.plain_size as usize {
            return Err(wrong_size(header, data.len()));
        }
        self.compression().decompress(data, header.plain_size as usize, &mut plain).map_err(|e| e.to_string())?;
        Ok(plain)
    }

    /// Undoes the encoding and checks what is inside; `bytes[start..]` is the plain payload.
    fn build(&self, offset: u64, header: Header, mut bytes: Vec<u8>, mut start: usize) -> Result<Block, HFileError> {
        let corrupt = |reason: String| HFileError::corrupt(&self.name, offset, reason);
        let mut kind = header.kind;
        if kind == BlockType::EncodedData {
            (bytes, start) =
                encoding::decode(self.encoding, bytes, start, self.layout, self.tags_compressed).map_err(corrupt)?;
            kind = BlockType::Data;
        }
        let block = Block::new(&header, kind, offset, bytes, start);
        let data_end = self.file_size - TRAILER_BYTES as u64;
        match kind {
            BlockType::Data => {
                let marks = cells::check(block.payload(), self.layout, self.order()).map_err(corrupt)?;
                return Ok(block.with_marks(marks));
            }
            BlockType::LeafIndex | BlockType::IntermediateIndex => {
                let aid = Level::check(block.payload(), data_end).map_err(corrupt)?;
                return Ok(block.with_level_aid(aid));
            }
            BlockType::BloomChunk if block.payload().is_empty() => {
                return Err(corrupt("an empty bloom chunk".to_owned()));
            }
            _ => {}
        }
        Ok(block)
    }
}

fn wrong_size(header: &Header, found: usize) -> String {
    format!("payload of {found} bytes, the header says {}", header.plain_size)
}
