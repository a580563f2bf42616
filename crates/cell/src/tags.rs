//! Tags: small typed attachments of a cell, `| u16 length (type and value) | u8 type | value |` repeated.

use crate::CellError;

/// Tag types, as HBase numbers them.
pub const ACL: u8 = 1;
pub const VISIBILITY: u8 = 2;
pub const VISIBILITY_EXP_SERIALIZATION_FORMAT: u8 = 4;
pub const MOB_REFERENCE: u8 = 5;
pub const MOB_TABLE_NAME: u8 = 6;
pub const STRING_VIS: u8 = 7;
/// Time to live of the cell in ms, i64.
pub const TTL: u8 = 8;

/// The tags of a section, in order. Stops with an error at the first malformed one.
pub fn iter(section: &[u8]) -> Iter<'_> {
    Iter { rest: section }
}

pub struct Iter<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Iter<'a> {
    type Item = Result<(u8, &'a [u8]), CellError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let rest = std::mem::take(&mut self.rest);
        let available = rest.len();
        if available < 3 {
            return Some(Err(CellError::Truncated { what: "tag", needed: 3, available }));
        }
        let len = u16::from_be_bytes([rest[0], rest[1]]) as usize;
        if len == 0 || available < 2 + len {
            return Some(Err(CellError::Truncated { what: "tag", needed: 2 + len.max(1), available }));
        }
        self.rest = &rest[2 + len..];
        Some(Ok((rest[2], &rest[3..2 + len])))
    }
}

/// The first tag of `tag_type`, if the section is sound and has one.
pub fn find(section: &[u8], tag_type: u8) -> Option<&[u8]> {
    iter(section).map_while(Result::ok).find(|(t, _)| *t == tag_type).map(|(_, v)| v)
}

/// Time to live that the cell's tags give it, in ms.
pub fn ttl_ms(section: &[u8]) -> Option<u64> {
    let v = find(section, TTL)?;
    Some(u64::from_be_bytes(v.try_into().ok()?))
}

/// Appends one tag. The value must leave room for its type in a u16 length (checked where requests are decoded).
pub fn append(out: &mut Vec<u8>, tag_type: u8, value: &[u8]) {
    debug_assert!(value.len() < u16::MAX as usize);
    out.extend_from_slice(&((value.len() + 1) as u16).to_be_bytes());
    out.push(tag_type);
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_come_back_in_order_and_torn_ones_are_errors() {
        let mut section = Vec::new();
        append(&mut section, TTL, &1000u64.to_be_bytes());
        append(&mut section, ACL, b"x");
        let got: Result<Vec<_>, _> = iter(&section).collect();
        assert_eq!(got.unwrap(), vec![(TTL, &1000u64.to_be_bytes()[..]), (ACL, &b"x"[..])]);
        assert_eq!(ttl_ms(&section), Some(1000));
        assert!(iter(&section[..section.len() - 1]).any(|t| t.is_err()));
    }
}
