//! The order of cells (HBase: CellComparatorImpl and MetaCellComparator).
//!
//! Row ascending, family ascending, qualifier ascending, timestamp **descending**, type code **descending**, sequence
//! id **descending**. Two keys are special: empty column with type Minimum sorts last of its row.
//! In hbase:meta the row is `table,start key,id`, and each of the three parts is compared on its own.

use crate::cell::CellRef;
use crate::key::{self, CellType};
use std::cmp::Ordering;

/// Which comparator a store uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    #[default]
    Default,
    /// hbase:meta's rows.
    Meta,
}

impl Order {
    #[inline]
    pub fn rows(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Order::Default => compare(a, b),
            Order::Meta => compare_meta_rows(a, b),
        }
    }

    /// Orders two flat keys; the sequence id is the caller's tie-breaker.
    #[inline]
    pub fn keys(self, a: &[u8], b: &[u8]) -> Ordering {
        match self.rows(key::row(a), key::row(b)) {
            Ordering::Equal => compare_without_row(a, b),
            other => other,
        }
    }

    /// Orders two cells, newest sequence id first among equal keys.
    #[inline]
    pub fn cells(self, a: &CellRef<'_>, b: &CellRef<'_>) -> Ordering {
        self.keys(a.key, b.key).then_with(|| b.seq_id.cmp(&a.seq_id))
    }
}

/// As `a.cmp(b)`, eight bytes at a time and without a call but for short rows.
#[inline]
fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let ((words, _), (others, _)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (word, other) in words.iter().zip(others) {
        if word != other {
            return u64::from_be_bytes(*word).cmp(&u64::from_be_bytes(*other));
        }
    }
    // What both have left, with bytes before it that are equal.
    let common = a.len().min(b.len());
    match (a[..common].last_chunk(), b[..common].last_chunk()) {
        (Some(word), Some(other)) if word != other => u64::from_be_bytes(*word).cmp(&u64::from_be_bytes(*other)),
        (Some(_), Some(_)) => a.len().cmp(&b.len()),
        _ => a.cmp(b),
    }
}

/// Orders the parts after the row of two keys of the same row.
#[inline]
pub fn compare_without_row(a: &[u8], b: &[u8]) -> Ordering {
    let (af, aq) = key::column(a);
    let (bf, bq) = key::column(b);
    let (at, bt) = (key::type_code(a), key::type_code(b));
    // "Last on row" keys: empty column, type Minimum.
    let a_last = af.len() + aq.len() == 0 && at == CellType::Minimum as u8;
    let b_last = bf.len() + bq.len() == 0 && bt == CellType::Minimum as u8;
    match (a_last, b_last) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    af.cmp(bf)
        .then_with(|| aq.cmp(bq))
        // Timestamps are signed in HBase.
        .then_with(|| (key::timestamp(b) as i64).cmp(&(key::timestamp(a) as i64)))
        .then_with(|| bt.cmp(&at))
}

/// Orders two rows of hbase:meta by table, start key and id, so that start keys may contain any byte.
pub fn compare_meta_rows(a: &[u8], b: &[u8]) -> Ordering {
    let comma = |row: &[u8]| row.iter().position(|&c| c == b',');
    let (ac, bc) = (comma(a), comma(b));
    let table_a = &a[..ac.unwrap_or(a.len())];
    let table_b = &b[..bc.unwrap_or(b.len())];
    let (ac, bc) = match (table_a.cmp(table_b), ac, bc) {
        (Ordering::Equal, Some(x), Some(y)) => (x, y),
        (Ordering::Equal, None, None) => return Ordering::Equal,
        (Ordering::Equal, None, Some(_)) => return Ordering::Less,
        (Ordering::Equal, Some(_), None) => return Ordering::Greater,
        (unequal, _, _) => return unequal,
    };
    let last = |row: &[u8], first: usize| row.iter().rposition(|&c| c == b',').unwrap_or(first);
    let (al, bl) = (last(a, ac), last(b, bc));
    let start = |row: &[u8], first: usize, last: usize| -> std::ops::Range<usize> {
        if last > first { first + 1..last } else { row.len().min(first + 1)..row.len().min(first + 1) }
    };
    let (ar, br) = (start(a, ac, al), start(b, bc, bl));
    a[ar].cmp(&b[br]).then_with(|| {
        // A row with a single comma has its id (if any) right after that comma.
        a[al.max(ac) + 1..].cmp(&b[bl.max(bc) + 1..])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{LATEST_TIMESTAMP, first_on_column, first_on_row, flat_key, last_on_column, last_on_row};

    #[test]
    fn order_inside_a_row_is_hbases() {
        let k = |f: &str, q: &str, ts: u64, t: CellType| flat_key(b"r", f.as_bytes(), q.as_bytes(), ts, t as u8);
        let sorted = [
            first_on_row(b"r"),
            k("f", "", 9, CellType::DeleteFamily),
            k("f", "a", LATEST_TIMESTAMP, CellType::Maximum),
            k("f", "a", 9, CellType::DeleteColumn),
            k("f", "a", 9, CellType::Delete),
            k("f", "a", 9, CellType::Put),
            k("f", "a", 8, CellType::Put),
            last_on_column(b"r", b"f", b"a"),
            first_on_column(b"r", b"f", b"b"),
            k("f", "b", 1, CellType::Put),
            last_on_row(b"r"),
            first_on_row(b"r0"),
        ];
        for i in 0..sorted.len() {
            for j in 0..sorted.len() {
                assert_eq!(Order::Default.keys(&sorted[i], &sorted[j]), i.cmp(&j), "{i} against {j}");
            }
        }
    }

    #[test]
    fn rows_compare_as_their_bytes() {
        let texts = [
            &b""[..],
            b"\0",
            b"user",
            b"user1234",
            b"user1235",
            b"user12345678",
            b"user1234567\xff",
            b"user123456789abcdef\x80x",
        ];
        let rows: Vec<&[u8]> = texts.iter().flat_map(|text| (0..=text.len()).map(|len| &text[..len])).collect();
        for a in &rows {
            for b in &rows {
                assert_eq!(Order::Default.rows(a, b), a.cmp(b), "{} {}", a.escape_ascii(), b.escape_ascii());
            }
        }
    }

    #[test]
    fn meta_rows_compare_part_by_part() {
        let less = |a: &[u8], b: &[u8]| {
            assert_eq!(compare_meta_rows(a, b), Ordering::Less, "{} < {}", a.escape_ascii(), b.escape_ascii());
            assert_eq!(compare_meta_rows(b, a), Ordering::Greater);
        };
        less(b"t", b"t,,");
        less(b"t,,1", b"t,a,1");
        less(b"t,a,1", b"t,a,2");
        less(b"t,a,2", b"t,a,b,1"); // start key "a,b"
        less(b"t,zz,9", b"t ,,"); // the table name decides, though ' ' sorts before ','
        less(b"t,\xff,1", b"t1,,1");
        less(b"t,a,99999999999999", b"t,b,");
        less(b"t,zzz,1", b"t\0");
        assert_eq!(compare_meta_rows(b"t,,1", b"t,,1"), Ordering::Equal);
    }
}
