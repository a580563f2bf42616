//! The fields of a protobuf message, one after the other, as they lie in its bytes.
//!
//! For what comes by the hundred. Decoding a hundred Gets into messages costs more than reading half of their rows from
//! the cache, and nearly all of it is memory for messages that are looked at once.

/// A field's value. Groups, which protobuf gave up long ago, are malformed here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    Number(u64),
    /// A string, bytes, or a message.
    Bytes(&'a [u8]),
    /// Four or eight bytes of a number that no request has.
    Fixed,
}

/// Whoever meets it decodes the message with prost, which says what is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

pub struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub fn new(message: &'a [u8]) -> Fields<'a> {
        Fields(message)
    }

    /// The next field's number and value.
    #[inline]
    pub fn next(&mut self) -> Result<Option<(u64, Value<'a>)>, Malformed> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Number(self.varint()?),
            1 => self.take(8).map(|_| Value::Fixed)?,
            2 => {
                let len = usize::try_from(self.varint()?).map_err(|_| Malformed)?;
                Value::Bytes(self.take(len)?)
            }
            5 => self.take(4).map(|_| Value::Fixed)?,
            _ => return Err(Malformed),
        };
        Ok(Some((tag >> 3, value)))
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for (at, byte) in self.0.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                self.0 = &self.0[at + 1..];
                return Ok(value);
            }
        }
        Err(Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_proto as pb;
    use pb::Message;

    fn all(bytes: &[u8]) -> Result<Vec<(u64, Value<'_>)>, Malformed> {
        let mut fields = Fields::new(bytes);
        std::iter::from_fn(|| fields.next().transpose()).collect()
    }

    #[test]
    fn fields_are_those_that_prost_writes() {
        let get =
            pb::Get { row: b"r"[..].into(), max_versions: Some(300), cache_blocks: Some(false), ..pb::Get::default() };
        let expected = [(1, Value::Bytes(b"r")), (6, Value::Number(300)), (7, Value::Number(0))];
        assert_eq!(all(&get.encode_to_vec()).unwrap(), expected);
    }

    #[test]
    fn what_is_cut_off_or_odd_is_malformed() {
        assert_eq!(all(b""), Ok(Vec::new()));
        for bad in [
            &b"\x0a\x05r"[..],
            b"\x08",
            b"\x08\xff",
            b"\x0b\x0c",
            b"\x09\0\0",
            b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        ] {
            assert_eq!(all(bad), Err(Malformed), "{}", bad.escape_ascii());
        }
        assert_eq!(all(b"\x0d\0\0\0\0\x08\x01"), Ok(vec![(1, Value::Fixed), (1, Value::Number(1))]));
    }
}
