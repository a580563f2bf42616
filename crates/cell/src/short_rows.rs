//! [`ShortRows`]: rows side by side, of which only that is kept that is behind what they all begin with.
//!
//! ```text
//! block   | row-000171 … | row-000172 … | row-000173 … |      all rows begin with "row-0001"
//! words     71..2          72..2          73..2               what is behind that, zeros, and how much it is
//! ```
//! Whoever passes over rows by their keys reads these, and not the cells, each of which is a line or two of memory of its
//! own that nobody has touched lately.

/// A row takes as many words of four bytes or less.
pub const MOST_WORDS: usize = 4;
const MOST_BYTES: usize = 4 * MOST_WORDS;
/// So much at most is kept apart of what all begin with.
pub const MOST_PREFIX: usize = 26;

/// Rows one behind the other.
#[derive(Debug, Clone, Copy)]
pub struct ShortRows<'a> {
    /// Of each row what is behind the prefix, and behind all of them as many words as a row may take.
    words: &'a [u32],
    /// Words of a row.
    row_words: usize,
    prefix: &'a [u8],
    len: usize,
}

/// A row without the prefix, as a number: its first byte is the lowest, how many bytes it has the highest of its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortRow(u128);

/// How many words each row takes, if none takes too many: `lens` are those behind the prefix.
pub fn row_words(lens: impl Iterator<Item = usize>) -> Option<usize> {
    let words = (lens.max()? + 1).div_ceil(4);
    (words <= MOST_WORDS).then_some(words)
}

/// The words of a row, of which there is this much behind the prefix.
pub fn pack(behind_prefix: &[u8], row_words: usize) -> impl Iterator<Item = u32> {
    let mut bytes = [0; MOST_BYTES];
    bytes[..behind_prefix.len()].copy_from_slice(behind_prefix);
    bytes[4 * row_words - 1] = behind_prefix.len() as u8;
    let words: [u32; MOST_WORDS] =
        std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|j| bytes[4 * i + j])));
    words.into_iter().take(row_words)
}

impl<'a> ShortRows<'a> {
    pub const NONE: ShortRows<'static> = ShortRows { words: &[], row_words: 1, prefix: &[], len: 0 };

    /// `words`: `len` rows of [`pack`], and [`MOST_WORDS`] words behind them. `prefix`: [`MOST_PREFIX`] bytes at most.
    #[inline]
    pub fn new(words: &'a [u32], row_words: usize, prefix: &'a [u8], len: usize) -> ShortRows<'a> {
        ShortRows { words, row_words, prefix, len }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Those behind the first `count`.
    #[inline]
    pub fn skip(self, count: usize) -> ShortRows<'a> {
        let count = count.min(self.len);
        let words = self.words.get(count * self.row_words..).unwrap_or_default();
        ShortRows { words, len: self.len - count, ..self }
    }

    /// The first `most` of them.
    #[inline]
    pub fn take(self, most: usize) -> ShortRows<'a> {
        ShortRows { len: self.len.min(most), ..self }
    }

    #[inline(always)]
    pub fn row(&self, at: usize) -> ShortRow {
        ShortRow(self.raw(at) & u128::MAX >> (32 * (MOST_WORDS - self.row_words)))
    }

    /// Where rows are put together.
    #[inline]
    pub fn whole(&self) -> WholeRow {
        let mut bytes = [0; MOST_PREFIX + MOST_BYTES];
        bytes[..self.prefix.len()].copy_from_slice(self.prefix);
        WholeRow { bytes, prefix_len: self.prefix.len(), row_words: self.row_words }
    }

    /// How many rows come before the first that has the part, or, if `wanted` is false, that has it not.
    #[inline]
    pub fn count_until(&self, part: RowPart<'_>, wanted: bool) -> usize {
        let Some(part) = part.behind(self.prefix, self.row_words) else {
            return if wanted { self.len } else { 0 };
        };
        match self.row_words {
            1 => self.count_by_words::<1>(&part, wanted),
            2 => self.count_by_words::<2>(&part, wanted),
            3 => self.count_by_words::<3>(&part, wanted),
            _ => self.count_by_words::<MOST_WORDS>(&part, wanted),
        }
    }

    #[inline(always)]
    fn count_by_words<const WORDS: usize>(&self, part: &PartBehind, wanted: bool) -> usize {
        let rows = self.words.as_chunks::<WORDS>().0;
        rows.iter().take(self.len).take_while(|row| part.is_in(row) != wanted).count()
    }

    /// The row's words and some behind them.
    #[inline(always)]
    fn raw(&self, at: usize) -> u128 {
        let words = self.words.get(at * self.row_words..).and_then(|words| words.first_chunk::<MOST_WORDS>());
        words.map_or(0, |words| words.iter().rev().fold(0, |row, word| row << 32 | u128::from(*word)))
    }
}

/// What a row may be, or have.
#[derive(Debug, Clone, Copy)]
pub enum RowPart<'a> {
    Whole(&'a [u8]),
    /// These bytes, at this place. No bytes are at any place.
    At(usize, &'a [u8]),
}

/// The same, to be looked for behind a prefix.
struct PartBehind {
    masks: [u32; MOST_WORDS],
    words: [u32; MOST_WORDS],
    /// Bytes that a row has behind the prefix at least. If it has fewer there are zeros where the part would be.
    least: u32,
}

impl RowPart<'_> {
    /// None: no row has it.
    #[inline]
    fn behind(self, prefix: &[u8], row_words: usize) -> Option<PartBehind> {
        let room = 4 * row_words - 1;
        let (from, bytes) = self.split_at(prefix)?;
        let to = from.checked_add(bytes.len()).filter(|to| *to <= room)?;
        let (mut masks, mut words) = ([0; MOST_WORDS], [0; MOST_WORDS]);
        let mut set = |at: usize, byte: u8| {
            masks[at / 4] |= 0xff << (8 * (at % 4));
            words[at / 4] |= u32::from(byte) << (8 * (at % 4));
        };
        bytes.iter().enumerate().for_each(|(at, byte)| set(from + at, *byte));
        if let RowPart::Whole(_) = self {
            set(room, to as u8);
        }
        Some(PartBehind { masks, words, least: to as u32 })
    }

    /// What of it is behind the prefix, and where there; None: no row with the prefix has it.
    #[inline]
    fn split_at(&self, prefix: &[u8]) -> Option<(usize, &[u8])> {
        match *self {
            RowPart::Whole(bytes) => Some((0, bytes.strip_prefix(prefix)?)),
            RowPart::At(_, []) => Some((0, &[])),
            RowPart::At(at, bytes) => match prefix.get(at..) {
                None | Some([]) => Some((at - prefix.len(), bytes)),
                Some(inside) => {
                    let (head, rest) = bytes.split_at(inside.len().min(bytes.len()));
                    inside.starts_with(head).then_some((0, rest))
                }
            },
        }
    }
}

impl PartBehind {
    #[inline(always)]
    fn is_in<const WORDS: usize>(&self, row: &[u32; WORDS]) -> bool {
        let differs = (0..WORDS).fold(0, |differs, at| differs | row[at] & self.masks[at] ^ self.words[at]);
        differs == 0 && row[WORDS - 1] >> 24 >= self.least
    }
}

/// Where rows are put together.
pub struct WholeRow {
    bytes: [u8; MOST_PREFIX + MOST_BYTES],
    prefix_len: usize,
    row_words: usize,
}

impl WholeRow {
    #[inline(always)]
    pub fn of(&mut self, row: ShortRow) -> &[u8] {
        if let Some(room) = self.bytes.get_mut(self.prefix_len..).and_then(|bytes| bytes.first_chunk_mut()) {
            *room = row.0.to_le_bytes();
        }
        let len = (row.0 >> (32 * self.row_words - 8)) as usize;
        self.bytes.get(..self.prefix_len + len).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(rows: &[&[u8]], prefix: &[u8]) -> (Vec<u32>, usize) {
        let behind = || rows.iter().map(|row| row.strip_prefix(prefix).unwrap());
        let row_words = row_words(behind().map(<[u8]>::len)).unwrap();
        let words = behind().flat_map(|row| pack(row, row_words)).chain([0xffff_ffff; MOST_WORDS]);
        (words.collect(), row_words)
    }

    #[test]
    fn parts_are_found_as_in_whole_rows() {
        let rows: [&[u8]; 9] =
            [b"ab", b"ab\0", b"ab\0\0", b"ab\0c", b"ab1", b"ab1\0", b"abc", b"abc12345678", b"ab\xff\xff"];
        let parts: [&[u8]; 13] = [
            b"",
            b"\0",
            b"\0\0",
            b"a",
            b"ab",
            b"ab1",
            b"b1",
            b"1",
            b"c",
            b"b",
            b"678",
            b"\xff",
            b"abc12345678more than any",
        ];
        let (mut found, mut not_found) = (0, 0);
        for (prefix, take) in [&b""[..], b"a", b"ab"].into_iter().flat_map(|p| (0..=rows.len()).map(move |t| (p, t))) {
            // By words of rows: one, two, four.
            for rows in [&rows[..take.min(7)], &rows[..take], &rows[take..]].into_iter().filter(|rows| !rows.is_empty())
            {
                let (words, row_words) = packed(rows, prefix);
                let short = ShortRows::new(&words, row_words, prefix, rows.len());
                let mut whole = short.whole();
                assert!((0..rows.len()).all(|at| whole.of(short.row(at)) == rows[at]));
                let at = |bytes| [0, 1, 2, 3, 8, 16, usize::MAX].map(|at| RowPart::At(at, bytes));
                let parts =
                    parts.iter().chain(rows).flat_map(|part| at(part).into_iter().chain([RowPart::Whole(part)]));
                for (part, wanted) in parts.flat_map(|part| [(part, false), (part, true)]) {
                    let is_in = |row: &&[u8]| match part {
                        RowPart::Whole(bytes) => *row == bytes,
                        RowPart::At(at, bytes) => row.get(at..).unwrap_or_default().starts_with(bytes),
                    };
                    let want = rows.iter().take_while(|row| is_in(row) != wanted).count();
                    assert_eq!(short.count_until(part, wanted), want, "{part:?} {wanted} {prefix:?} {rows:?}");
                    if want < rows.len() { found += 1 } else { not_found += 1 }
                }
            }
        }
        assert!(found > 1000 && not_found > 1000, "{found} {not_found}");
    }

    #[test]
    fn skip_and_take_leave_what_is_there() {
        let rows: [&[u8]; 4] = [b"r1", b"r2", b"r3", b"r4"];
        let (words, row_words) = packed(&rows, b"r");
        let short = ShortRows::new(&words, row_words, b"r", rows.len());
        let all = |rows: ShortRows<'_>| {
            let mut whole = rows.whole();
            (0..rows.len()).map(|at| whole.of(rows.row(at)).to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(all(short.skip(1).take(2)), [b"r2", b"r3"]);
        assert_eq!(all(short.take(9)).len(), 4);
        assert!(short.skip(4).is_empty() && short.skip(9).is_empty());
    }
}
