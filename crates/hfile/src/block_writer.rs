//! [`BlockWriter`]: header, compression and checksums for the blocks of a new file.

use crate::{
    BlockType, ChecksumType, Compression, HFileError,
    block::Header,
    format::{HEADER_BYTES, MAX_BLOCK_BYTES},
    index::Place,
};
use std::io::Write;

pub(crate) struct BlockWriter<W> {
    pub out: W,
    pub name: String,
    pub position: u64,
    /// Sizes of all blocks before compression, headers included.
    pub uncompressed: u64,
    compression: Compression,
    checksum: ChecksumType,
    bytes_per_checksum: u32,
    /// Offset of the last block of each kind.
    previous: [u64; BlockType::ALL.len()],
    bytes: Vec<u8>,
}

impl<W: Write> BlockWriter<W> {
    pub(crate) fn new(
        out: W,
        name: String,
        compression: Compression,
        checksum: ChecksumType,
        bytes_per_checksum: u32,
    ) -> BlockWriter<W> {
        BlockWriter {
            out,
            name,
            position: 0,
            uncompressed: 0,
            compression,
            checksum,
            bytes_per_checksum,
            previous: [u64::MAX; BlockType::ALL.len()],
            bytes: Vec::new(),
        }
    }

    pub(crate) fn write(&mut self, kind: BlockType, payload: &[u8]) -> Result<Place, HFileError> {
        if payload.len() > MAX_BLOCK_BYTES {
            return Err(HFileError::unsupported(&self.name, format!("a block of {} bytes", payload.len())));
        }
        self.bytes.clear();
        self.bytes.resize(HEADER_BYTES, 0);
        self.compression
            .compress(payload, &mut self.bytes)
            .map_err(|e| HFileError::unsupported(&self.name, e.to_string()))?;
        let data_with_header = self.bytes.len();
        let sums = ChecksumType::size(data_with_header, self.bytes_per_checksum);
        let previous = &mut self.previous[kind as usize];
        let header = Header {
            kind,
            on_disk_after_header: (data_with_header - HEADER_BYTES + sums) as u32,
            plain_size: payload.len() as u32,
            previous: std::mem::replace(previous, self.position),
            checksum: self.checksum,
            bytes_per_checksum: self.bytes_per_checksum,
            data_with_header: data_with_header as u32,
        };
        header.put(&mut self.bytes);
        self.checksum.append(self.bytes_per_checksum, &mut self.bytes);
        let place = Place { offset: self.position, size: self.bytes.len() as u32 };
        self.uncompressed += (HEADER_BYTES + payload.len()) as u64;
        let bytes = std::mem::take(&mut self.bytes);
        self.write_raw(&bytes)?;
        self.bytes = bytes;
        Ok(place)
    }

    pub(crate) fn write_raw(&mut self, bytes: &[u8]) -> Result<(), HFileError> {
        self.out.write_all(bytes).map_err(|e| HFileError::io(&self.name, self.position, e))?;
        self.position += bytes.len() as u64;
        Ok(())
    }
}
