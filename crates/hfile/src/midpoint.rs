//! Short index keys: any key after the last cell of one block and not after the first cell of the next will do.

use martite_cell::{CellType, LATEST_TIMESTAMP, Order, key};

/// A key with `left < key <= right`, shorter than `right` where their rows or qualifiers differ.
///
/// ```text
/// left row "the quick brown fox", right row "the who"  ->  first key of row "the r"
/// ```
pub(crate) fn between(order: Order, left: &[u8], right: &[u8]) -> Vec<u8> {
    // Rows of hbase:meta are not ordered as bytes.
    if order == Order::Meta {
        return right.to_vec();
    }
    let max = CellType::Maximum as u8;
    if let Some(row) = shortest(key::row(left), key::row(right)) {
        return key::flat_key(&row, &[], &[], LATEST_TIMESTAMP, max);
    }
    if key::family(left) == key::family(right)
        && let Some(qualifier) = shortest(key::qualifier(left), key::qualifier(right))
    {
        return key::flat_key(key::row(right), key::family(right), &qualifier, LATEST_TIMESTAMP, max);
    }
    right.to_vec()
}

/// Bytes with `left < bytes <= right`; `None` unless `left < right`.
fn shortest(left: &[u8], right: &[u8]) -> Option<Vec<u8>> {
    let same = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    match (left.get(same), right.get(same)) {
        (None, Some(_)) => Some([left, &[0]].concat()),
        (Some(l), Some(r)) if l < r => Some([&left[..same], &[l + 1]].concat()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    #[test]
    fn shortest_is_between() {
        for (left, right, between) in [
            ("the quick brown fox", "the who", Some("the r")),
            ("a", "abc", Some("a\0")),
            ("a", "b", Some("b")),
            ("a", "a", None),
            ("b", "a", None),
            ("ab", "a", None),
        ] {
            assert_eq!(shortest(left.as_bytes(), right.as_bytes()), between.map(|b| b.as_bytes().to_vec()));
        }
        assert_eq!(shortest(b"\xfe\xff", b"\xff"), Some(vec![0xff]));
    }

    #[test]
    fn keys_are_between_and_shorter() {
        let k = |row: &[u8], q: &[u8], ts: u64| key::flat_key(row, b"f", q, ts, 4);
        let keys = [
            k(b"", b"", 5),
            k(b"", b"a", 5),
            k(b"a", b"a", 9),
            k(b"a", b"a", 5),
            k(b"a", b"abc", 5),
            k(b"a", b"b", 5),
            k(b"a\0", b"b", 5),
            k(b"a\xff", b"b", 5),
            k(b"b", b"", 5),
        ];
        for pair in keys.windows(2) {
            let middle = between(Order::Default, &pair[0], &pair[1]);
            assert_eq!(Order::Default.keys(&pair[0], &middle), Ordering::Less);
            assert_ne!(Order::Default.keys(&middle, &pair[1]), Ordering::Greater);
            assert!(middle.len() <= pair[1].len() + 1);
            assert_eq!(between(Order::Meta, &pair[0], &pair[1]), pair[1]);
        }
    }
}
