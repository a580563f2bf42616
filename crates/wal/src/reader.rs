//! [`WalReader`]: the entries of one file, ours or HBase's.
//!
//! A file whose writer did not close it may end in the middle of an entry. That end was never acknowledged, so it is
//! reported and left out. Anything else that cannot be read is damage:
//!
//! | found | the file is | then |
//! |---|---|---|
//! | less than a block of zeros, at the end or behind the trailer | ours | whole: that is how it grows |
//! | entry cut off by the end, or zeros up to the end | not closed | torn tail |
//! | bad entry, no later entry vouches for the bytes before it | ours, not closed | torn tail |
//! | bad entry | anything else | corrupt |
//!
//! Source: HBase 2.6 `AbstractProtobufWALReader`; which entries vouch is told in [`crate::format`].

use crate::entry::Entry;
use crate::error::WalError;
use crate::format::{ChecksumHeader, MAGIC, TRAILER, TRAILER_MAGIC, file_header, varint};
use crate::parse::{Bad, Compression, Parsed, parse_entry, synced_entry_after};
use martite_env::{DIRECT_BLOCK_BYTES, FileSystem, ReadAt};
use martite_proto as pb;
use prost::Message;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The end of a file that was being written when the machine stopped: never acknowledged, and not readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TornTail {
    /// Where the last whole entry ends.
    pub offset: u64,
    pub lost_bytes: u64,
}

/// Headers are shorter, even with a wrapped encryption key.
const HEADER_LIMIT: usize = 64 << 10;
/// Bytes read at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// Reads one file from front to back.
pub struct WalReader {
    file: Arc<dyn ReadAt>,
    path: PathBuf,
    header: pb::WalHeader,
    salt: Option<u32>,
    compression: Option<Compression>,
    /// Where the entries end: the trailer, or the end of the file.
    end: u64,
    closed: bool,
    /// Offset of the next entry.
    position: u64,
    /// Bytes of the file from `buf_at`.
    buf: Vec<u8>,
    buf_at: u64,
    torn: Option<TornTail>,
}

impl WalReader {
    /// Reads the header. A file that ends within it has no entries and is torn.
    pub fn open(fs: &dyn FileSystem, path: &Path) -> Result<WalReader, WalError> {
        let file = fs.open(path).map_err(|e| WalError::io("open log", e))?;
        let end = file.len();
        let mut reader = WalReader {
            file,
            path: path.to_owned(),
            header: pb::WalHeader::default(),
            salt: None,
            compression: None,
            end,
            closed: false,
            position: 0,
            buf: Vec::new(),
            buf_at: 0,
            torn: None,
        };
        reader.read_header()?;
        if reader.torn.is_none() {
            reader.read_trailer()?;
        }
        Ok(reader)
    }

    /// The next entry; `None` at the end, where [`WalReader::torn_tail`] tells how the file ended.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Entry<'static>>, WalError> {
        if self.position >= self.end || self.torn.is_some() {
            return Ok(None);
        }
        match self.parse()? {
            Ok(parsed) => {
                self.position += parsed.len as u64;
                Ok(Some(parsed.entry))
            }
            Err(bad) => self.judge(bad).map(|()| None),
        }
    }

    pub fn torn_tail(&self) -> Option<TornTail> {
        self.torn
    }

    /// Whether the file ends with a trailer: its writer closed it.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Offset of the next entry.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whether Martite wrote the file: every entry has a checksum.
    pub fn has_checksums(&self) -> bool {
        self.salt.is_some()
    }

    /// The header, as it stands in the file.
    pub fn header(&self) -> &pb::WalHeader {
        &self.header
    }

    fn read_header(&mut self) -> Result<(), WalError> {
        let have = self.fill(HEADER_LIMIT)?;
        if self.header_is_torn()? {
            self.tear();
            return Ok(());
        }
        let window = self.window();
        if !window.starts_with(MAGIC) {
            return Err(self.corrupt("not a log: wrong magic"));
        }
        let end = varint(&window[MAGIC.len()..]).and_then(|(len, width)| {
            let at = MAGIC.len() + width;
            let end = at + usize::try_from(len).ok()?;
            (end <= have).then_some((at, end))
        });
        let Some((at, end)) = end else { return Err(self.corrupt("the header is longer than the file")) };
        let bytes = &window[at..end];
        let header = pb::WalHeader::decode(bytes).map_err(|e| self.corrupt(format!("header: {e}")))?;
        self.salt = ChecksumHeader::checked_salt(bytes).map_err(|what| self.corrupt(what))?;
        self.position = end as u64;
        self.interpret(&header)?;
        self.header = header;
        Ok(())
    }

    /// Whether the writer stopped before the header was durable: a part of it, or zeros, and nothing else. (HBase writes
    /// its header in one piece: there it is all or nothing.)
    fn header_is_torn(&mut self) -> Result<bool, WalError> {
        let ours = file_header(0);
        let window = self.window();
        let alike = window.iter().zip(&ours[..ours.len() - 12]).take_while(|(a, b)| a == b).count();
        let cut = window.len() < ours.len() && (alike == window.len() || alike == ours.len() - 12);
        Ok(cut || window.iter().skip(alike).all(|b| *b == 0) && self.rest_is_zeros_from(alike)?)
    }

    fn interpret(&mut self, header: &pb::WalHeader) -> Result<(), WalError> {
        let unsupported = |what: String| Err(WalError::Unsupported { file: self.path.clone(), what });
        if header.encryption_key.is_some() {
            return unsupported("encrypted logs are not read".into());
        }
        if !header.has_compression() {
            return Ok(());
        }
        if header.has_value_compression() {
            return unsupported("logs with compressed values are not read".into());
        }
        let recovered_edits = self.path.parent().is_some_and(|dir| dir.ends_with("recovered.edits"));
        self.compression = Some(Compression::new(recovered_edits, header.has_tag_compression()));
        // The compressed form has no place for checksums.
        self.salt = None;
        Ok(())
    }

    fn read_trailer(&mut self) -> Result<(), WalError> {
        let Some(at) = self.end.checked_sub(TRAILER.len() as u64).filter(|at| *at >= self.position) else {
            return Ok(());
        };
        let mut tail = [0; TRAILER.len()];
        self.file.read_exact_at(&mut tail, at).map_err(|e| WalError::io("read log", e))?;
        let [a, b, c, d, magic @ ..] = tail;
        let trailer_len = u64::from(u32::from_be_bytes([a, b, c, d]));
        if magic == *TRAILER_MAGIC && trailer_len <= at - self.position {
            self.closed = true;
            self.end = at - trailer_len;
        }
        Ok(())
    }

    /// Makes the buffer hold `len` bytes from `position`, or what there is of them; returns how many it holds.
    fn fill(&mut self, len: usize) -> Result<usize, WalError> {
        let rest = self.end - self.position;
        let wanted = (len as u64).min(rest) as usize;
        let skip = ((self.position - self.buf_at) as usize).min(self.buf.len());
        let held = self.buf.len() - skip;
        if held < wanted {
            self.buf.drain(..skip);
            self.buf_at = self.position;
            // Grow by doubling: an entry is parsed again after each time.
            let target = (wanted.max(CHUNK_BYTES).max(held * 2) as u64).min(rest) as usize;
            self.buf.resize(target, 0);
            let offset = self.position + held as u64;
            self.file.read_exact_at(&mut self.buf[held..], offset).map_err(|e| WalError::io("read log", e))?;
        }
        Ok(self.window().len())
    }

    /// What is in memory from `position` on.
    fn window(&self) -> &[u8] {
        let bytes = self.buf.get((self.position - self.buf_at) as usize..).unwrap_or(&[]);
        // The trailer may have been read along with the first chunk.
        &bytes[..bytes.len().min((self.end - self.position) as usize)]
    }

    fn parse(&mut self) -> Result<Result<Parsed, Bad>, WalError> {
        if self.compression.is_some() {
            // A second attempt would find changed dictionaries: have everything at once.
            self.fill((self.end - self.position) as usize)?;
            let mut compression = self.compression.take();
            let parsed = compression.as_mut().map(|c| c.parse_entry(self.window()));
            self.compression = compression;
            return parsed.ok_or_else(|| self.corrupt("no dictionaries"));
        }
        let mut wanted = 1;
        loop {
            let have = self.fill(wanted)?;
            match parse_entry(self.window(), self.salt) {
                Err(Bad::Short(needed)) if needed as u64 <= self.end - self.position && needed > have => {
                    wanted = needed
                }
                parsed => return Ok(parsed),
            }
        }
    }

    /// Decides whether an entry that cannot be read is a torn tail or damage.
    fn judge(&mut self, bad: Bad) -> Result<(), WalError> {
        let what = match &bad {
            Bad::Short(_) => "the entry is longer than the file".to_string(),
            Bad::Damaged(what) => what.clone(),
        };
        if self.closed {
            return Err(self.corrupt(what));
        }
        self.fill((self.end - self.position) as usize)?;
        let rest = self.window();
        if self.is_whole_before(rest) {
            self.end = self.position;
            return Ok(());
        }
        match self.salt {
            Some(salt) => {
                if let Some(at) = synced_entry_after(rest, salt) {
                    let vouches = self.position + at as u64;
                    return Err(
                        self.corrupt(format!("{what}; the entry at {vouches} was written after a sync of this"))
                    );
                }
            }
            None if matches!(bad, Bad::Short(_)) || rest.iter().all(|b| *b == 0) => {}
            None => return Err(self.corrupt(what)),
        }
        self.tear();
        Ok(())
    }

    /// Whether no entry can have been in these last bytes of a file that was not closed: a part of the trailer, or what fills up
    /// a block.
    fn is_whole_before(&self, rest: &[u8]) -> bool {
        let filler = if self.salt.is_some() { DIRECT_BLOCK_BYTES as usize } else { 0 };
        let used = rest.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
        TRAILER.starts_with(&rest[..used]) && rest.len() < TRAILER.len() + filler
    }

    fn tear(&mut self) {
        self.torn = Some(TornTail { offset: self.position, lost_bytes: self.end - self.position });
    }

    fn rest_is_zeros_from(&mut self, at: usize) -> Result<bool, WalError> {
        self.fill((self.end - self.position) as usize)?;
        Ok(self.window().iter().skip(at).all(|b| *b == 0))
    }

    fn corrupt(&self, what: impl Into<String>) -> WalError {
        WalError::corrupt(&self.path, self.position, what)
    }
}

impl From<io::Error> for WalError {
    fn from(e: io::Error) -> WalError {
        WalError::io("log", e)
    }
}
