//! The rows: keys and values in the shape of HBase's PerformanceEvaluation, every byte of which follows from the row's number.
//!
//! ```text
//! key      00000000000000000000001234            26 digits
//! value    GGGGGGGGAAAAAAAAQQQQQQQQ…             runs of eight equal letters; which, follows from row and column
//! ```
//! PerformanceEvaluation draws the letters anew for each row; here they can be checked.

/// Bytes of a key.
pub const KEY_LEN: usize = 26;
pub type Key = [u8; KEY_LEN];
/// The family of every table.
pub const FAMILY: &str = "info0";
/// Bytes of equal letters in a value.
const RUN: usize = 8;
const LETTERS: u64 = 26;

/// A table of the experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub table: &'static str,
    /// Columns are named `0`, `1`, … `9`.
    pub columns: usize,
    pub value_len: usize,
}

/// One value of 1,000 bytes a row.
pub const SINGLE: Shape = Shape { table: "TestTable", columns: 1, value_len: 1000 };
/// Ten values of 100 bytes a row.
pub const TEN: Shape = Shape { table: "TestTable10", columns: 10, value_len: 100 };

impl Shape {
    /// Name of the column at `index`.
    pub fn qualifier(index: usize) -> [u8; 1] {
        [b'0' + index as u8]
    }
    /// Bytes of the row's values.
    pub fn row_bytes(&self) -> usize {
        self.columns * self.value_len
    }
}

/// The key of a row.
pub fn key(number: u64) -> Key {
    let mut key = [b'0'; KEY_LEN];
    let mut rest = number;
    for digit in key.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    key
}

/// The letters of a value, run by run.
fn letters(row: u64, column: usize) -> impl Iterator<Item = u8> {
    // Another factor than the step's: neighbours would have the same letters, shifted.
    let mut state = (row << 4 | column as u64).wrapping_mul(0xd134_2543_de82_ef95);
    std::iter::repeat_with(move || {
        // One step of SplitMix64 a run.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        b'A' + (((mixed >> 32) * LETTERS) >> 32) as u8
    })
}

/// Appends a value.
pub fn put_value(out: &mut Vec<u8>, row: u64, column: usize, len: usize) {
    let end = out.len() + len;
    for letter in letters(row, column).take(len.div_ceil(RUN)) {
        out.resize((out.len() + RUN).min(end), letter);
    }
}

/// Whether these are the bytes of that value.
pub fn is_value(value: &[u8], row: u64, column: usize, len: usize) -> bool {
    value.len() == len
        && value.chunks(RUN).zip(letters(row, column)).all(|(run, letter)| run.iter().all(|b| *b == letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_padded_numbers() {
        assert_eq!(&key(0), b"00000000000000000000000000");
        assert_eq!(&key(1234), b"00000000000000000000001234");
        assert_eq!(&key(u64::MAX), b"00000018446744073709551615");
    }

    #[test]
    fn a_value_belongs_to_its_row_and_column_alone() {
        let mut value = Vec::new();
        put_value(&mut value, 7, 0, 1000);
        assert_eq!(value.len(), 1000);
        assert!(value.chunks(8).all(|run| run.iter().all(|b| *b == run[0] && b.is_ascii_uppercase())));
        assert!(is_value(&value, 7, 0, 1000));
        assert!(!is_value(&value, 8, 0, 1000));
        assert!(!is_value(&value, 7, 1, 1000));
        assert!(!is_value(&value[..992], 7, 0, 1000));
        for at in [0, 500, 999] {
            let mut other = value.clone();
            other[at] ^= 1;
            assert!(!is_value(&other, 7, 0, 1000), "byte {at}");
        }
    }

    #[test]
    fn lengths_need_not_be_whole_runs_and_all_letters_occur() {
        let mut value = Vec::new();
        put_value(&mut value, 1, 3, 100);
        assert!(value.len() == 100 && is_value(&value, 1, 3, 100));
        let mut seen = [0u32; 26];
        for row in 0..1000 {
            for letter in letters(row, 0).take(10) {
                seen[usize::from(letter - b'A')] += 1;
            }
        }
        assert!(seen.iter().all(|n| (250..550).contains(n)), "{seen:?}");
    }
}
