//! HFile v3, HBase's sorted file: blocks, index, bloom filters, encodings, reader, scanner, writer.
//!
//! ```text
//! | data blocks, with leaf index and bloom chunk blocks between them | meta blocks | intermediate index |
//! | root index | meta index | file info | bloom meta |   <- read when the file is opened
//! | trailer, 4096 bytes |
//! ```
//! Nothing here opens files or asks the time. A [`Reader`] decodes blocks, a [`Scanner`] walks over decoded blocks and
//! names the block that it misses ([`Step::Need`]); who has it, and whether to wait for it, is the affair of a
//! [`BlockSource`].
#![forbid(unsafe_code)]

mod block;
mod bloom;
mod error;
mod file_info;
pub mod format;
mod reader;
mod scanner;
mod source;
mod writer;

pub use block::{Block, BlockType};
pub use bloom::BloomType;
pub use error::HFileError;
pub use file_info::FileInfo;
pub use martite_compress::Algorithm as Compression;
pub use reader::Reader;
pub use scanner::Scanner;
pub use source::{BlockKindHint, BlockRequest, BlockSource, FileSource, Step};
pub use writer::{Finished, StoreMeta, Writer, WriterOptions};

/// Identity of an open file in this process, given by whoever opens it.
pub type FileId = u64;

/// How the cells of a data block are packed; the numbers are persisted in encoded blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Encoding {
    #[default]
    None = 0,
    Prefix = 2,
    Diff = 3,
    FastDiff = 4,
    RowIndexV1 = 7,
}

/// How blocks are protected; the numbers are persisted in block headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ChecksumType {
    Null = 0,
    Crc32 = 1,
    #[default]
    Crc32c = 2,
}
