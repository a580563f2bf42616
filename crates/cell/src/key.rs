//! The flat key of a cell: building it, and reading its parts.
//!
//! Worked example, row `r1`, family `f`, qualifier `q`, timestamp 1, Put:
//! `00 02 | 72 31 | 01 | 66 | 71 | 00 00 00 00 00 00 00 01 | 04`.

use crate::CellError;

/// The timestamp that means "now" in a request; sorts before every other timestamp of its column.
pub const LATEST_TIMESTAMP: u64 = i64::MAX as u64;
/// Bytes of a flat key that are not row, family or qualifier.
pub const KEY_OVERHEAD: usize = 2 + 1 + TS_TYPE_SIZE;
/// Timestamp and type at the end of a flat key.
pub const TS_TYPE_SIZE: usize = 9;
/// Longest row, in bytes (HBase: Short.MAX_VALUE).
pub const MAX_ROW_LENGTH: usize = 32767;
/// Longest family name, in bytes.
pub const MAX_FAMILY_LENGTH: usize = 127;

/// Type codes of cells; values are HBase's and are persisted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum CellType {
    Minimum = 0,
    Put = 4,
    Delete = 8,
    DeleteFamilyVersion = 10,
    DeleteColumn = 12,
    DeleteFamily = 14,
    Maximum = 255,
}

impl CellType {
    pub fn from_code(code: u8) -> Option<CellType> {
        Some(match code {
            0 => CellType::Minimum,
            4 => CellType::Put,
            8 => CellType::Delete,
            10 => CellType::DeleteFamilyVersion,
            12 => CellType::DeleteColumn,
            14 => CellType::DeleteFamily,
            255 => CellType::Maximum,
            _ => return None,
        })
    }

    /// Whether cells of this type mark deletions.
    pub fn is_delete(self) -> bool {
        is_delete_code(self as u8)
    }
}

/// Whether `code` is one of the four delete markers.
#[inline]
pub fn is_delete_code(code: u8) -> bool {
    (CellType::Delete as u8..=CellType::DeleteFamily as u8).contains(&code)
}

/// Appends the flat key of a cell to `out`.
///
/// Lengths are the caller's duty: row ≤ 32767 and family ≤ 127 bytes (checked where requests are decoded).
pub fn append_key(out: &mut Vec<u8>, row: &[u8], family: &[u8], qualifier: &[u8], timestamp: u64, type_code: u8) {
    debug_assert!(row.len() <= MAX_ROW_LENGTH && family.len() <= u8::MAX as usize);
    out.reserve(KEY_OVERHEAD + row.len() + family.len() + qualifier.len());
    out.extend_from_slice(&(row.len() as u16).to_be_bytes());
    out.extend_from_slice(row);
    out.push(family.len() as u8);
    out.extend_from_slice(family);
    out.extend_from_slice(qualifier);
    out.extend_from_slice(&timestamp.to_be_bytes());
    out.push(type_code);
}

/// The flat key of a cell.
pub fn flat_key(row: &[u8], family: &[u8], qualifier: &[u8], timestamp: u64, type_code: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(KEY_OVERHEAD + row.len() + family.len() + qualifier.len());
    append_key(&mut out, row, family, qualifier, timestamp, type_code);
    out
}

/// The key that sorts before every cell of `row`.
pub fn first_on_row(row: &[u8]) -> Vec<u8> {
    flat_key(row, &[], &[], LATEST_TIMESTAMP, CellType::Maximum as u8)
}

/// The key that sorts after every cell of `row` and before the next row.
pub fn last_on_row(row: &[u8]) -> Vec<u8> {
    flat_key(row, &[], &[], i64::MIN as u64, CellType::Minimum as u8)
}

/// The key that sorts before every cell of the column.
pub fn first_on_column(row: &[u8], family: &[u8], qualifier: &[u8]) -> Vec<u8> {
    flat_key(row, family, qualifier, LATEST_TIMESTAMP, CellType::Maximum as u8)
}

/// The key that sorts after every cell of the column and before the next column.
pub fn last_on_column(row: &[u8], family: &[u8], qualifier: &[u8]) -> Vec<u8> {
    flat_key(row, family, qualifier, i64::MIN as u64, CellType::Minimum as u8)
}

/// Whether two rows, columns or other short slices are the same: as `==`, without a call. Those of neighbours mostly differ in
/// their last bytes.
#[inline(always)]
pub fn is_same(a: &[u8], b: &[u8]) -> bool {
    const LONG: usize = 64;
    if a.len() != b.len() {
        return false;
    }
    if a.len() > LONG {
        return a == b;
    }
    if let (Some(a_last), Some(b_last)) = (a.last_chunk::<8>(), b.last_chunk::<8>()) {
        let (words, _) = a.as_chunks::<8>();
        let (others, _) = b.as_chunks::<8>();
        return a_last == b_last && words.iter().zip(others).all(|(a, b)| a == b);
    }
    if let (Some(a_last), Some(b_last)) = (a.last_chunk::<4>(), b.last_chunk::<4>()) {
        return a_last == b_last && a.first_chunk::<4>() == b.first_chunk::<4>();
    }
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// Whether a key is of the row that is given as keys begin: `u16 length | row`.
#[inline(always)]
pub fn is_in_row(key: &[u8], row_prefix: &[u8]) -> bool {
    key.get(..row_prefix.len()).is_some_and(|prefix| is_same(prefix, row_prefix))
}

/// Checks that `key` is a well-formed flat key; afterwards the accessors below cannot go out of bounds.
pub fn check(key: &[u8]) -> Result<(), CellError> {
    let need = |needed: usize| {
        if key.len() < needed {
            Err(CellError::Truncated { what: "key", needed, available: key.len() })
        } else {
            Ok(())
        }
    };
    need(KEY_OVERHEAD)?;
    let row = row_len(key);
    need(KEY_OVERHEAD + row)?;
    need(KEY_OVERHEAD + row + key[2 + row] as usize)
}

#[inline]
pub fn row_len(key: &[u8]) -> usize {
    u16::from_be_bytes([key[0], key[1]]) as usize
}

#[inline]
pub fn row(key: &[u8]) -> &[u8] {
    &key[2..2 + row_len(key)]
}

#[inline]
pub fn family(key: &[u8]) -> &[u8] {
    let at = 2 + row_len(key);
    &key[at + 1..at + 1 + key[at] as usize]
}

#[inline]
pub fn qualifier(key: &[u8]) -> &[u8] {
    qualifier_at(key, 2 + row_len(key))
}

/// The qualifier of a key whose first `column_at` bytes are the row and its length.
#[inline(always)]
pub fn qualifier_at(key: &[u8], column_at: usize) -> &[u8] {
    &key[column_at + 1 + key[column_at] as usize..key.len() - TS_TYPE_SIZE]
}

/// Family and qualifier as they lie in the key, family first; with the family's length.
#[inline]
pub fn column(key: &[u8]) -> (&[u8], &[u8]) {
    let at = 2 + row_len(key);
    key[at + 1..key.len() - TS_TYPE_SIZE].split_at(key[at] as usize)
}

#[inline]
pub fn timestamp(key: &[u8]) -> u64 {
    let at = key.len() - TS_TYPE_SIZE;
    let mut ts = [0; 8];
    ts.copy_from_slice(&key[at..at + 8]);
    u64::from_be_bytes(ts)
}

#[inline]
pub fn type_code(key: &[u8]) -> u8 {
    key[key.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn slices_are_the_same_when_all_their_bytes_are() {
        let mut slices: Vec<Vec<u8>> = vec![b"Row-00000001".to_vec(), b"row-00000002".to_vec()];
        for len in (0..20).chain([31, 32, 33, 63, 64, 65, 100]) {
            slices.push(vec![b'a'; len]);
            for at in 0..len {
                let mut other = vec![b'a'; len];
                other[at] = b'b';
                slices.push(other);
            }
        }
        for (i, a) in slices.iter().enumerate() {
            for (j, b) in slices.iter().enumerate() {
                assert_eq!(is_same(a, b), i == j, "{} and {}", a.escape_ascii(), b.escape_ascii());
            }
        }
    }
}
