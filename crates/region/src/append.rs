//! Append: puts bytes at the end of a value.

use martite_cell::CellRef;

/// The old value, then the new bytes.
pub(crate) fn new_value(delta: &CellRef<'_>, current: Option<&CellRef<'_>>) -> Vec<u8> {
    let old = current.map_or(&[][..], |old| old.value);
    [old, delta.value].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_cell::OwnedCell;

    #[test]
    fn nothing_appended_to_is_an_empty_value() {
        let cell = |value| OwnedCell::put(b"r", b"f", b"q", 1, value);
        assert_eq!(new_value(&cell(b"b").as_ref(), Some(&cell(b"a").as_ref())), b"ab");
        assert_eq!(new_value(&cell(b"b").as_ref(), None), b"b");
    }
}
