//! Index blocks as they are read: the root, kept in memory, and leaf and intermediate blocks, searched in place.
//!
//! ```text
//! root          { u64 offset | u32 on-disk size | vlong key length | key }*      [mid-key metadata]
//! leaf, inner   u32 n | (n+1) x u32 entry position | n x { u64 offset | u32 on-disk size | key }
//! ```
//! An entry's key is not greater than the first cell of its block and greater than the last cell of the block before;
//! it need not be the key of any cell.

use crate::{
    Block,
    error::Parsed,
    format::{HEADER_BYTES, MID_KEY_BYTES},
    input::Input,
};
use martite_cell::{Order, key};
use martite_env::prefetch::prefetch;
use std::{cmp::Ordering, hint::select_unpredictable, ops::Range};

/// A block as an index entry names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    pub offset: u64,
    pub size: u32,
}

/// What keys of an index are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Flat keys, in the file's order.
    Flat,
    /// Any bytes, in byte order: rows of bloom chunks, names of meta blocks.
    Raw,
}

/// Where the leaf entry of the file's middle block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MidKey {
    pub leaf: Place,
    pub entry: u32,
}

/// An index level in memory.
#[derive(Debug, Default)]
pub(crate) struct RootIndex {
    places: Vec<Place>,
    /// End of each key in `keys`.
    ends: Vec<u32>,
    keys: Vec<u8>,
    pub mid_key: Option<MidKey>,
    hints: Hints,
}

/// What a search compares instead of keys as long as that decides: after what all rows begin with, the next eight bytes
/// of each row, as a number. Only for rows in byte order: none for others.
#[derive(Debug, Default)]
struct Hints {
    prefix: Box<[u8]>,
    next: Box<[u64]>,
}

/// What is made of an index block below the root when it comes: without it each look at an entry touches two or three
/// lines of memory that nobody else needs.
#[derive(Debug)]
pub(crate) struct LevelAid {
    hints: Hints,
    places: Box<[Place]>,
}

impl LevelAid {
    pub(crate) fn heap_size(&self) -> usize {
        self.hints.heap_size() + size_of_val(&*self.places)
    }
}

/// So many entries lie in few lines of memory.
const NEAR: usize = 16;

impl Hints {
    fn new<'a>(rows: impl ExactSizeIterator<Item = &'a [u8]> + DoubleEndedIterator + Clone) -> Hints {
        let (Some(first), Some(last)) = (rows.clone().next(), rows.clone().next_back()) else {
            return Hints::default();
        };
        if !rows.clone().is_sorted() {
            return Hints::default();
        }
        let common = first.iter().zip(last).take_while(|(a, b)| a == b).count();
        Hints { prefix: first[..common].into(), next: rows.map(|row| Hints::of(row.get(common..))).collect() }
    }

    fn heap_size(&self) -> usize {
        self.prefix.len() + size_of_val(&*self.next)
    }

    /// Whether the row of the entry, which is behind another one that is not greater than `row`, is greater; None: not told.
    fn is_behind(&self, entry: usize, row: &[u8]) -> Option<bool> {
        let hint = Hints::of(Some(row.strip_prefix(&*self.prefix)?));
        self.next.get(entry).filter(|next| **next != hint).map(|next| *next > hint)
    }

    /// Of `len` entries that `key_at` tells, the last one that is not greater than (or with `strictly`: that is less than)
    /// `key`. `near` is told what is left to search before the last steps.
    fn find<'a>(
        &self,
        (key, order, strictly): (&[u8], Order, bool),
        len: usize,
        key_at: impl Fn(usize) -> &'a [u8],
        near: impl FnOnce(Range<usize>),
    ) -> Option<usize> {
        let (low, high) = match order {
            Order::Default if self.next.len() == len => self.undecided(key::row(key), near),
            _ => (0, len),
        };
        let among = find(high - low, |i| order.keys(key_at(low + i), key), strictly);
        among.map_or_else(|| low.checked_sub(1), |i| Some(low + i))
    }

    /// What is missing counts as zero.
    fn of(rest: Option<&[u8]>) -> u64 {
        let rest = rest.unwrap_or_default();
        let mut first = [0; 8];
        let len = rest.len().min(8);
        first[..len].copy_from_slice(&rest[..len]);
        u64::from_be_bytes(first)
    }

    /// Entries before the first number have smaller rows than `row`, those from the second on greater ones.
    fn undecided(&self, row: &[u8], near: impl FnOnce(Range<usize>)) -> (usize, usize) {
        let head = &row[..row.len().min(self.prefix.len())];
        match head.cmp(&self.prefix[..head.len()]) {
            Ordering::Less => (0, 0),
            Ordering::Greater => (self.next.len(), self.next.len()),
            Ordering::Equal if head.len() < self.prefix.len() => (0, 0),
            Ordering::Equal => {
                let hint = Hints::of(row.get(head.len()..));
                let (mut low, mut left) = (0, self.next.len());
                while left > NEAR {
                    let half = left / 2;
                    low += select_unpredictable(self.next[low + half - 1] < hint, half, 0);
                    left -= half;
                }
                near(low..low + left);
                low += self.next[low..low + left].iter().map(|h| usize::from(*h < hint)).sum::<usize>();
                let equal = match self.next.get(low) {
                    Some(next) if *next == hint => self.next[low..].partition_point(|h| *h == hint),
                    _ => 0,
                };
                (low, low + equal)
            }
        }
    }
}

impl RootIndex {
    /// Parses `count` entries; `data_end` is where the blocks that it may name end.
    pub(crate) fn parse(payload: &[u8], count: usize, keys: Keys, data_end: u64) -> Parsed<RootIndex> {
        // The smallest entry has 13 bytes: nothing is allocated for a count that cannot be.
        if count > payload.len() / 13 {
            return Err(format!("{count} index entries in {} bytes", payload.len()));
        }
        let mut index = RootIndex {
            places: Vec::with_capacity(count),
            ends: Vec::with_capacity(count),
            keys: Vec::with_capacity(payload.len().saturating_sub(count * 13)),
            mid_key: None,
            hints: Hints::default(),
        };
        let mut input = Input::new(payload);
        for i in 0..count {
            let place = read_place(&mut input, data_end).map_err(|e| format!("index entry {i}: {e}"))?;
            let len = input.vlong_len()?;
            let key = input.take(len)?;
            check_key(key, keys).map_err(|e| format!("index entry {i}: {e}"))?;
            index.places.push(place);
            index.keys.extend_from_slice(key);
            index.ends.push(index.keys.len() as u32);
        }
        if keys == Keys::Flat {
            index.hints = Hints::new((0..count).map(|i| key::row(index.key(i))));
        }
        match input.len() {
            0 => {}
            MID_KEY_BYTES if count > 0 => {
                let leaf = read_place(&mut input, data_end).map_err(|e| format!("mid key: {e}"))?;
                index.mid_key = Some(MidKey { leaf, entry: input.u32()? });
            }
            more => return Err(format!("{more} bytes after {count} index entries")),
        }
        Ok(index)
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn place(&self, entry: usize) -> Place {
        self.places[entry]
    }

    pub(crate) fn key(&self, entry: usize) -> &[u8] {
        let start = if entry == 0 { 0 } else { self.ends[entry - 1] as usize };
        &self.keys[start..self.ends[entry] as usize]
    }

    /// The last entry that is not greater than (or with `strictly`: that is less than) a flat key.
    pub(crate) fn find(&self, key: &[u8], order: Order, strictly: bool) -> Option<usize> {
        self.hints.find((key, order, strictly), self.len(), |entry| self.key(entry), |_| {})
    }

    /// The last entry whose raw key is not greater.
    pub(crate) fn find_raw(&self, key: &[u8]) -> Option<usize> {
        find(self.len(), |i| self.key(i).cmp(key), false)
    }

    pub(crate) fn heap_size(&self) -> usize {
        let places = self.places.capacity() * size_of::<Place>();
        places + self.ends.capacity() * 4 + self.keys.capacity() + self.hints.heap_size()
    }
}

/// A leaf or intermediate index block whose payload passed [`Level::check`].
#[derive(Clone, Copy)]
pub(crate) struct Level<'a> {
    payload: &'a [u8],
    aid: Option<&'a LevelAid>,
}

impl<'a> Level<'a> {
    pub(crate) fn new(block: &'a Block) -> Level<'a> {
        Level { payload: block.payload(), aid: block.level_aid() }
    }

    /// Checks every position, place and key, so that the accessors stay inside the payload.
    pub(crate) fn check(payload: &[u8], data_end: u64) -> Parsed<LevelAid> {
        let mut input = Input::new(payload);
        let count = input.u32()? as usize;
        if count == 0 || count > payload.len() / 16 {
            return Err(format!("{count} index entries in {} bytes", payload.len()));
        }
        let entries_at = 4 + 4 * (count + 1);
        let entries = payload.get(entries_at..).ok_or("positions exceed the index block")?;
        let mut start = input.u32()? as usize;
        if start != 0 {
            return Err(format!("the first index entry is at {start}"));
        }
        for i in 0..count {
            let end = input.u32()? as usize;
            let entry = entries.get(start..end).ok_or_else(|| format!("index entry {i} at {start}..{end}"))?;
            let mut entry = Input::new(entry);
            read_place(&mut entry, data_end)
                .and_then(|_| check_key(entry.take(entry.len())?, Keys::Flat))
                .map_err(|e| format!("index entry {i}: {e}"))?;
            start = end;
        }
        if start != entries.len() {
            return Err(format!("{} bytes after {count} index entries", entries.len() - start));
        }
        let level = Level { payload, aid: None };
        let hints = Hints::new((0..count).map(|entry| key::row(level.key(entry))));
        Ok(LevelAid { hints, places: (0..count).map(|entry| level.place(entry)).collect() })
    }

    fn word(&self, at: usize) -> usize {
        self.payload.get(at..).and_then(|p| p.first_chunk::<4>()).map_or(0, |b| u32::from_be_bytes(*b)) as usize
    }

    pub(crate) fn len(&self) -> usize {
        self.word(0)
    }

    fn entry(&self, entry: usize) -> &'a [u8] {
        let base = 4 + 4 * (self.len() + 1);
        &self.payload[base + self.word(4 + 4 * entry)..base + self.word(8 + 4 * entry)]
    }

    pub(crate) fn key(&self, entry: usize) -> &'a [u8] {
        &self.entry(entry)[12..]
    }

    pub(crate) fn place(&self, entry: usize) -> Place {
        if let Some(aid) = self.aid {
            return aid.places[entry];
        }
        let mut input = Input::new(self.entry(entry));
        let offset = input.u64().unwrap_or_default();
        Place { offset, size: input.u32().unwrap_or_default() }
    }

    pub(crate) fn find(&self, key: &[u8], order: Order, strictly: bool) -> Option<usize> {
        match self.aid {
            Some(aid) => {
                // The one before the first that is not less is the one that is looked for.
                let near = |left: Range<usize>| prefetch(&aid.places[left.start.saturating_sub(1)..left.end]);
                aid.hints.find((key, order, strictly), self.len(), |entry| self.key(entry), near)
            }
            None => find(self.len(), |i| order.keys(self.key(i), key), strictly),
        }
    }

    /// Whether the entry behind `entry`, which is not greater than `row`, is greater; no, if there is none.
    pub(crate) fn ends_row(&self, entry: usize, row: &[u8], order: Order) -> bool {
        let told = self.aid.filter(|_| order == Order::Default).and_then(|aid| aid.hints.is_behind(entry + 1, row));
        let by_key = || entry + 1 < self.len() && order.rows(key::row(self.key(entry + 1)), row).is_gt();
        told.unwrap_or_else(by_key)
    }
}

fn find(len: usize, compare: impl Fn(usize) -> Ordering, strictly: bool) -> Option<usize> {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = (low + high) / 2;
        match compare(middle) {
            Ordering::Less => low = middle + 1,
            Ordering::Equal if !strictly => low = middle + 1,
            _ => high = middle,
        }
    }
    low.checked_sub(1)
}

fn read_place(input: &mut Input<'_>, data_end: u64) -> Parsed<Place> {
    let place = Place { offset: input.u64()?, size: input.u32()? };
    let end = place.offset.checked_add(place.size as u64);
    if (place.size as usize) < HEADER_BYTES || end.is_none_or(|end| end > data_end) {
        return Err(format!("a block of {} bytes at {}, blocks end at {data_end}", place.size, place.offset));
    }
    Ok(place)
}

fn check_key(key: &[u8], keys: Keys) -> Parsed<()> {
    match keys {
        Keys::Flat => key::check(key).map_err(|e| e.to_string()),
        Keys::Raw => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_is_the_last_entry_not_past_the_key() {
        let entries = [10, 20, 20, 30];
        let at = |key: i32, strictly| find(entries.len(), |i| entries[i].cmp(&key), strictly);
        assert_eq!(at(5, false), None);
        assert_eq!(at(10, false), Some(0));
        assert_eq!(at(10, true), None);
        assert_eq!(at(20, false), Some(2));
        assert_eq!(at(20, true), Some(0));
        assert_eq!(at(99, true), Some(3));
    }

    #[test]
    fn hints_leave_the_search_what_it_is() {
        let rows: [&[u8]; 10] = [
            b"row",
            b"row\0",
            b"row1",
            b"row12345678",
            b"row12345678",
            b"row123456789",
            b"row2",
            b"rowa",
            b"rowb\xff",
            b"rowz",
        ];
        for take in 1..=rows.len() {
            let keys = rows[..take].iter().enumerate();
            let keys: Vec<_> = keys.map(|(i, row)| key::flat_key(row, b"f", b"q", 100 - i as u64, 4)).collect();
            let mut payload = Vec::new();
            for key in &keys {
                payload.extend_from_slice(&0u64.to_be_bytes());
                payload.extend_from_slice(&(HEADER_BYTES as u32).to_be_bytes());
                crate::input::put_sized(&mut payload, key);
            }
            let index = RootIndex::parse(&payload, take, Keys::Flat, 1000).unwrap();
            assert_eq!(index.hints.next.len(), take);
            let others: [&[u8]; 8] = [b"", b"ro", b"rov", b"rox", b"row12345677", b"row1234567", b"row9", b"s"];
            for row in rows.iter().chain(&others) {
                for ts in [0, 97, 100, 200] {
                    let wanted = key::flat_key(row, b"f", b"q", ts, 4);
                    for strictly in [false, true] {
                        let plain = find(take, |i| Order::Default.keys(&keys[i], &wanted), strictly);
                        let what = row.escape_ascii();
                        assert_eq!(index.find(&wanted, Order::Default, strictly), plain, "{take} rows, {what} at {ts}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_count_that_cannot_be_is_refused_before_it_is_allocated() {
        let error = RootIndex::parse(&[0; 26], usize::MAX / 32, Keys::Raw, 100).unwrap_err();
        assert!(error.contains("index entries in 26 bytes"), "{error}");
        assert!(Level::check(&u32::MAX.to_be_bytes(), 100).is_err());
    }
}
