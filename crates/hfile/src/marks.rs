//! Marks: places inside a data block to start a search at, with a hint of the row that is there.
//!
//! ```text
//! block   | row-000171 … | row-000172 … | row-000173 … |      all rows share "row-0001": not kept in the hints
//! mark       0, "71"        1021, "72"     2042, "73"          a hint is the next 8 bytes of the row, as a number
//! ```
//! A binary search over marks reads this array, which is small and in order, and not the cells, each of which is a line
//! of memory of its own: the search costs one or two cache misses instead of one for each halving. Hints that are
//! equal decide nothing; the keys themselves do then. Rows of hbase:meta are not in byte order and get no hints.

use martite_cell::{Order, key};
use std::cmp::Ordering;

/// A mark is set on the first cell at least this far from the previous one.
const GAP_BYTES: u32 = 256;

#[derive(Debug, Clone, Copy)]
struct Mark {
    hint: u64,
    start: u32,
}

/// The marks of one block.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    marks: Box<[Mark]>,
    /// What all rows of the block begin with.
    prefix: Box<[u8]>,
}

/// Collects marks while a block is checked, cell by cell.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    starts: Vec<u32>,
    next: u32,
}

impl Collector {
    #[inline]
    pub(crate) fn cell(&mut self, start: u32) {
        if start >= self.next {
            self.starts.push(start);
            self.next = start.saturating_add(GAP_BYTES);
        }
    }

    /// `key_at` gives the key of the cell at a place that was collected; `last` is the key of the block's last cell.
    pub(crate) fn finish<'a>(self, order: Order, last: &'a [u8], key_at: impl Fn(u32) -> &'a [u8]) -> Marks {
        let Some(first) = self.starts.first().map(|s| key_at(*s)) else { return Marks::default() };
        let prefix = match order {
            Order::Default => common_prefix(key::row(first), key::row(last)),
            Order::Meta => &[],
        };
        let hint_of = |start: u32| match order {
            Order::Default => hint(key::row(key_at(start)).get(prefix.len()..).unwrap_or_default()),
            Order::Meta => 0,
        };
        let marks = self.starts.iter().map(|&start| Mark { hint: hint_of(start), start }).collect();
        Marks { marks, prefix: prefix.into() }
    }
}

fn common_prefix<'a>(a: &'a [u8], b: &[u8]) -> &'a [u8] {
    let len = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    &a[..len]
}

/// The first eight bytes as a number that is in the order of the bytes; what is missing counts as zero.
fn hint(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    let len = bytes.len().min(8);
    first[..len].copy_from_slice(&bytes[..len]);
    u64::from_be_bytes(first)
}

impl Marks {
    pub(crate) fn heap_size(&self) -> usize {
        size_of_val(&*self.marks) + self.prefix.len()
    }

    pub(crate) fn last(&self) -> Option<u32> {
        self.marks.last().map(|m| m.start)
    }

    /// The last mark whose cell's key is less than `wanted`, of those after `from`; None: there is none.
    pub(crate) fn before<'a>(
        &self,
        order: Order,
        wanted: &[u8],
        from: Option<u32>,
        key_at: impl Fn(u32) -> &'a [u8],
    ) -> Option<u32> {
        let marks = match from {
            None => &self.marks[..],
            Some(from) => &self.marks[self.marks.partition_point(|m| m.start <= from)..],
        };
        let is_less = |m: &Mark| order.keys(key_at(m.start), wanted) == Ordering::Less;
        let less = match self.wanted_hint(order, key::row(wanted)) {
            Wanted::BeforeAll => 0,
            Wanted::AfterAll => marks.len(),
            Wanted::Unknown => marks.partition_point(is_less),
            Wanted::Hint(hint) => {
                // Hints are in order: cut out those that are equal and look at the keys of these only.
                let below = marks.partition_point(|m| m.hint < hint);
                let equal = marks[below..].partition_point(|m| m.hint == hint);
                below + marks[below..below + equal].partition_point(is_less)
            }
        };
        less.checked_sub(1).map(|i| marks[i].start)
    }

    fn wanted_hint(&self, order: Order, row: &[u8]) -> Wanted {
        if order == Order::Meta {
            return Wanted::Unknown;
        }
        match row.get(..self.prefix.len()) {
            Some(head) => match head.cmp(&self.prefix) {
                Ordering::Less => Wanted::BeforeAll,
                Ordering::Equal => Wanted::Hint(hint(&row[self.prefix.len()..])),
                Ordering::Greater => Wanted::AfterAll,
            },
            // Shorter than the prefix: less than every row that begins with it, or decided within its own length.
            None => match row.cmp(&self.prefix[..row.len()]) {
                Ordering::Greater => Wanted::AfterAll,
                Ordering::Less | Ordering::Equal => Wanted::BeforeAll,
            },
        }
    }
}

/// Where a wanted row is, as far as prefix and hint tell.
enum Wanted {
    BeforeAll,
    AfterAll,
    Hint(u64),
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_cell::key::flat_key;

    fn keys(rows: &[&[u8]]) -> Vec<Vec<u8>> {
        rows.iter().map(|row| flat_key(row, b"f", b"q", 1, 4)).collect()
    }

    /// Marks on every one of `rows`, at places 0, 1000, 2000 …
    fn marks(order: Order, keys: &[Vec<u8>]) -> Marks {
        let mut collector = Collector::default();
        (0..keys.len()).for_each(|i| collector.cell(i as u32 * 1000));
        collector.finish(order, keys.last().unwrap(), |start| &keys[start as usize / 1000])
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
            for take in 1..=rows.len() {
                let keys = keys(&rows[..take]);
                let marks = marks(order, &keys);
                for row in wanted {
                    for from in [None, Some(0), Some(2000), Some(2500)] {
                        let wanted = flat_key(row, b"f", b"q", 5, 4);
                        let plain = (0..take)
                            .filter(|i| from.is_none_or(|from| *i as u32 * 1000 > from))
                            .filter(|i| order.keys(&keys[*i], &wanted) == Ordering::Less)
                            .map(|i| i as u32 * 1000)
                            .next_back();
                        let found = marks.before(order, &wanted, from, |s| &keys[s as usize / 1000]);
                        assert_eq!(found, plain, "{order:?} {take} rows, {:?} from {from:?}", row.escape_ascii());
                    }
                }
            }
        }
    }
}
