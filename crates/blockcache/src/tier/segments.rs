//! [`Segments`]: room in the slab, handed out from front to back and taken back by the segment.
//!
//! ```text
//! free ──▶ open, being written ──▶ filled, oldest first ──▶ free     once nothing in it counts any more
//! ```
//! Records lie one after the other, of any length: what is lost is the end of each segment, less than one record. Records
//! that do not count any more (their file is gone) are room again when their segment is emptied: of the oldest quarter
//! that is the one with the least in it.

use super::Key;
use std::collections::VecDeque;

/// Where a record lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub segment: u32,
    pub at: u32,
}

/// Of so many filled segments one is looked at for being emptied.
const OLDEST_PART: usize = 4;

#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Segment {
    used_bytes: u32,
    /// Bytes of the records that count.
    live_bytes: u32,
    /// What was written here; some of it may have gone or be elsewhere now.
    blocks: Vec<Key>,
}

#[derive(Debug)]
pub(crate) struct Segments {
    segment_bytes: u32,
    all: Vec<Segment>,
    free: VecDeque<u32>,
    /// Oldest first.
    filled: VecDeque<u32>,
    open: Option<u32>,
}

impl Segments {
    /// `count` segments, all free; at least two.
    pub(crate) fn new(count: u32, segment_bytes: u32) -> Segments {
        let all = vec![Segment::default(); count as usize];
        Segments { segment_bytes, all, free: (0..count).collect(), filled: VecDeque::new(), open: None }
    }

    /// Segments of which some are filled already: number and used bytes, oldest first. None: they are not all different,
    /// or not within their bounds.
    pub(crate) fn filled(count: u32, segment_bytes: u32, filled: &[(u32, u32)]) -> Option<Segments> {
        let mut segments = Segments::new(count, segment_bytes);
        let mut is_free = vec![true; count as usize];
        for (number, used_bytes) in filled {
            if !std::mem::replace(is_free.get_mut(*number as usize)?, false) || *used_bytes > segment_bytes {
                return None;
            }
            segments.all[*number as usize].used_bytes = *used_bytes;
            segments.filled.push_back(*number);
        }
        segments.free.retain(|number| is_free[*number as usize]);
        Some(segments)
    }

    pub(crate) fn segment_bytes(&self) -> u32 {
        self.segment_bytes
    }
    pub(crate) fn count(&self) -> u32 {
        self.all.len() as u32
    }
    /// Bytes of all records that count.
    pub(crate) fn live_bytes(&self) -> u64 {
        self.all.iter().map(|segment| u64::from(segment.live_bytes)).sum()
    }
    /// Number and used bytes of all segments with something in them, oldest first.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (u32, u32)> {
        self.filled.iter().chain(&self.open).map(|number| (*number, self.all[*number as usize].used_bytes))
    }

    /// What was written into a segment; some of it may have gone or be elsewhere now, some may be there twice.
    pub(crate) fn blocks(&self, number: u32) -> &[Key] {
        self.all.get(number as usize).map_or(&[], |segment| &segment.blocks)
    }
    /// The segment that is being written, and its used bytes.
    pub(crate) fn open(&self) -> Option<(u32, u32)> {
        self.open.map(|number| (number, self.all[number as usize].used_bytes))
    }

    /// Room for a record; None if it is longer than a segment, or if a segment must be emptied first.
    pub(crate) fn room(&mut self, len: u32) -> Option<Place> {
        if let Some(place) = self.room_in_open(len) {
            return Some(place);
        }
        if len > self.segment_bytes {
            return None;
        }
        let next = self.free.pop_front()?;
        if let Some(full) = self.open.replace(next) {
            let live = self.all[full as usize].live_bytes > 0;
            if live { self.filled.push_back(full) } else { self.free.push_back(full) }
        }
        self.all[next as usize] = Segment::default();
        self.room_in_open(len)
    }

    /// Room for a record in the segment that is open.
    pub(crate) fn room_in_open(&mut self, len: u32) -> Option<Place> {
        let number = self.open?;
        let segment = &mut self.all[number as usize];
        let at = segment.used_bytes;
        let end = at.checked_add(len).filter(|end| *end <= self.segment_bytes)?;
        segment.used_bytes = end;
        Some(Place { segment: number, at })
    }

    /// The record was not written after all.
    pub(crate) fn give_back(&mut self, place: Place, len: u32) {
        let segment = &mut self.all[place.segment as usize];
        if self.open == Some(place.segment) && segment.used_bytes == place.at + len {
            segment.used_bytes = place.at;
        }
    }

    /// The record counts from now on. False: it is not within what was handed out.
    pub(crate) fn add(&mut self, place: Place, len: u32, key: Key) -> bool {
        let Some(segment) = self.all.get_mut(place.segment as usize) else { return false };
        let live_bytes = segment.live_bytes.checked_add(len).filter(|live| *live <= segment.used_bytes);
        let inside = place.at.checked_add(len).is_some_and(|end| end <= segment.used_bytes);
        let (Some(live_bytes), true) = (live_bytes, inside) else { return false };
        segment.live_bytes = live_bytes;
        segment.blocks.push(key);
        true
    }

    /// The record does not count any more; a segment without any is free.
    pub(crate) fn remove(&mut self, place: Place, len: u32) {
        let segment = &mut self.all[place.segment as usize];
        segment.live_bytes -= len;
        if segment.live_bytes == 0 && self.open != Some(place.segment) {
            self.filled.retain(|number| *number != place.segment);
            self.free.push_back(place.segment);
        }
    }

    /// Filled segments in which nothing counts are free.
    pub(crate) fn free_empty(&mut self) {
        let (empty, filled): (VecDeque<u32>, _) =
            self.filled.drain(..).partition(|number| self.all[*number as usize].live_bytes == 0);
        self.filled = filled;
        self.free.extend(empty);
    }

    /// The segment to be emptied before there is room for more, and what was written there; None: there is a free one.
    pub(crate) fn to_empty(&self) -> Option<(u32, Vec<Key>)> {
        if !self.free.is_empty() {
            return None;
        }
        let oldest = self.filled.iter().take((self.filled.len() / OLDEST_PART).max(1));
        let number = *oldest.min_by_key(|number| self.all[**number as usize].live_bytes)?;
        Some((number, self.all[number as usize].blocks.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tier::FileName;

    fn key(offset: u64) -> Key {
        Key { file: FileName([7; 16]), offset }
    }

    fn put(segments: &mut Segments, len: u32, offset: u64) -> Option<Place> {
        let place = segments.room(len)?;
        assert!(segments.add(place, len, key(offset)));
        Some(place)
    }

    #[test]
    fn room_is_given_from_front_to_back_until_a_segment_must_be_emptied() {
        let mut segments = Segments::new(3, 100);
        let places: Vec<_> = (0..7).map_while(|i| put(&mut segments, 40, i)).map(|p| (p.segment, p.at)).collect();
        assert_eq!(places, [(0, 0), (0, 40), (1, 0), (1, 40), (2, 0), (2, 40)]);
        assert_eq!(put(&mut segments, 20, 9), Some(Place { segment: 2, at: 80 }));
        assert_eq!((segments.live_bytes(), segments.room(101), segments.room(u32::MAX)), (260, None, None));
        assert_eq!(segments.to_empty(), Some((0, vec![key(0), key(1)])));
        segments.remove(Place { segment: 0, at: 0 }, 40);
        assert!(segments.room(40).is_none(), "half of it counts");
        segments.remove(Place { segment: 0, at: 40 }, 40);
        assert_eq!(segments.to_empty(), None);
        assert_eq!(put(&mut segments, 100, 10), Some(Place { segment: 0, at: 0 }));
        assert_eq!(segments.in_order().collect::<Vec<_>>(), [(1, 80), (2, 100), (0, 100)]);
    }

    #[test]
    fn of_the_oldest_the_one_with_the_least_is_emptied() {
        let mut segments = Segments::new(9, 100);
        let places: Vec<_> = (0..18).map(|i| put(&mut segments, 50, i).unwrap()).collect();
        assert_eq!(segments.to_empty().unwrap().0, 0);
        segments.remove(places[2], 50);
        assert_eq!(segments.to_empty().unwrap().0, 1);
        segments.remove(places[6], 50);
        assert_eq!(segments.to_empty().unwrap().0, 1, "segment 3 is not among the oldest");
        segments.remove(places[7], 50);
        assert_eq!(segments.to_empty(), None, "it is free");
        assert_eq!(put(&mut segments, 1, 99), Some(Place { segment: 3, at: 0 }));
    }

    #[test]
    fn what_was_not_written_is_given_back_and_an_open_segment_stays_open() {
        let mut segments = Segments::new(2, 100);
        let place = segments.room(60).unwrap();
        segments.give_back(place, 60);
        let again = put(&mut segments, 60, 1).unwrap();
        assert_eq!(again, place);
        segments.remove(again, 60);
        assert_eq!(segments.room(60), Some(Place { segment: 1, at: 0 }), "60 bytes of the first are used");
        assert_eq!(segments.room(60), Some(Place { segment: 0, at: 0 }), "nothing in it counted");
    }

    #[test]
    fn what_is_said_to_be_filled_is_checked() {
        assert!(Segments::filled(3, 100, &[(0, 100), (2, 7)]).is_some());
        for wrong in [&[(3, 1)][..], &[(0, 101)], &[(1, 5), (1, 5)]] {
            assert!(Segments::filled(3, 100, wrong).is_none(), "{wrong:?}");
        }
        let mut segments = Segments::filled(3, 100, &[(1, 50)]).unwrap();
        assert!(!segments.add(Place { segment: 1, at: 20 }, 31, key(1)));
        assert!(!segments.add(Place { segment: 3, at: 0 }, 1, key(1)));
        assert!(!segments.add(Place { segment: 1, at: u32::MAX }, 1, key(1)));
        assert!(segments.add(Place { segment: 1, at: 20 }, 30, key(1)));
        assert!(!segments.add(Place { segment: 1, at: 0 }, 21, key(2)), "more than was used");
        assert_eq!(put(&mut segments, 1, 3), Some(Place { segment: 0, at: 0 }));
    }
}
