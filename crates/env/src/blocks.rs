//! [`BlockWriter`]: a file written in whole blocks past the page cache.
//!
//! A log is synced after each write and read after a crash only; a store file's blocks are kept by the block cache. The page
//! cache does nothing for them, but has a price: a page to be found and filled for each 4 KiB, what others need more pushed out,
//! and one more wait in each sync, which has to find the pages and send them. So the bytes go to the disk from here
//! (`O_DIRECT`), which wants whole blocks at aligned places of memory and file:
//!
//! ```text
//! file     whole blocks …                | last block: bytes, zeros |
//! buffer                                 | the same bytes           | what came since the last sync
//!                                        start                 written                        held
//! ```
//!
//! The last block is written again as it fills. What was synced in it is written with the same bytes, so a write that the
//! machine's end cuts off leaves them as they are. A file system that does not do this gets its bytes as they come.

use crate::fs::{DIRECT_BLOCK_BYTES, FileWriter, at};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const BLOCK: usize = DIRECT_BLOCK_BYTES as usize;
/// So many bytes are held at most; more in one write keep the disk busier.
const CAPACITY: usize = 1 << 20;

pub(crate) struct BlockWriter {
    file: File,
    path: PathBuf,
    /// The file takes whole blocks only.
    direct: bool,
    /// Its first byte is at an aligned place from `aligned` on; memory that was not used yet costs nothing.
    buffer: Box<[u8]>,
    aligned: usize,
    /// Where the buffer's first byte lies in the file: the start of a block.
    start: u64,
    held: usize,
    /// Of the bytes held, so many are in the file.
    written: usize,
    /// Zeros follow them there.
    padded: bool,
}

impl BlockWriter {
    /// Takes over a new, empty file.
    pub fn new(plain: File, path: &Path) -> BlockWriter {
        // Opened once more: a file system may make a file before it refuses to open it in this way.
        let direct = OpenOptions::new().write(true).custom_flags(libc::O_DIRECT).open(path);
        BlockWriter::over(direct.map_or((plain, false), |direct| (direct, true)), path)
    }

    fn over((file, direct): (File, bool), path: &Path) -> BlockWriter {
        let buffer = vec![0; CAPACITY + BLOCK].into_boxed_slice();
        let aligned = buffer.as_ptr().align_offset(BLOCK).min(BLOCK);
        let path = path.to_owned();
        BlockWriter { file, path, direct, buffer, aligned, start: 0, held: 0, written: 0, padded: false }
    }

    /// Brings everything held into the file.
    fn write_out(&mut self) -> io::Result<()> {
        let (from, to) = match self.direct {
            true => (self.written / BLOCK * BLOCK, self.held.next_multiple_of(BLOCK)),
            false => (self.written, self.held),
        };
        let bytes = &mut self.buffer[self.aligned..];
        bytes[self.held..to].fill(0);
        let written = match self.file.write_all_at(&bytes[from..to], self.start + from as u64) {
            // The file system has promised what it does not do, or not with blocks of this size.
            Err(e) if e.kind() == io::ErrorKind::InvalidInput && self.direct => {
                self.file = OpenOptions::new().write(true).open(&self.path)?;
                self.direct = false;
                self.file.write_all_at(&bytes[from..to], self.start + from as u64)
            }
            written => written,
        };
        written?;
        self.padded |= to > self.held;
        let whole = self.held / BLOCK * BLOCK;
        bytes.copy_within(whole..self.held, 0);
        self.start += whole as u64;
        self.held -= whole;
        self.written = self.held;
        Ok(())
    }
}

impl Write for BlockWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(CAPACITY - self.held);
        self.buffer[self.aligned + self.held..][..taken].copy_from_slice(&bytes[..taken]);
        self.held += taken;
        if self.held == CAPACITY {
            self.write_out().map_err(|e| at(&self.path, e))?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl FileWriter for BlockWriter {
    fn position(&self) -> u64 {
        self.start + self.held as u64
    }

    fn sync_data(&mut self) -> io::Result<()> {
        let written = if self.written < self.held { self.write_out() } else { Ok(()) };
        written.and_then(|()| self.file.sync_data()).map_err(|e| at(&self.path, e))
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.written < self.held {
            self.write_out().map_err(|e| at(&self.path, e))?;
        }
        self.trim()?;
        self.file.sync_data().map_err(|e| at(&self.path, e))
    }

    fn trim(&mut self) -> io::Result<()> {
        if self.padded {
            self.file.set_len(self.position()).map_err(|e| at(&self.path, e))?;
            self.padded = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Writes pieces of all sizes, with syncs and trims between them, and looks at the file after each.
    fn check(open: impl Fn(File, &Path) -> BlockWriter) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut writer = open(File::create_new(&path).unwrap(), &path);
        let mut all = Vec::new();
        let sizes = [1, 10, 4085, 4096, 0, 4095, 1, 100_000, CAPACITY, CAPACITY - 1, 3 * CAPACITY + 5, 8191, 7];
        for (n, size) in sizes.into_iter().cycle().take(50).enumerate() {
            let piece: Vec<u8> = (0..size).map(|at| (at * 31 + n) as u8 | 1).collect();
            writer.write_all(&piece).unwrap();
            all.extend(piece);
            assert_eq!(writer.position(), all.len() as u64);
            if n % 3 != 0 {
                writer.sync_data().unwrap();
                let found = fs::read(&path).unwrap();
                assert_eq!(found[..all.len()], all, "piece {n}");
                assert!(found.len() < all.len() + BLOCK && found[all.len()..].iter().all(|b| *b == 0), "piece {n}");
            }
            if n % 5 == 1 {
                writer.sync_data().unwrap();
                writer.trim().unwrap();
                assert_eq!(fs::read(&path).unwrap(), all, "piece {n}");
            }
        }
    }

    #[test]
    fn the_file_is_what_was_written_and_zeros_up_to_a_block() {
        check(BlockWriter::new);
    }

    #[test]
    fn without_direct_writes_there_are_no_zeros() {
        check(|file, path| BlockWriter::over((file, false), path));
    }

    #[test]
    fn a_file_that_refuses_blocks_is_written_as_it_comes() {
        // As if direct: memory that is not aligned is refused by those that are.
        check(|file, path| {
            let mut writer = BlockWriter::new(file, path);
            writer.aligned = (writer.aligned + 1) % BLOCK;
            writer
        });
    }

    #[test]
    fn a_finished_file_has_no_zeros() {
        for size in [0, 1, BLOCK, BLOCK + 1, CAPACITY + 5] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("file");
            let mut writer = BlockWriter::new(File::create_new(&path).unwrap(), &path);
            writer.write_all(&vec![7; size]).unwrap();
            writer.finish().unwrap();
            assert!(fs::read(&path).unwrap() == vec![7; size], "{size} bytes");
        }
    }

    #[test]
    fn errors_name_the_file() {
        let path = Path::new("/dev/full");
        let file = OpenOptions::new().write(true).open(path).unwrap();
        let mut writer = BlockWriter::over((file, false), path);
        writer.write_all(b"entry").unwrap();
        assert!(writer.sync_data().unwrap_err().to_string().starts_with("/dev/full: "));
    }
}
