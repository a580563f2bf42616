//! [`Block`]: one decoded block, shared by reference count.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockType {
    Data,
    EncodedData,
    LeafIndex,
    IntermediateIndex,
    RootIndex,
    BloomChunk,
    GeneralBloomMeta,
    DeleteFamilyBloomMeta,
    Meta,
    FileInfo,
    Trailer,
}

/// A block after checksum, decompression and decoding. Data blocks are in the layout of encoding NONE.
#[derive(Debug)]
pub struct Block {
    pub kind: BlockType,
    /// Where the block begins in its file.
    pub offset: u64,
    /// Bytes in the file, header and checksums included.
    pub on_disk_size: u32,
    payload: Vec<u8>,
}

impl Block {
    /// Bytes of memory that the block holds.
    pub fn heap_size(&self) -> usize {
        todo!()
    }
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }
}
