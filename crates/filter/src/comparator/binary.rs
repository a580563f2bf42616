//! BinaryPrefixComparator and BinaryComponentComparator: unsigned bytes against a part of the cell's.

use std::cmp::Ordering;

/// Values up to this length are compared byte by byte. `memcmp` takes whole vectors of them and leaves out what is behind their
/// end, but may wait for it all the same: for the next line of memory, if the bytes are the last ones of a key.
const SHORT: usize = 8;

/// Against as many of the cell's first bytes as the value has.
pub(super) fn compare_prefix(value: &[u8], cell: &[u8]) -> Ordering {
    let part = &cell[..value.len().min(cell.len())];
    if value.len() > SHORT {
        return value.cmp(part);
    }
    let differ = value.iter().zip(part).find(|(value, cell)| value != cell);
    differ.map_or(value.len().cmp(&part.len()), |(value, cell)| value.cmp(cell))
}

/// Against as many of the cell's bytes, from `offset` on; a cell that is too short has fewer.
pub(super) fn compare_component(value: &[u8], offset: usize, cell: &[u8]) -> Ordering {
    compare_prefix(value, cell.get(offset..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering::{Equal, Greater, Less};

    #[test]
    fn parts_of_the_cell_are_compared_unsigned() {
        let cases: [(&[u8], &[u8], Ordering); 8] = [
            (b"ab", b"abc", Equal),
            (b"ab", b"ab", Equal),
            (b"ab", b"a", Greater),
            (b"", b"zz", Equal),
            (b"\x80", b"\x7f\xff", Greater),
            (b"ab", b"b", Less),
            (b"a long value", b"a long value and more", Equal),
            (b"a long value", b"a long", Greater),
        ];
        for (value, cell, want) in cases {
            assert_eq!(compare_prefix(value, cell), want, "{} {}", value.escape_ascii(), cell.escape_ascii());
        }
        assert_eq!(compare_component(b"cd", 2, b"abcde"), Equal);
        assert_eq!(compare_component(b"ce", 2, b"abcd"), Greater);
        assert_eq!(compare_component(b"c", 9, b"abc"), Greater);
        assert_eq!(compare_component(b"", usize::MAX, b"abc"), Equal);
    }
}
