//! Time to live of single cells: a tag (type 8) with milliseconds.

use martite_cell::{CellBuf, CellRef, tags};

/// The cells with their tags, the TTL tag replaced.
pub(crate) fn with_ttl(cells: &CellBuf, ttl_ms: u64) -> CellBuf {
    let mut out = CellBuf::new(true);
    let mut section = Vec::new();
    for cell in cells.iter() {
        section.clear();
        section.extend_from_slice(cell.tags);
        set_ttl(&mut section, ttl_ms);
        out.push(&CellRef { tags: &section, ..cell });
    }
    out
}

/// Replaces the first TTL tag of a section, or adds one; a section that cannot be read is dropped.
pub(crate) fn set_ttl(section: &mut Vec<u8>, ttl_ms: u64) {
    let mut out = Vec::with_capacity(section.len() + 11);
    let mut replaced = false;
    for (tag_type, value) in tags::iter(section).map_while(Result::ok) {
        if tag_type == tags::TTL && !replaced {
            replaced = true;
        } else {
            tags::append(&mut out, tag_type, value);
        }
    }
    tags::append(&mut out, tags::TTL, &ttl_ms.to_be_bytes());
    *section = out;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ttl_tag_is_replaced_and_others_stay() {
        let mut section = Vec::new();
        tags::append(&mut section, tags::ACL, b"a");
        set_ttl(&mut section, 5);
        set_ttl(&mut section, 7);
        let all: Vec<_> = tags::iter(&section).map(Result::unwrap).collect();
        assert_eq!(all, [(tags::ACL, &b"a"[..]), (tags::TTL, &7u64.to_be_bytes()[..])]);
    }
}
