//! [`Block`]: one decoded block, shared by reference count; and its [`Header`].

use crate::{
    checksum::ChecksumType,
    error::Parsed,
    format::{HEADER_BYTES, MAX_BLOCK_BYTES},
    index::LevelAid,
    input::Input,
    marks::Marks,
};
use bytes::Bytes;
use martite_cell::Lend;
use std::sync::Arc;

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

impl BlockType {
    pub(crate) const ALL: [BlockType; 11] = [
        BlockType::Data,
        BlockType::EncodedData,
        BlockType::LeafIndex,
        BlockType::IntermediateIndex,
        BlockType::RootIndex,
        BlockType::BloomChunk,
        BlockType::GeneralBloomMeta,
        BlockType::DeleteFamilyBloomMeta,
        BlockType::Meta,
        BlockType::FileInfo,
        BlockType::Trailer,
    ];

    pub(crate) fn magic(self) -> &'static [u8; 8] {
        match self {
            BlockType::Data => b"DATABLK*",
            BlockType::EncodedData => b"DATABLKE",
            BlockType::LeafIndex => b"IDXLEAF2",
            BlockType::IntermediateIndex => b"IDXINTE2",
            BlockType::RootIndex => b"IDXROOT2",
            BlockType::BloomChunk => b"BLMFBLK2",
            BlockType::GeneralBloomMeta => b"BLMFMET2",
            BlockType::DeleteFamilyBloomMeta => b"DFBLMET2",
            BlockType::Meta => b"METABLKc",
            BlockType::FileInfo => b"FILEINF2",
            BlockType::Trailer => b"TRABLK\"$",
        }
    }

    fn from_magic(magic: &[u8]) -> Option<BlockType> {
        Self::ALL.into_iter().find(|t| t.magic() == magic)
    }
}

/// The first 33 bytes of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub kind: BlockType,
    /// Packed payload and checksums.
    pub on_disk_after_header: u32,
    pub plain_size: u32,
    pub previous: u64,
    pub checksum: ChecksumType,
    pub bytes_per_checksum: u32,
    /// Header and packed payload.
    pub data_with_header: u32,
}

impl Header {
    /// Parses and checks that the sizes agree with each other.
    pub(crate) fn parse(bytes: &[u8]) -> Parsed<Header> {
        let mut input = Input::new(bytes);
        let magic = input.take(8)?;
        let kind =
            BlockType::from_magic(magic).ok_or_else(|| format!("no block begins with \"{}\"", magic.escape_ascii()))?;
        let (on_disk_after_header, plain_size, previous) = (input.u32()?, input.u32()?, input.u64()?);
        let checksum = input.u8()?;
        let checksum = ChecksumType::from_code(checksum).ok_or_else(|| format!("checksum kind {checksum}"))?;
        let header = Header {
            kind,
            on_disk_after_header,
            plain_size,
            previous,
            checksum,
            bytes_per_checksum: input.u32()?,
            data_with_header: input.u32()?,
        };
        header.check().map(|()| header)
    }

    fn check(&self) -> Parsed<()> {
        let data = self.data_with_header as usize;
        if self.bytes_per_checksum == 0 || data < HEADER_BYTES {
            return Err(format!("{} bytes per checksum, {data} bytes with header", self.bytes_per_checksum));
        }
        let sums = ChecksumType::size(data, self.bytes_per_checksum);
        if data + sums != self.on_disk_size() {
            return Err(format!(
                "{data} bytes and {sums} of checksums do not make the {} bytes of the block",
                self.on_disk_size()
            ));
        }
        if self.plain_size as usize > MAX_BLOCK_BYTES {
            return Err(format!("payload of {} bytes", self.plain_size));
        }
        Ok(())
    }

    /// Bytes of the block in the file.
    pub(crate) fn on_disk_size(&self) -> usize {
        HEADER_BYTES + self.on_disk_after_header as usize
    }

    /// Writes the header over the first bytes of `block`.
    pub(crate) fn put(&self, block: &mut [u8]) {
        block[..8].copy_from_slice(self.kind.magic());
        block[8..12].copy_from_slice(&self.on_disk_after_header.to_be_bytes());
        block[12..16].copy_from_slice(&self.plain_size.to_be_bytes());
        block[16..24].copy_from_slice(&self.previous.to_be_bytes());
        block[24] = self.checksum as u8;
        block[25..29].copy_from_slice(&self.bytes_per_checksum.to_be_bytes());
        block[29..33].copy_from_slice(&self.data_with_header.to_be_bytes());
    }
}

/// A block after checksum, decompression and decoding. Data blocks are in the layout of encoding NONE.
#[derive(Debug)]
pub struct Block {
    /// What the block is; an encoded data block is `Data` here.
    pub kind: BlockType,
    /// Where the block begins in its file.
    pub offset: u64,
    /// Bytes in the file, header and checksums included.
    pub on_disk_size: u32,
    /// Where the payload begins in `bytes`: what was before it in the file needs not be moved out of the way.
    start: u32,
    bytes: Vec<u8>,
    /// Data blocks: offsets of some cells, ascending, the first cell's among them; what a seek searches.
    marks: Marks,
    /// Index blocks below the root have one.
    level_aid: Option<Box<LevelAid>>,
}

impl Block {
    pub(crate) fn new(header: &Header, kind: BlockType, offset: u64, bytes: Vec<u8>, start: usize) -> Block {
        Block {
            kind,
            offset,
            on_disk_size: header.on_disk_size() as u32,
            start: start as u32,
            bytes,
            marks: Marks::default(),
            level_aid: None,
        }
    }
    /// A data block whose decoded payload is `bytes[start..]`; without marks yet.
    pub(crate) fn of_payload(offset: u64, on_disk_size: u32, bytes: Vec<u8>, start: u32) -> Block {
        Block { kind: BlockType::Data, offset, on_disk_size, start, bytes, marks: Marks::default(), level_aid: None }
    }
    pub(crate) fn with_marks(self, marks: Marks) -> Block {
        Block { marks, ..self }
    }
    pub(crate) fn with_level_aid(self, aid: LevelAid) -> Block {
        Block { level_aid: Some(Box::new(aid)), ..self }
    }
    /// Bytes of memory that the block holds.
    pub fn heap_size(&self) -> usize {
        let aid = self.level_aid.as_ref().map_or(0, |aid| size_of::<LevelAid>() + aid.heap_size());
        size_of::<Block>() + self.bytes.capacity() + self.marks.heap_size() + aid
    }
    #[inline]
    pub fn payload(&self) -> &[u8] {
        &self.bytes[self.start as usize..]
    }
    pub(crate) fn marks(&self) -> &Marks {
        &self.marks
    }
    pub(crate) fn level_aid(&self) -> Option<&LevelAid> {
        self.level_aid.as_deref()
    }
}

/// Its payload, for as long as anyone wants it.
struct Kept(Arc<Block>);

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        self.0.payload()
    }
}

impl Lend for Block {
    fn bytes(&self) -> &[u8] {
        self.payload()
    }
    fn share(self: &Arc<Block>) -> Bytes {
        Bytes::from_owner(Kept(self.clone()))
    }
}
