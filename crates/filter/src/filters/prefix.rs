//! PrefixFilter: rows that begin with the prefix; seeks to the first one and ends the scan after the last.
//!
//! The scan may stand before the prefix's rows, among them or beyond them, in its own direction.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use bytes::Bytes;
use martite_cell::{CellRef, key};
use martite_proto as pb;
use std::cmp::Ordering;

struct Prefix {
    /// Without a prefix nothing passes.
    prefix: Option<Bytes>,
    reversed: bool,
    before: bool,
    beyond: bool,
    filter_row: bool,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::PrefixFilter = input.message(&[])?;
    if proto.prefix.as_ref().is_some_and(|p| p.len() > key::MAX_ROW_LENGTH) {
        return Err(input.malformed("the prefix is longer than a row can be"));
    }
    let prefix = proto.prefix;
    Ok(Box::new(Prefix { prefix, reversed: false, before: false, beyond: false, filter_row: true }))
}

impl Evaluate for Prefix {
    fn name(&self) -> &'static str {
        "PrefixFilter"
    }
    fn reset(&mut self) {
        self.filter_row = true;
    }
    fn filter_all_remaining(&mut self) -> bool {
        self.beyond
    }
    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        let Some(prefix) = &self.prefix else {
            return Ok(true);
        };
        if self.beyond {
            return Ok(true);
        }
        let position = row[..row.len().min(prefix.len())].cmp(prefix);
        let ahead = if self.reversed { position.reverse() } else { position };
        self.before = ahead == Ordering::Less;
        self.beyond = ahead == Ordering::Greater;
        self.filter_row = position != Ordering::Equal;
        Ok(self.beyond)
    }
    fn watches_refused_rows(&self) -> bool {
        false
    }
    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(if self.before {
            ReturnCode::SeekNextUsingHint
        } else if self.filter_row {
            ReturnCode::NextRow
        } else {
            ReturnCode::Include
        })
    }
    fn next_hint(&mut self, _cell: &CellRef<'_>) -> Option<Vec<u8>> {
        let prefix = self.prefix.as_ref()?;
        if self.reversed { Some(key::first_on_row(&successor(prefix)?)) } else { Some(key::first_on_row(prefix)) }
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

/// The first row after every row that begins with `prefix`; None if there is no such row.
pub(super) fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&b| b != 0xff)?;
    let mut next = prefix[..=last].to_vec();
    next[last] += 1;
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::successor;
    use crate::scan_model::*;

    fn filter(prefix: &'static [u8]) -> pb::Filter {
        filter_proto("PrefixFilter", &pb::PrefixFilter { prefix: Some(prefix.into()) })
    }

    #[test]
    fn rows_with_the_prefix_in_both_directions() {
        let rows = "a f:a=1 | b f:a=2 | ba f:a=3 f:b=4 | bb f:a=5 | c f:a=6";
        check(&filter(b"b"), rows, "b f:a=2 | ba f:a=3 f:b=4 | bb f:a=5");
        check(&filter(b"ba"), rows, "ba f:a=3 f:b=4");
        check(&filter(b"bab"), rows, "");
        check(&filter(b""), rows, rows);
        check(&empty("PrefixFilter"), rows, "");
        check_reversed(&filter(b"b"), rows, "bb f:a=5 | ba f:a=3 f:b=4 | b f:a=2");
        hint(&filter(b"b"), "a f:a=1", "b");
    }

    #[test]
    fn a_long_prefix_is_refused() {
        let proto = pb::PrefixFilter { prefix: Some(vec![b'a'; 32768].into()) };
        refused(
            &filter_proto("PrefixFilter", &proto),
            "malformed PrefixFilter: the prefix is longer than a row can be",
        );
    }

    #[test]
    fn successors() {
        assert_eq!(successor(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(successor(b"a\xff\xff"), Some(b"b".to_vec()));
        assert_eq!(successor(b"\xff"), None);
        assert_eq!(successor(b""), None);
    }
}
