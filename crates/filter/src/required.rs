//! Required fields: prost gives an absent one its default, so presence is looked for in the bytes.

use crate::error::{Result, malformed};

/// A required field of a message, and what is required inside it when it is a message itself.
pub(crate) struct Required {
    pub tag: u64,
    pub name: &'static str,
    pub inside: &'static [Required],
}

pub(crate) const fn required(tag: u64, name: &'static str) -> Required {
    Required { tag, name, inside: &[] }
}

/// Fails with the name of the first field of `wanted` that `message` lacks.
pub(crate) fn check(class: &str, message: &[u8], wanted: &[Required]) -> Result<()> {
    for field in wanted {
        let mut found = false;
        let mut rest = message;
        while let Some((tag, content, after)) = next_field(rest).map_err(|reason| malformed(class, reason))? {
            if tag == field.tag {
                found = true;
                check(class, content, field.inside)?;
            }
            rest = after;
        }
        if !found {
            return Err(malformed(class, format!("required field {} is missing", field.name)));
        }
    }
    Ok(())
}

type Field<'a> = (u64, &'a [u8], &'a [u8]);

/// Tag, content (of a length-delimited field) and the rest of the message.
fn next_field(message: &[u8]) -> std::result::Result<Option<Field<'_>>, &'static str> {
    if message.is_empty() {
        return Ok(None);
    }
    let (key, rest) = varint(message)?;
    let len = match key & 7 {
        0 => {
            let (_, after) = varint(rest)?;
            return Ok(Some((key >> 3, &[], after)));
        }
        1 => 8,
        5 => 4,
        2 => {
            let (len, after) = varint(rest)?;
            let len = usize::try_from(len).map_err(|_| "a field's length is out of range")?;
            let (content, after) = after.split_at_checked(len).ok_or("a field ends beyond the message")?;
            return Ok(Some((key >> 3, content, after)));
        }
        _ => return Err("a field has an unknown wire type"),
    };
    let (_, after) = rest.split_at_checked(len).ok_or("a field ends beyond the message")?;
    Ok(Some((key >> 3, &[], after)))
}

fn varint(bytes: &[u8]) -> std::result::Result<(u64, &[u8]), &'static str> {
    let mut value = 0;
    for (i, byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Ok((value, &bytes[i + 1..]));
        }
    }
    Err("a number does not end")
}

#[cfg(test)]
mod tests {
    use super::*;

    const INNER: &[Required] = &[required(2, "inner")];
    const OUTER: &[Required] = &[required(1, "number"), Required { tag: 3, name: "message", inside: INNER }];

    #[test]
    fn absent_fields_are_named_and_torn_messages_are_errors() {
        let check = |bytes: &[u8]| check("X", bytes, OUTER).map_err(|e| e.to_string());
        assert_eq!(check(&[0x08, 1, 0x1a, 2, 0x10, 0]), Ok(()));
        let cases: [(&[u8], &str); 6] = [
            (&[0x1a, 2, 0x10, 0], "malformed X: required field number is missing"),
            (&[0x08, 1], "malformed X: required field message is missing"),
            (&[0x08, 1, 0x1a, 0], "malformed X: required field inner is missing"),
            (&[0x08, 0x80], "malformed X: a number does not end"),
            (&[0x08, 1, 0x1a, 9, 0], "malformed X: a field ends beyond the message"),
            (&[0x0f], "malformed X: a field has an unknown wire type"),
        ];
        for (bytes, want) in cases {
            assert_eq!(check(bytes), Err(want.to_string()), "{bytes:?}");
        }
    }
}
