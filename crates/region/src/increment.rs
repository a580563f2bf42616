//! Increment: adds to 8-byte big-endian numbers.

use crate::RegionError;
use martite_cell::CellRef;

/// The sum; it wraps as Java's does.
pub(crate) fn new_value(delta: &CellRef<'_>, current: Option<&CellRef<'_>>) -> Result<Vec<u8>, RegionError> {
    let amount = number(delta.value)?;
    let sum = match current {
        Some(old) => number(old.value)?.wrapping_add(amount),
        None => amount,
    };
    Ok(sum.to_be_bytes().to_vec())
}

fn number(value: &[u8]) -> Result<i64, RegionError> {
    let bytes: [u8; 8] = value
        .try_into()
        .map_err(|_| RegionError::DoNotRetry(format!("Field is not a long, it's {} bytes wide", value.len())))?;
    Ok(i64::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_cell::OwnedCell;

    fn cell(value: &[u8]) -> OwnedCell {
        OwnedCell::put(b"r", b"f", b"q", 1, value)
    }

    #[test]
    fn sums_wrap_and_other_widths_are_refused() {
        let (max, one) = (cell(&i64::MAX.to_be_bytes()), cell(&1i64.to_be_bytes()));
        assert_eq!(new_value(&one.as_ref(), Some(&max.as_ref())).unwrap(), i64::MIN.to_be_bytes());
        assert_eq!(new_value(&one.as_ref(), None).unwrap(), 1i64.to_be_bytes());
        let error = new_value(&one.as_ref(), Some(&cell(b"abc").as_ref())).unwrap_err();
        assert_eq!(error.to_string(), "Field is not a long, it's 3 bytes wide");
    }
}
