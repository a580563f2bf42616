//! Cell blocks: how cells travel beside an RPC message and in the WAL.
//!
//! | codec | one cell |
//! |---|---|
//! | `KeyValueCodec` | u32 length, KeyValue without tags |
//! | `KeyValueCodecWithTags` | u32 length, KeyValue with its tags section when it has tags |
//! | `CellCodec` | row, family, qualifier each with u32 length, i64 timestamp, u8 type, value with u32 length, i64 mvcc |
//! | `CellCodecWithTags` | as before, tags with u32 length before the mvcc |
//!
//! Source: HBase 2.6 `org.apache.hadoop.hbase.codec`.

use crate::{CellError, cell::CellRef, key};

/// A cell block codec that a client can name in its connection header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    KeyValue,
    KeyValueWithTags,
    Cell,
    CellWithTags,
}

impl Codec {
    pub const ALL: [Codec; 4] = [Codec::KeyValue, Codec::KeyValueWithTags, Codec::Cell, Codec::CellWithTags];

    /// The codec of a Java class name, as it stands in the connection header.
    pub fn from_class(name: &str) -> Option<Codec> {
        let name = name.strip_prefix("org.apache.hadoop.hbase.codec.")?;
        Self::ALL.into_iter().find(|codec| codec.name() == name)
    }

    /// Java class name without its package.
    pub fn name(self) -> &'static str {
        match self {
            Codec::KeyValue => "KeyValueCodec",
            Codec::KeyValueWithTags => "KeyValueCodecWithTags",
            Codec::Cell => "CellCodec",
            Codec::CellWithTags => "CellCodecWithTags",
        }
    }

    pub fn carries_tags(self) -> bool {
        matches!(self, Codec::KeyValueWithTags | Codec::CellWithTags)
    }

    /// Appends one cell.
    #[inline]
    pub fn append(self, out: &mut Vec<u8>, cell: &CellRef<'_>) {
        match self {
            Codec::KeyValue => append_key_value(out, cell, false),
            Codec::KeyValueWithTags => append_key_value(out, cell, true),
            Codec::Cell | Codec::CellWithTags => append_cell(out, cell, self == Codec::CellWithTags),
        }
    }

    /// Calls `each` for every cell of a block, checking each one.
    ///
    /// The two `CellCodec`s do not hold a flat key: it is put together in a buffer that lives until the next cell.
    pub fn decode(
        self,
        mut block: &[u8],
        mut each: impl FnMut(CellRef<'_>) -> Result<(), CellError>,
    ) -> Result<(), CellError> {
        let mut key_buf = Vec::new();
        while !block.is_empty() {
            let (cell, rest) = match self {
                Codec::KeyValue | Codec::KeyValueWithTags => {
                    let (kv, rest) = split_len(block, "cell")?;
                    (parse_key_value(kv)?, rest)
                }
                Codec::Cell | Codec::CellWithTags => parse_cell(block, self == Codec::CellWithTags, &mut key_buf)?,
            };
            each(cell)?;
            block = rest;
        }
        Ok(())
    }
}

/// Appends `u32 length | KeyValue`; the tags section only when asked for and not empty.
#[inline]
pub fn append_key_value(out: &mut Vec<u8>, cell: &CellRef<'_>, with_tags: bool) {
    let tags = if with_tags && !cell.tags.is_empty() { cell.tags } else { &[] };
    let len = cell.key_value_len() + if tags.is_empty() { 0 } else { 2 + tags.len() };
    out.reserve(4 + len);
    let mut head = [0; 12];
    head[..4].copy_from_slice(&(len as u32).to_be_bytes());
    head[4..8].copy_from_slice(&(cell.key.len() as u32).to_be_bytes());
    head[8..].copy_from_slice(&(cell.value.len() as u32).to_be_bytes());
    out.extend_from_slice(&head);
    out.extend_from_slice(cell.key);
    out.extend_from_slice(cell.value);
    if !tags.is_empty() {
        out.extend_from_slice(&(tags.len() as u16).to_be_bytes());
        out.extend_from_slice(tags);
    }
}

/// Reads a KeyValue (without its leading length). Bytes after the value are its tags section.
pub fn parse_key_value(kv: &[u8]) -> Result<CellRef<'_>, CellError> {
    let truncated = |what, needed| CellError::Truncated { what, needed, available: kv.len() };
    if kv.len() < 8 {
        return Err(truncated("KeyValue lengths", 8));
    }
    let key_len = be32(kv) as usize;
    let value_len = be32(&kv[4..]) as usize;
    let value_at = 8usize.checked_add(key_len).ok_or_else(|| truncated("key", key_len))?;
    let end = value_at.checked_add(value_len).ok_or_else(|| truncated("value", value_len))?;
    if kv.len() < end {
        return Err(truncated("key and value", end));
    }
    let key = &kv[8..value_at];
    key::check(key)?;
    let tags = match &kv[end..] {
        [] => &[][..],
        [a, b, tags @ ..] if u16::from_be_bytes([*a, *b]) as usize == tags.len() => tags,
        other => return Err(CellError::Malformed(format!("tags section of {} bytes has a wrong length", other.len()))),
    };
    Ok(CellRef { key, value: &kv[value_at..end], tags, seq_id: 0 })
}

fn append_cell(out: &mut Vec<u8>, cell: &CellRef<'_>, with_tags: bool) {
    let mut sized = |part: &[u8]| {
        out.extend_from_slice(&(part.len() as u32).to_be_bytes());
        out.extend_from_slice(part);
    };
    sized(cell.row());
    sized(cell.family());
    sized(cell.qualifier());
    out.extend_from_slice(&cell.timestamp().to_be_bytes());
    out.push(cell.type_code());
    let mut sized = |part: &[u8]| {
        out.extend_from_slice(&(part.len() as u32).to_be_bytes());
        out.extend_from_slice(part);
    };
    sized(cell.value);
    if with_tags {
        sized(cell.tags);
    }
    out.extend_from_slice(&cell.seq_id.to_be_bytes());
}

fn parse_cell<'k, 'a: 'k>(
    block: &'a [u8],
    with_tags: bool,
    key_buf: &'k mut Vec<u8>,
) -> Result<(CellRef<'k>, &'a [u8]), CellError> {
    let (row, rest) = split_len(block, "row")?;
    let (family, rest) = split_len(rest, "family")?;
    let (qualifier, rest) = split_len(rest, "qualifier")?;
    if row.len() > key::MAX_ROW_LENGTH {
        return Err(CellError::Malformed(format!("row of {} bytes", row.len())));
    }
    if family.len() > key::MAX_FAMILY_LENGTH {
        return Err(CellError::Malformed(format!("family of {} bytes", family.len())));
    }
    let (stamp, rest) = split_fixed(rest, 9, "timestamp and type")?;
    let (value, rest) = split_len(rest, "value")?;
    let (tags, rest) = if with_tags { split_len(rest, "tags")? } else { (&[][..], rest) };
    // A KeyValue tells their length in 16 bits.
    if tags.len() > u16::MAX as usize {
        return Err(CellError::Malformed(format!("tags of {} bytes", tags.len())));
    }
    let (mvcc, rest) = split_fixed(rest, 8, "mvcc")?;
    key_buf.clear();
    key::append_key(key_buf, row, family, qualifier, be64(stamp), stamp[8]);
    Ok((CellRef { key: key_buf, value, tags, seq_id: be64(mvcc) }, rest))
}

fn split_len<'a>(bytes: &'a [u8], what: &'static str) -> Result<(&'a [u8], &'a [u8]), CellError> {
    let (len, rest) = split_fixed(bytes, 4, what)?;
    split_fixed(rest, be32(len) as usize, what)
}

fn split_fixed<'a>(bytes: &'a [u8], len: usize, what: &'static str) -> Result<(&'a [u8], &'a [u8]), CellError> {
    bytes.split_at_checked(len).ok_or(CellError::Truncated { what, needed: len, available: bytes.len() })
}

fn be32(b: &[u8]) -> u32 {
    u32::from_be_bytes([b[0], b[1], b[2], b[3]])
}

fn be64(b: &[u8]) -> u64 {
    (be32(b) as u64) << 32 | be32(&b[4..]) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::OwnedCell;

    fn cells() -> Vec<OwnedCell> {
        let mut tags = Vec::new();
        crate::tags::append(&mut tags, crate::tags::TTL, &5u64.to_be_bytes());
        let key = key::flat_key(b"r2", b"f", b"", 7, 14);
        vec![OwnedCell::put(b"r1", b"f", b"q", 1, b"v"), OwnedCell::new(&key, b"", &tags, 0)]
    }

    #[test]
    fn every_codec_reads_what_it_wrote() {
        for codec in [Codec::KeyValue, Codec::KeyValueWithTags, Codec::Cell, Codec::CellWithTags] {
            let mut block = Vec::new();
            cells().iter().for_each(|c| codec.append(&mut block, &c.as_ref()));
            let mut got = Vec::new();
            codec
                .decode(&block, |c| {
                    got.push(c.to_owned_cell());
                    Ok(())
                })
                .unwrap();
            for (got, want) in got.iter().zip(cells()) {
                let (got, want) = (got.as_ref(), want.as_ref());
                assert_eq!((got.key, got.value), (want.key, want.value), "{codec:?}");
                assert_eq!(got.tags, if codec.carries_tags() { want.tags } else { &[] }, "{codec:?}");
            }
            assert_eq!(got.len(), 2);
            for cut in 1..block.len() {
                let whole = cells().len();
                let mut n = 0;
                let torn = codec.decode(&block[..cut], |_| {
                    n += 1;
                    Ok(())
                });
                assert!(torn.is_err() || n < whole, "{codec:?} cut at {cut}");
            }
        }
    }
}
