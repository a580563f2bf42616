//! Cells inside a data block, in the layout of encoding NONE.
//!
//! ```text
//! | u32 key length | u32 value length | key | value | [u16 tags length | tags] | [vlong sequence id] |
//! ```
//! The optional parts are there for every cell of a file or for none. When a block is decoded, every cell is checked
//! once, and some get a mark, so that a seek is a binary search over marks and a few steps.

use crate::{
    error::Parsed,
    input::Input,
    marks::{Among, Collector, MOST_AHEAD, Marks},
};
use martite_cell::{CellRef, FlatCell, Order, key};
use martite_env::prefetch::{LINE_BYTES, prefetch};
use std::cmp::Ordering;

/// Of a cell that is so long, only the key and the beginning of its value are asked for ahead, which is what most look at. Who looks
/// through all of it (SubstringComparator does) asks for the rest a piece at a time, and for what comes behind it.
const LONG_BYTES: u32 = 8 * LINE_BYTES as u32;

/// Which optional parts the cells of a file have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Layout {
    pub tags: bool,
    pub mvcc: bool,
}

/// Where the parts of one cell lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellAt {
    pub start: u32,
    key_end: u32,
    value_end: u32,
    tags_len: u16,
    /// Where the next cell starts.
    pub end: u32,
    seq_id: u64,
}

impl CellAt {
    /// Reads the lengths of the cell at `start`; `None` if it exceeds the payload.
    #[inline]
    pub(crate) fn parse(payload: &[u8], start: u32, layout: Layout) -> Option<CellAt> {
        CellAt::parse_inline(payload, start, layout)
    }

    /// The same, for loops that do little else.
    #[inline(always)]
    pub(crate) fn parse_inline(payload: &[u8], start: u32, layout: Layout) -> Option<CellAt> {
        let rest = payload.get(start as usize..)?;
        let lengths = rest.first_chunk::<8>()?;
        let key_len = u32::from_be_bytes([lengths[0], lengths[1], lengths[2], lengths[3]]) as usize;
        let value_len = u32::from_be_bytes([lengths[4], lengths[5], lengths[6], lengths[7]]) as usize;
        let value_end = 8 + key_len + value_len;
        let (mut end, mut tags_len, mut seq) = (value_end, 0, 0);
        if layout.tags {
            let len = rest.get(end..)?.first_chunk::<2>()?;
            tags_len = u16::from_be_bytes(*len);
            end += 2 + tags_len as usize;
        }
        if layout.mvcc {
            let (number, len) = seq_id(rest.get(end..)?)?;
            seq = number;
            end += len;
        }
        if end > rest.len() {
            return None;
        }
        Some(CellAt {
            start,
            key_end: start + 8 + key_len as u32,
            value_end: start + value_end as u32,
            tags_len,
            end: start + end as u32,
            seq_id: seq,
        })
    }

    pub(crate) fn tags_len(&self) -> u16 {
        self.tags_len
    }

    pub(crate) fn seq_id(&self) -> u64 {
        self.seq_id
    }

    /// See [`LONG_BYTES`].
    #[inline(always)]
    pub(crate) fn is_long(&self) -> bool {
        self.end - self.start >= LONG_BYTES
    }

    /// Lengths, key and value.
    #[inline(always)]
    pub(crate) fn key_value<'a>(&self, payload: &'a [u8]) -> &'a [u8] {
        &payload[self.start as usize..self.value_end as usize]
    }

    /// Asks for the memory of the cell behind this one, as if it were as long.
    #[inline]
    pub(crate) fn prefetch_next(&self, payload: &[u8]) {
        let (start, len) = (self.end as usize, (self.end - self.start) as usize);
        prefetch(payload.get(start..(start + len.min(MOST_AHEAD)).min(payload.len())).unwrap_or_default());
    }

    #[inline]
    pub(crate) fn key<'a>(&self, payload: &'a [u8]) -> &'a [u8] {
        &payload[self.start as usize + 8..self.key_end as usize]
    }

    /// The key without its timestamp and its type.
    #[inline]
    pub(crate) fn column<'a>(&self, payload: &'a [u8]) -> &'a [u8] {
        &payload[self.start as usize + 8..self.key_end as usize - key::TS_TYPE_SIZE]
    }

    #[inline]
    pub(crate) fn cell<'a>(&self, payload: &'a [u8]) -> CellRef<'a> {
        self.flat(payload).as_cell()
    }

    #[inline(always)]
    pub(crate) fn flat<'a>(&self, payload: &'a [u8]) -> FlatCell<'a> {
        let (key_at, value_end) = (self.start as usize + 8, self.value_end as usize);
        let tags = match self.tags_len as usize {
            0 => &[],
            len => &payload[value_end + 2..value_end + 2 + len],
        };
        FlatCell::new(&payload[key_at..value_end], (self.key_end - self.start) as usize - 8, tags, self.seq_id)
    }
}

/// The sequence id that `bytes` begin with, and its length.
#[inline(always)]
pub(crate) fn seq_id(bytes: &[u8]) -> Option<(u64, usize)> {
    match bytes {
        // Small numbers are their own encoding; cells of old files have a zero here.
        [small @ 0..0x80, ..] => Some((u64::from(*small), 1)),
        // A positive number of so many bytes, and enough bytes behind it to take eight at once.
        [first @ 0x88..=0x8f, number @ ..] if number.len() >= 8 => {
            let len = 0x90 - *first as usize;
            Some((u64::from_be_bytes(*number.first_chunk()?) >> (64 - 8 * len), 1 + len))
        }
        _ => {
            let mut input = Input::new(bytes);
            let number = input.vlong().ok()? as u64;
            Some((number, bytes.len() - input.len()))
        }
    }
}

/// Checks every cell of a block and marks some.
pub(crate) fn check(payload: &[u8], layout: Layout, order: Order) -> Parsed<Marks> {
    if payload.is_empty() {
        return Err("a data block without cells".to_owned());
    }
    let mut marks = Collector::default();
    let (mut at, mut row_prefix) = (0, &[][..]);
    while at < payload.len() {
        let cell = CellAt::parse(payload, at as u32, layout)
            .ok_or_else(|| format!("the cell at {at} of {} bytes exceeds its block", payload.len()))?;
        let key = cell.key(payload);
        key::check(key).map_err(|e| format!("the cell at {at} of the block: {e}"))?;
        let begins_row = at == 0 || !key::is_in_row(key, row_prefix);
        if begins_row {
            row_prefix = &key[..2 + key::row(key).len()];
        }
        marks.cell(at as u32, begins_row);
        at = cell.end as usize;
    }
    Ok(marks.finish(order, payload.len(), |start| key_at(payload, start)))
}

/// Key of the cell at a place known to hold one; without looking at its tail.
#[inline]
fn key_at(payload: &[u8], start: u32) -> &[u8] {
    let start = start as usize;
    let len = payload.get(start..).and_then(|p| p.first_chunk::<4>()).map_or(0, |l| u32::from_be_bytes(*l));
    &payload[start + 8..start + 8 + len as usize]
}

/// Cells of a checked block by key.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a> {
    pub payload: &'a [u8],
    pub marks: &'a Marks,
    pub layout: Layout,
    pub order: Order,
}

impl Cells<'_> {
    #[inline]
    pub(crate) fn at(&self, start: u32) -> Option<CellAt> {
        CellAt::parse(self.payload, start, self.layout)
    }

    /// Key of the cell at a place known to hold one.
    #[inline]
    pub(crate) fn key_at(&self, start: u32) -> &[u8] {
        key_at(self.payload, start)
    }

    pub(crate) fn first(&self) -> Option<CellAt> {
        self.at(0)
    }

    pub(crate) fn last(&self) -> Option<CellAt> {
        self.at(self.marks.last_cell())
    }

    /// The first cell at or after `from` whose key is not less than `key`. `None`: all are less.
    pub(crate) fn seek(&self, key: &[u8], from: u32) -> Option<CellAt> {
        let mut start = self.marks.search_from(self.order, key, from, |start| key_at(self.payload, start));
        loop {
            if start as usize >= self.payload.len() {
                return None;
            }
            let cell = self.at(start)?;
            if self.order.keys(cell.key(self.payload), key) != Ordering::Less {
                return Some(cell);
            }
            start = cell.end;
        }
    }

    /// The first cell of `row` or behind it, where `among` says. `None`: all are before it.
    pub(crate) fn seek_row(&self, row: &[u8], among: Among) -> Option<u32> {
        self.seek_among(among, |key| self.order.rows(key::row(key), row).is_lt())
    }

    /// As [`Self::seek`], where `among` says.
    pub(crate) fn seek_key(&self, key: &[u8], among: Among) -> Option<u32> {
        self.seek_among(among, |at| self.order.keys(at, key).is_lt())
    }

    fn seek_among(&self, among: Among, is_less: impl Fn(&[u8]) -> bool) -> Option<u32> {
        let is_less = |start| is_less(key_at(self.payload, start));
        let mut start = self.marks.search_among(among, is_less);
        while (start as usize) < self.payload.len() {
            if !is_less(start) {
                return Some(start);
            }
            start = self.at(start)?.end;
        }
        None
    }

    /// The last cell whose key is less than `key`. `None`: none is.
    pub(crate) fn seek_before(&self, key: &[u8]) -> Option<CellAt> {
        let marked = self.marks.before(self.order, key, |start| key_at(self.payload, start))?;
        let mut found = self.at(marked)?;
        while (found.end as usize) < self.payload.len() {
            let next = self.at(found.end)?;
            if self.order.keys(next.key(self.payload), key) != Ordering::Less {
                break;
            }
            found = next;
        }
        Some(found)
    }
}
