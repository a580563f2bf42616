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
#![deny(unsafe_code)]

mod block;
mod block_writer;
mod bloom;
mod cells;
mod checksum;
mod encoding;
mod error;
mod file_info;
pub mod format;
mod index;
mod index_path;
mod index_writer;
mod input;
mod judged;
mod marks;
mod midpoint;
mod passed;
mod plain;
mod reader;
mod row;
mod rows_before;
mod scanner;
mod shown;
mod source;
mod taken_rows;
mod trailer;
mod writer;

pub use block::{Block, BlockType};
pub use bloom::BloomType;
pub use checksum::ChecksumType;
pub use encoding::Encoding;
pub use error::HFileError;
pub use file_info::FileInfo;
pub use judged::{JudgeRules, RowJudge, Verdict};
pub use martite_compress::Algorithm as Compression;
pub use passed::{NEAR_CELLS, Passed, RefuseRows};
pub use plain::{Fate, PlainEnd, PlainJudge, PlainRules, PlainTaken};
pub use reader::Reader;
pub use row::{Leaves, RowCell, RowPlace, RowTaken};
pub use scanner::Scanner;
pub use shown::{ShowCells, Shown, ShownPlain, Then};
pub use source::{BlockKindHint, BlockRequest, BlockSource, FileSource, Step};
pub use taken_rows::TakeRows;
pub use writer::{Finished, StoreMeta, Writer, WriterOptions};

/// Identity of an open file in this process, given by whoever opens it.
pub type FileId = u64;
