//! Marks: places inside a data block to start a search at, with a hint of the row that is there.
//!
//! ```text
//! block   | row-000171 … | row-000172 … | row-000173 … |      all rows share "row-0001": not kept in the hints
//! mark       0, "71"        1021, "72"     2042, "73"          a hint is the next 4 bytes of the row, as a number
//! ```
//! A search reads the hints, which are small and side by side, and not the cells, each of which is a line of memory of
//! its own. It counts the smaller hints instead of halving: the loads do not wait for each other. Hints that are equal
//! decide nothing; the keys themselves do then. Rows of hbase:meta are not in byte order and get no hints.
//!
//! Behind the places there may be whole rows, each once, and where they begin: see [`short_rows`].

use martite_cell::short_rows::{self, MOST_PREFIX, MOST_WORDS, ShortRows, pack};
use martite_cell::{Order, key};
use martite_env::prefetch::{prefetch, prefetch_at};
use std::{cmp::Ordering, ops::Range};

/// A mark is set on the first cell at least this far from the previous one.
const GAP_BYTES: u32 = 256;
/// In a place: the next mark is on the next cell.
const NEXT_IS_MARKED: u32 = 1 << 31;
/// More hints than this are halved first.
const MOST_COUNTED: usize = 256;
/// Rows take at most this part of a block's memory.
const ROWS_PART_OF_BLOCK: usize = 32;
/// A cell's lengths and key mostly end within so many bytes, perhaps on the next line of memory.
pub(crate) const KEY_REACH: usize = 48;
/// How far ahead of a cell keys are asked for: some hundred nanoseconds of work.
const WAY_AHEAD: u32 = 16 << 10;
/// The same in marked cells, for who only looks at their keys.
pub(crate) const MARKS_AHEAD: usize = 16;
/// Of one cell so much is asked for ahead; the rest follows by itself when it is read in order.
pub(crate) const MOST_AHEAD: usize = 2048;

/// The marks of one block.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// Hints, then as many places. If rows are kept: where they begin, unless each is a marked cell, and the rows, with room behind them.
    words: Box<[u32]>,
    count: u32,
    /// Rows that are kept: all, or none.
    rows: u32,
    last_cell: u32,
    /// What all rows of the block begin with, or the first bytes of it.
    prefix: [u8; MOST_PREFIX],
    prefix_len: u8,
    /// Words of a row.
    row_words: u8,
    /// Rows are kept, and each is one cell, which is marked.
    one_cell_rows: bool,
}

/// Collects marks while a block is checked, cell by cell.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    places: Vec<u32>,
    /// Where rows begin.
    rows: Vec<u32>,
    next: u32,
    cells: usize,
    last: u32,
    /// The last cell got a mark.
    marked: bool,
}

impl Collector {
    #[inline]
    pub(crate) fn cell(&mut self, start: u32, begins_row: bool) {
        let mark = start >= self.next;
        self.cells += 1;
        self.last = start;
        if begins_row {
            self.rows.push(start);
        }
        if mark {
            if self.marked
                && let Some(last) = self.places.last_mut()
            {
                *last |= NEXT_IS_MARKED;
            }
            self.places.push(start);
            self.next = start.saturating_add(GAP_BYTES);
        }
        self.marked = mark;
    }

    /// `key_at` gives the key of the cell at a place that was collected.
    pub(crate) fn finish<'a>(self, order: Order, block_len: usize, key_at: impl Fn(u32) -> &'a [u8]) -> Marks {
        let Some(first) = self.places.first().map(|p| key_at(p & !NEXT_IS_MARKED)) else { return Marks::default() };
        let prefix_len = match order {
            Order::Default => common_prefix(key::row(first), key::row(key_at(self.last))).min(MOST_PREFIX),
            Order::Meta => 0,
        };
        let mut prefix = [0; MOST_PREFIX];
        prefix[..prefix_len].copy_from_slice(&key::row(first)[..prefix_len]);
        let hint_of = |place: &u32| match order {
            Order::Default => hint(key::row(key_at(place & !NEXT_IS_MARKED)).get(prefix_len..).unwrap_or_default()),
            Order::Meta => 0,
        };
        let rows = self.rows.iter().map(|start| key::row(key_at(*start)).get(prefix_len..).unwrap_or_default());
        let one_cell_rows = self.rows.len() == self.cells && self.places.len() == self.cells;
        let starts = if one_cell_rows { 0 } else { self.rows.len() };
        let fit = |row_words: &usize| 4 * (starts + row_words * self.rows.len()) <= block_len / ROWS_PART_OF_BLOCK;
        let row_words = match order {
            Order::Default if fit(&1) => short_rows::row_words(rows.clone().map(<[u8]>::len)).filter(fit),
            _ => None,
        };
        let row_room = row_words.map_or(0, |words| starts + words * self.rows.len() + MOST_WORDS);
        let mut words = Vec::with_capacity(2 * self.places.len() + row_room);
        words.extend(self.places.iter().map(hint_of).chain(self.places.iter().copied()));
        if let Some(row_words) = row_words {
            words.extend_from_slice(&self.rows[..starts]);
            words.extend(rows.flat_map(|row| pack(row, row_words)));
            words.extend([0; MOST_WORDS]);
        }
        Marks {
            words: words.into_boxed_slice(),
            count: self.places.len() as u32,
            rows: row_words.map_or(0, |_| self.rows.len() as u32),
            last_cell: self.last,
            prefix,
            prefix_len: prefix_len as u8,
            row_words: row_words.unwrap_or(0) as u8,
            one_cell_rows: one_cell_rows && row_words.is_some(),
        }
    }
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

/// The first four bytes as a number that is in the order of the bytes; what is missing counts as zero.
fn hint(bytes: &[u8]) -> u32 {
    let mut first = [0; 4];
    let len = bytes.len().min(4);
    first[..len].copy_from_slice(&bytes[..len]);
    u32::from_be_bytes(first)
}

/// Of ascending numbers, how many are smaller.
#[inline]
fn smaller_than(bound: u32, mut numbers: &[u32]) -> usize {
    let mut before = 0;
    while numbers.len() > MOST_COUNTED {
        let (low, high) = numbers.split_at(numbers.len() / 2);
        if high[0] < bound {
            before += low.len();
            numbers = high;
        } else {
            numbers = low;
        }
    }
    before + numbers.iter().map(|n| u32::from(*n < bound)).sum::<u32>() as usize
}

impl Marks {
    pub(crate) fn heap_size(&self) -> usize {
        size_of_val(&*self.words)
    }

    /// The rows of the block, each once, if they are kept.
    pub(crate) fn rows(&self) -> Option<ShortRows<'_>> {
        let starts = if self.one_cell_rows { 0 } else { self.rows as usize };
        let words = &self.words[2 * self.count() + starts..];
        (self.rows > 0).then(|| ShortRows::new(words, usize::from(self.row_words), self.prefix(), self.rows as usize))
    }

    /// The same, if each of them is one cell: that with the mark of the same number.
    pub(crate) fn one_cell_rows(&self) -> Option<ShortRows<'_>> {
        if self.one_cell_rows { self.rows() } else { None }
    }

    /// Where the rows begin that are kept; in the bits of a place.
    fn row_starts(&self) -> &[u32] {
        let from = if self.one_cell_rows { self.count() } else { 2 * self.count() };
        &self.words[from..from + self.rows as usize]
    }

    /// Where they begin; none if they are not kept.
    pub(crate) fn all_row_starts(&self) -> impl Iterator<Item = u32> {
        self.row_starts().iter().map(|start| start & !NEXT_IS_MARKED)
    }

    /// Where a row begins.
    pub(crate) fn row_start(&self, row: usize) -> u32 {
        self.row_starts()[row] & !NEXT_IS_MARKED
    }

    /// Where the one behind a row begins, if that is in the block.
    pub(crate) fn next_row_start(&self, row: usize) -> Option<u32> {
        self.row_starts().get(row + 1).map(|start| start & !NEXT_IS_MARKED)
    }

    /// Of rows that are kept, the one that has the cell at a place.
    pub(crate) fn row_at(&self, cell: u32) -> usize {
        self.row_starts().partition_point(|start| start & !NEXT_IS_MARKED <= cell).saturating_sub(1)
    }

    /// Where the last cell of the block begins.
    pub(crate) fn last_cell(&self) -> u32 {
        self.last_cell
    }

    fn prefix(&self) -> &[u8] {
        &self.prefix[..self.prefix_len as usize]
    }

    fn hints(&self) -> &[u32] {
        &self.words[..self.count()]
    }

    fn places(&self) -> &[u32] {
        &self.words[self.count()..2 * self.count()]
    }

    pub(crate) fn count(&self) -> usize {
        self.count as usize
    }

    pub(crate) fn place(&self, mark: usize) -> u32 {
        self.places()[mark] & !NEXT_IS_MARKED
    }

    /// Who goes through the block cell by cell and stands at `cell` asks for the keys of the marked cells to come, some
    /// way ahead, so that the processor fetches many lines of memory while it works. `asked`: marks asked for before;
    /// how many there are now.
    #[inline]
    pub(crate) fn prefetch_keys(&self, asked: usize, cell: u32, payload: &[u8]) -> usize {
        let end = cell.saturating_add(WAY_AHEAD);
        let mut asked = asked;
        while let Some(place) = self.places().get(asked).map(|place| place & !NEXT_IS_MARKED)
            && place < end
        {
            let key = payload.as_ptr().wrapping_add(place as usize);
            prefetch_at(key, 1);
            prefetch_at(key.wrapping_add(KEY_REACH), 1);
            asked += 1;
        }
        asked
    }

    /// The mark of the cell at a place, if it has one.
    pub(crate) fn mark_at(&self, cell: u32) -> Option<usize> {
        self.places().binary_search_by_key(&cell, |place| place & !NEXT_IS_MARKED).ok()
    }

    /// Where the cell behind a marked one begins, if it has the next mark; and asks for the key of one some way ahead.
    #[inline(always)]
    pub(crate) fn next_marked(&self, mark: usize, payload: &[u8]) -> Option<u32> {
        let places = self.places();
        if places.get(mark)? & NEXT_IS_MARKED == 0 {
            return None;
        }
        if let Some(ahead) = places.get(mark + MARKS_AHEAD) {
            let key = payload.as_ptr().wrapping_add((ahead & !NEXT_IS_MARKED) as usize);
            prefetch_at(key, 1);
            prefetch_at(key.wrapping_add(KEY_REACH), 1);
        }
        places.get(mark + 1).map(|next| next & !NEXT_IS_MARKED)
    }

    /// Asks for the key of a row's first cell, if there is such a row.
    pub(crate) fn prefetch_first_cell(&self, row: usize, payload: &[u8]) {
        if let Some(start) = self.row_starts().get(row) {
            prefetch_at(payload.as_ptr().wrapping_add((start & !NEXT_IS_MARKED) as usize), 1 + KEY_REACH);
        }
    }

    /// Asks for a row, the next one's first key, and the end of that.
    pub(crate) fn prefetch_row_and_next(&self, row: usize, payload: &[u8]) {
        let start = |row| self.row_starts().get(row).map_or(payload.len(), |start| (start & !NEXT_IS_MARKED) as usize);
        let (start, next, behind) = (start(row), start(row + 1), start(row + 2));
        prefetch(&payload[start..payload.len().min((next + 8 + KEY_REACH).min(start + MOST_AHEAD))]);
        prefetch(&payload[behind - 1..behind]);
    }

    /// Asks for a row.
    pub(crate) fn prefetch_row(&self, row: usize, payload: &[u8]) {
        let start = self.row_start(row) as usize;
        let next = self.next_row_start(row).map_or(payload.len(), |next| next as usize);
        prefetch(&payload[start..next.min(start + MOST_AHEAD)]);
    }

    /// Asks for the key of the last cell.
    pub(crate) fn prefetch_last(&self, payload: &[u8]) {
        prefetch_at(payload.as_ptr().wrapping_add(self.last_cell as usize), 1 + KEY_REACH);
    }

    /// Asks for what is looked at when rows are passed over.
    pub(crate) fn prefetch_rows(&self) {
        if self.rows > 0 {
            prefetch(&self.words[if self.one_cell_rows { self.count() } else { 2 * self.count() }..]);
        }
    }

    /// Asks for the words ahead of a search.
    pub(crate) fn prefetch(&self) {
        let count = self.count();
        prefetch(&self.words[..if count <= MOST_COUNTED / 2 { 2 * count } else { count }]);
    }

    /// Asks for the cell that a search for `wanted` will come to, as far as the hints tell.
    pub(crate) fn prefetch_cell(&self, order: Order, wanted: &[u8], payload: &[u8]) {
        let cell = self.cell_among(self.among(order, key::row(wanted)), payload.len());
        prefetch(payload.get(cell).unwrap_or_default());
    }

    /// Where the cell is that a search there will come to, about, and how the next one begins.
    pub(crate) fn cell_among(&self, among: Among, payload_len: usize) -> Range<usize> {
        let start = match among.less.checked_sub(1).map(|last| self.places()[last]) {
            Some(last) if last & NEXT_IS_MARKED == 0 => last,
            _ => self.places().get(among.less).copied().unwrap_or(0) & !NEXT_IS_MARKED,
        } as usize;
        let end = self.places().get(among.less + 1).map_or(payload_len, |next| (next & !NEXT_IS_MARKED) as usize);
        start..payload_len.min((end + 8 + KEY_REACH).min(start + MOST_AHEAD))
    }

    /// Where a search for `row` has to look, as far as the hints tell.
    pub(crate) fn among(&self, order: Order, row: &[u8]) -> Among {
        let count = self.places().len();
        match self.wanted_hint(order, row) {
            Wanted::BeforeAll => Among { less: 0, open: 0 },
            Wanted::AfterAll => Among { less: count, open: 0 },
            Wanted::Unknown => Among { less: 0, open: count },
            Wanted::Hint(hint) => {
                // Hints are in order: those that are equal leave it to the keys.
                let less = smaller_than(hint, self.hints());
                Among { less, open: self.hints()[less..].iter().take_while(|h| **h == hint).count() }
            }
        }
    }

    /// Where to begin to look for the first cell that is not before what is wanted, as `is_less` tells of keys at a place.
    pub(crate) fn search_among(&self, among: Among, is_less: impl Fn(u32) -> bool) -> u32 {
        let open = &self.places()[among.less..among.less + among.open];
        let Some(last_less) =
            (among.less + open.partition_point(|place| is_less(place & !NEXT_IS_MARKED))).checked_sub(1)
        else {
            return 0;
        };
        // Between two neighbours there is nothing to look at.
        self.place(last_less + usize::from(self.places()[last_less] & NEXT_IS_MARKED != 0))
    }

    /// The last mark whose cell's key is less than `wanted`; None: there is none.
    pub(crate) fn before<'a>(&self, order: Order, wanted: &[u8], key_at: impl Fn(u32) -> &'a [u8]) -> Option<u32> {
        self.less(order, wanted, 0, key_at).checked_sub(1).map(|mark| self.place(mark))
    }

    /// Where to begin to look for the first cell at or after `from` whose key is not less than `wanted`.
    pub(crate) fn search_from<'a>(
        &self,
        order: Order,
        wanted: &[u8],
        from: u32,
        key_at: impl Fn(u32) -> &'a [u8],
    ) -> u32 {
        let skipped = match from {
            0 => 0,
            _ => self.places().partition_point(|p| p & !NEXT_IS_MARKED <= from),
        };
        let Some(last_less) = self.less(order, wanted, skipped, key_at).checked_sub(1) else { return from };
        if last_less < skipped {
            return from;
        }
        // Between two neighbours there is nothing to look at.
        let next_is_marked = self.places()[last_less] & NEXT_IS_MARKED != 0;
        self.place(last_less + usize::from(next_is_marked))
    }

    /// How many marks stand on keys less than `wanted`; those before `from` are known to.
    fn less<'a>(&self, order: Order, wanted: &[u8], from: usize, key_at: impl Fn(u32) -> &'a [u8]) -> usize {
        let is_less = |mark: usize| order.keys(key_at(self.place(mark)), wanted) == Ordering::Less;
        let Among { less, open } = self.among(order, key::row(wanted));
        let (mut low, mut high) = (less.max(from), (less + open).max(from));
        while low < high {
            let middle = low + (high - low) / 2;
            if is_less(middle) { low = middle + 1 } else { high = middle }
        }
        low
    }

    fn wanted_hint(&self, order: Order, row: &[u8]) -> Wanted {
        if order == Order::Meta {
            return Wanted::Unknown;
        }
        let prefix = self.prefix();
        match row.get(..prefix.len()) {
            Some(head) => match head.cmp(prefix) {
                Ordering::Less => Wanted::BeforeAll,
                Ordering::Equal => Wanted::Hint(hint(&row[prefix.len()..])),
                Ordering::Greater => Wanted::AfterAll,
            },
            // Shorter than the prefix: less than every row that begins with it, or decided within its own length.
            None => match row.cmp(&prefix[..row.len()]) {
                Ordering::Greater => Wanted::AfterAll,
                Ordering::Less | Ordering::Equal => Wanted::BeforeAll,
            },
        }
    }
}

/// Marks among which a search has to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Among {
    /// So many are known to be less than what is wanted.
    less: usize,
    /// So many behind them may be.
    open: usize,
}

/// Where a wanted row is, as far as prefix and hint tell.
enum Wanted {
    BeforeAll,
    AfterAll,
    Hint(u32),
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_cell::key::flat_key;

    fn keys(rows: &[&[u8]]) -> Vec<Vec<u8>> {
        rows.iter().map(|row| flat_key(row, b"f", b"q", 1, 4)).collect()
    }

    /// The marks of a block with a cell at every `step` bytes.
    fn marks(order: Order, keys: &[Vec<u8>], step: u32) -> Marks {
        let mut collector = Collector::default();
        let begins_row = |i: usize| i == 0 || key::row(&keys[i]) != key::row(&keys[i - 1]);
        (0..keys.len()).for_each(|i| collector.cell(i as u32 * step, begins_row(i)));
        collector.finish(order, keys.len() * step as usize, |start| &keys[(start / step) as usize])
    }

    #[test]
    fn rows_lie_side_by_side_where_that_takes_little() {
        let long = [40, 41, 42].map(|len| b"k".repeat(len));
        let rows: [&[u8]; 6] = [b"a\0", b"a\0\0", b"a1", b"a123456789abcdef", b"a123456789abcdef0", b""];
        // The rows that are kept of a block in which each row has some cells.
        let of = |order, rows: &[&[u8]], step, cells: usize| {
            let keys = keys(&rows.iter().flat_map(|row| vec![*row; cells]).collect::<Vec<_>>());
            let marks = marks(order, &keys, step);
            let kept = marks.rows()?;
            assert_eq!(marks.one_cell_rows().is_some(), cells == 1 && step >= GAP_BYTES);
            assert_eq!(marks.last_cell(), (keys.len() - 1) as u32 * step);
            for cell in 0..keys.len() {
                let row = marks.row_at(cell as u32 * step);
                assert_eq!((row, marks.row_start(row)), (cell / cells, (row * cells) as u32 * step));
            }
            let mut whole = kept.whole();
            Some((0..kept.len()).map(|row| whole.of(kept.row(row)).to_vec()).collect::<Vec<_>>())
        };
        let two_long: [&[u8]; 2] = [&long[0], &long[1]];
        let kept = [&rows[..1], &rows[..2], &rows[..3], &rows[..4], &two_long, &rows[5..]];
        for (rows, (step, cells)) in
            kept.into_iter().flat_map(|rows| [(1000, 1), (1000, 3), (100, 11)].map(|of| (rows, of)))
        {
            let wanted: Vec<_> = rows.iter().map(|row| row.to_vec()).collect();
            assert_eq!(of(Order::Default, rows, step, cells), Some(wanted));
            assert_eq!(of(Order::Meta, rows, step, cells), None);
        }
        // One is too long, they are too much of the block, with where they begin if that is not at each mark.
        assert_eq!(of(Order::Default, &rows[..5], 1000, 1), None);
        assert_eq!(of(Order::Default, &[&long[0], &long[2]], 1000, 1), None);
        assert_eq!(of(Order::Default, &rows[..4], 300, 1), None);
        assert!(of(Order::Default, &rows[..3], 300, 1).is_some());
        assert_eq!(of(Order::Default, &rows[..3], 255, 1), None);
        assert!(of(Order::Default, &rows[..3], 128, 2).is_some());
        assert_eq!(of(Order::Default, &rows[..3], 127, 2), None);
    }

    #[test]
    fn the_search_is_the_one_over_whole_keys() {
        let rows: [&[u8]; 9] =
            [b"ab", b"ab\0", b"ab\0\0", b"ab1", b"ab12345678", b"ab123456789", b"ab2", b"abc", b"abd\xff"];
        let wanted: [&[u8]; 14] = [
            b"",
            b"a",
            b"aa",
            b"ab",
            b"ab\0\0\0",
            b"ab1",
            b"ab12345678",
            b"ab1234567899",
            b"ab3",
            b"abd",
            b"abd\xff",
            b"ac",
            b"b",
            b"\xff",
        ];
        for order in [Order::Default, Order::Meta] {
            for (take, step) in (1..=rows.len()).flat_map(|take| [(take, 1000), (take, 100)]) {
                let keys = keys(&rows[..take]);
                let marks = marks(order, &keys, step);
                let key_at = |start: u32| &keys[(start / step) as usize][..];
                for row in wanted {
                    let wanted = flat_key(row, b"f", b"q", 5, 4);
                    let what = format!("{order:?}, {take} rows at every {step}, {:?}", row.escape_ascii());
                    let less =
                        (0..take as u32).filter(|i| order.keys(key_at(i * step), &wanted).is_lt()).count() as u32;
                    let marked = (0..less * step).step_by(step as usize).rfind(|at| step > 256 || at % 300 == 0);
                    assert_eq!(marks.before(order, &wanted, key_at), marked, "{what}");
                    for from in [0, 2, 5].map(|cell| cell * step) {
                        let found = marks.search_from(order, &wanted, from, key_at);
                        assert!(found >= from && found.is_multiple_of(step), "{what} from {from}: {found}");
                        assert!(found <= from.max(less * step), "{what} from {from}: {found} is too far");
                        let is_near = found + 3 * step >= less * step
                            && (step < 256 || found == from || found >= less.min(take as u32 - 1) * step);
                        assert!(is_near, "{what} from {from}: {found}");
                    }
                }
            }
        }
    }
}
