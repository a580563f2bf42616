//! FuzzyRowFilter: rows that agree with a key at the positions that a mask fixes; seeks from match to match.
//!
//! ```text
//! key   u s e r ? ? _ 7        row  user03_6  differs at position 7: 6 < 7
//! mask  0 0 0 0 1 1 0 0        next user03_7  (set it; what follows as small as it can be)
//!                              row  user03_8  differs at position 7: 8 > 7
//!                              next user04_7  (count up the last free position before it)
//! ```
//! A row matches if it agrees over the shorter of the two lengths, so a row may be longer or shorter than the key.
//! Masks come in three forms: public (0 fixed, 1 any), and two that clients made for themselves (-1 fixed, 0 or 2 any).
//! A mask with a byte other than 0 and 1 is of the latter kind; only zeros could be either and means all fixed.

use super::prefix::successor;
use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use crate::required::{Required, required};
use martite_cell::{CellRef, key};
use martite_proto as pb;

/// One key with its mask.
struct Pattern {
    key: Vec<u8>,
    fixed: Vec<bool>,
    /// Length without the free positions at the end.
    fixed_len: usize,
    next: Next,
}

/// What is known about a pattern's next matching row.
enum Next {
    Unknown,
    /// The row to seek to; good until the scan has passed it.
    At(Vec<u8>),
    /// No row from here on matches.
    Exhausted,
}

struct FuzzyRow {
    patterns: Vec<Pattern>,
    /// Where the last match was: neighbours tend to match the same pattern.
    last_match: usize,
    reversed: bool,
    filter_row: bool,
    done: bool,
}

const PAIR: &[Required] = &[required(1, "fuzzy_keys_data.first"), required(2, "fuzzy_keys_data.second")];

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::FuzzyRowFilter = input.message(&[])?;
    if !proto.fuzzy_keys_data.is_empty() {
        input.message::<pb::FuzzyRowFilter>(&[Required { tag: 1, name: "fuzzy_keys_data", inside: PAIR }])?;
    }
    let mut patterns = Vec::with_capacity(proto.fuzzy_keys_data.len());
    for pair in &proto.fuzzy_keys_data {
        let (key, mask) = (&pair.first, &pair.second);
        if key.len() != mask.len() {
            return Err(input.malformed(format!("a key of {} bytes has a mask of {}", key.len(), mask.len())));
        }
        if key.len() > key::MAX_ROW_LENGTH {
            return Err(input.malformed("a key is longer than a row can be"));
        }
        patterns.push(Pattern::new(key, mask));
    }
    Ok(Box::new(FuzzyRow { patterns, last_match: 0, reversed: false, filter_row: false, done: false }))
}

impl Pattern {
    fn new(key: &[u8], mask: &[u8]) -> Pattern {
        let public = mask.iter().all(|&m| m <= 1);
        let fixed: Vec<bool> = mask.iter().map(|&m| if public { m == 0 } else { m == 0xff }).collect();
        let fixed_len = fixed.iter().rposition(|&fixed| fixed).map_or(0, |last| last + 1);
        Pattern { key: key.to_vec(), fixed, fixed_len, next: Next::Unknown }
    }

    /// The first position at which `row` differs from the key.
    fn mismatch(&self, row: &[u8]) -> Option<usize> {
        let len = row.len().min(self.fixed_len);
        (0..len).find(|&i| self.fixed[i] && self.key[i] != row[i])
    }

    /// The nearest row ahead of `row` that matches; in a reversed scan an upper bound (exclusive) of the nearest ones.
    fn next_after(&self, row: &[u8], reversed: bool) -> Option<Vec<u8>> {
        let (least, greatest) = if reversed { (0xff, 0) } else { (0, 0xff) };
        let Some(differs) = self.mismatch(row) else {
            // It matches itself: what is next to it may match as well.
            return Some(if reversed { row.to_vec() } else { [row, &[0]].concat() });
        };
        let ahead = (row[differs] < self.key[differs]) != reversed;
        // Keep `row` up to here; from here on the key, free positions as near as can be.
        let mut next = row[..differs].to_vec();
        let mut len = self.fixed_len;
        if !ahead {
            let free = (0..differs).rev().find(|&i| !self.fixed[i] && row[i] != greatest)?;
            next.truncate(free);
            next.push(if reversed { row[free] - 1 } else { row[free] + 1 });
            len = len.max(free + 1);
        }
        next.extend((next.len()..len).map(|i| if self.fixed[i] { self.key[i] } else { least }));
        if reversed { successor(&next) } else { Some(next) }
    }

    fn is_ahead(row: &[u8], next: &[u8], reversed: bool) -> bool {
        if reversed { next < row } else { next > row }
    }

    /// Brings `next` up to date for a scan that stands at `row`.
    fn update(&mut self, row: &[u8], reversed: bool) {
        let stale = match &self.next {
            Next::Unknown => true,
            Next::At(next) => !Pattern::is_ahead(row, next, reversed),
            Next::Exhausted => false,
        };
        if stale {
            self.next = self.next_after(row, reversed).map_or(Next::Exhausted, Next::At);
        }
    }
}

impl FuzzyRow {
    /// The nearest of the patterns' next rows; None: nothing will match any more.
    fn nearest(&mut self, row: &[u8]) -> Option<&[u8]> {
        let reversed = self.reversed;
        let mut nearest: Option<&[u8]> = None;
        for pattern in &mut self.patterns {
            pattern.update(row, reversed);
            if let Next::At(next) = &pattern.next
                && nearest.is_none_or(|best| if reversed { &next[..] > best } else { &next[..] < best })
            {
                nearest = Some(next);
            }
        }
        nearest
    }
}

impl Evaluate for FuzzyRow {
    fn name(&self) -> &'static str {
        "FuzzyRowFilter"
    }
    fn reset(&mut self) {
        self.filter_row = false;
    }
    fn filter_all_remaining(&mut self) -> bool {
        self.done
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let row = cell.row();
        let count = self.patterns.len();
        let order = (self.last_match..count).chain(0..self.last_match.min(count));
        for i in order {
            if self.patterns[i].mismatch(row).is_none() {
                self.last_match = i;
                return Ok(ReturnCode::Include);
            }
        }
        self.last_match = 0;
        self.filter_row = true;
        if self.reversed && self.nearest(row).is_some_and(|next| !Pattern::is_ahead(row, next, true)) {
            // The bound is this very row: a seek would come back to it.
            return Ok(ReturnCode::NextRow);
        }
        Ok(ReturnCode::SeekNextUsingHint)
    }
    fn next_hint(&mut self, cell: &CellRef<'_>) -> Option<Vec<u8>> {
        match self.nearest(cell.row()) {
            Some(next) => Some(key::first_on_row(next)),
            None => {
                self.done = true;
                None
            }
        }
    }
    fn filter_row(&mut self) -> bool {
        self.filter_row
    }
    fn set_reversed(&mut self, reversed: bool) {
        self.reversed = reversed;
    }
    fn gives_hints(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan_model::*;

    fn filter(pairs: &[(&[u8], &[u8])]) -> pb::Filter {
        let pair = |(key, mask): &(&[u8], &[u8])| pb::BytesBytesPair {
            first: key.to_vec().into(),
            second: mask.to_vec().into(),
        };
        let fuzzy_keys_data = pairs.iter().map(pair).collect();
        filter_proto("FuzzyRowFilter", &pb::FuzzyRowFilter { fuzzy_keys_data, is_mask_v2: None })
    }

    const ROWS: &str = "a1x f:q=1 | a1y f:q=2 | a2x f:q=3 f:r=3 | a2xx f:q=4 | b f:q=5 | b1x f:q=6 | c f:q=7";

    #[test]
    fn masks_of_every_client_mean_the_same() {
        let want = "a1x f:q=1 | a2x f:q=3 f:r=3 | a2xx f:q=4";
        let masks: [&[u8]; 3] = [&[0, 1, 0], &[0xff, 0, 0xff], &[0xff, 2, 0xff]];
        for mask in masks {
            check(&filter(&[(b"a?x", mask)]), ROWS, want);
            check_reversed(&filter(&[(b"a?x", mask)]), ROWS, "a2xx f:q=4 | a2x f:q=3 f:r=3 | a1x f:q=1");
        }
        check(&filter(&[(b"a2x", &[0, 0, 0])]), ROWS, "a2x f:q=3 f:r=3 | a2xx f:q=4");
        check(&filter(&[(b"???", &[1, 1, 1])]), ROWS, ROWS);
    }

    #[test]
    fn several_keys_and_short_rows() {
        check(&filter(&[(b"b?x", &[0, 1, 0]), (b"a1y", &[0, 0, 0])]), ROWS, "a1y f:q=2 | b1x f:q=6");
        // "b" is shorter than the key and agrees as far as it goes, but a seek leads beyond it.
        codes(&filter(&[(b"b?x", &[0, 1, 0])]), "a f:q=1 | b f:q=1 | b1x f:q=1", "SeekNextUsingHint Include Include");
        check(&filter(&[]), ROWS, "");
        check(&filter(&[(b"zz", &[0, 0])]), ROWS, "");
        check_reversed(&filter(&[(b"A", &[0])]), ROWS, "");
    }

    #[test]
    fn the_next_row_is_the_nearest_that_can_match() {
        // key, mask (0 fixed), row, next, bound of a reversed scan
        type Case = (&'static [u8], &'static [u8], &'static [u8], Option<&'static [u8]>, Option<&'static [u8]>);
        let cases: [Case; 9] = [
            (b"user??_7", &[0, 0, 0, 0, 1, 1, 0, 0], b"user03_6", Some(b"user03_7"), Some(b"user02_8")),
            (b"user??_7", &[0, 0, 0, 0, 1, 1, 0, 0], b"user03_8", Some(b"user04_7"), Some(b"user03_8")),
            (b"user??_7", &[0, 0, 0, 0, 1, 1, 0, 0], b"abc", Some(b"user\0\0_7"), None),
            (b"user??_7", &[0, 0, 0, 0, 1, 1, 0, 0], b"z", None, Some(b"user\xff\xff_8")),
            (b"?b?", &[1, 0, 1], b"aaa", Some(b"ab"), Some(b"`c")),
            (b"?b?", &[1, 0, 1], b"\xffca", None, Some(b"\xffc")),
            (b"?b", &[1, 0], b"\0a", Some(b"\0b"), None),
            (b"a", &[0], b"b", None, Some(b"b")),
            (b"??\x00", &[1, 1, 0], b"\x01\xff\x05", Some(b"\x02\x00\x00"), Some(b"\x01\xff\x01")),
        ];
        for (key, mask, row, next, bound) in cases {
            let pattern = Pattern::new(key, mask);
            assert_eq!(pattern.next_after(row, false).as_deref(), next, "after {}", row.escape_ascii());
            assert_eq!(pattern.next_after(row, true).as_deref(), bound, "before {}", row.escape_ascii());
        }
    }

    /// Every row of a small alphabet, against the plain definition of a match: no seek may leap over a match that is
    /// as long as the pattern's fixed part.
    #[test]
    fn seeks_never_leap_over_a_match() {
        let alphabet = [0u8, 1, 2, 0xff];
        let rows: Vec<[u8; 3]> = (0..64).map(|i| [alphabet[i / 16], alphabet[i / 4 % 4], alphabet[i % 4]]).collect();
        for mask in 0..8u8 {
            let mask = [mask & 1, mask >> 1 & 1, mask >> 2];
            for key in &rows {
                let pattern = Pattern::new(key, &mask);
                for row in &rows {
                    if pattern.mismatch(row).is_none() {
                        continue;
                    }
                    let next = pattern.next_after(row, false);
                    let want = rows.iter().find(|r| *r > row && pattern.mismatch(&r[..]).is_none());
                    match (want, &next) {
                        (Some(want), Some(next)) => assert!(next[..] <= want[..] && next[..] > row[..]),
                        (want, next) => assert_eq!((want, next.is_some()), (None, false)),
                    }
                    let bound = pattern.next_after(row, true);
                    let want = rows.iter().rev().find(|r| *r < row && pattern.mismatch(&r[..]).is_none());
                    if let Some(want) = want {
                        assert!(bound.is_some_and(|bound| bound[..] > want[..] && bound[..] <= row[..]));
                    }
                }
            }
        }
    }

    #[test]
    fn bad_pairs_are_refused() {
        refused(&filter(&[(b"ab", &[0])]), "malformed FuzzyRowFilter: a key of 2 bytes has a mask of 1");
        let half = pb::Filter { serialized_filter: Some(vec![0x0a, 2, 0x0a, 0].into()), ..empty("FuzzyRowFilter") };
        refused(&half, "malformed FuzzyRowFilter: required field fuzzy_keys_data.second is missing");
    }
}
