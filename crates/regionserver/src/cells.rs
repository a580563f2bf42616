//! The cells that travel beside a request: taken in order by the mutations that own them.

use bytes::{Buf, Bytes, BytesMut};
use martite_cell::{CellBuf, CellError, Codec, codec};

/// What is left of a request's cell block. Cells are kept as `u32 length | KeyValue`, whatever codec the client used.
pub struct CellCursor(BytesMut);

impl CellCursor {
    pub fn new(block: BytesMut, codec: Option<Codec>) -> Result<CellCursor, CellError> {
        let bytes = match codec {
            Some(codec @ (Codec::Cell | Codec::CellWithTags)) => {
                let mut flat = Vec::with_capacity(block.len());
                codec.decode(&block, |cell| {
                    codec::append_key_value(&mut flat, &cell, true);
                    Ok(())
                })?;
                Bytes::from(flat).into()
            }
            _ => block,
        };
        Ok(CellCursor(bytes))
    }

    /// Takes the next `count` cells.
    pub fn take(&mut self, count: usize) -> Result<CellBuf, CellError> {
        let len = self.len_of(count)?;
        CellBuf::from_part(self.0.split_to(len), true)
    }

    /// Passes over the next `count` cells: their mutation was refused.
    pub fn skip(&mut self, count: usize) -> Result<(), CellError> {
        self.0.advance(self.len_of(count)?);
        Ok(())
    }

    /// Bytes of the next `count` cells.
    fn len_of(&self, count: usize) -> Result<usize, CellError> {
        let mut at = 0;
        for _ in 0..count {
            let rest = &self.0[at..];
            let Some(len) = rest.first_chunk::<4>() else {
                return Err(CellError::Truncated { what: "cell block", needed: 4, available: rest.len() });
            };
            let len = u32::from_be_bytes(*len) as usize;
            if rest.len() - 4 < len {
                return Err(CellError::Truncated { what: "cell block", needed: len, available: rest.len() - 4 });
            }
            at += 4 + len;
        }
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_cell::OwnedCell;

    #[test]
    fn cells_are_taken_in_order_and_a_short_block_is_an_error() {
        let mut block = Vec::new();
        for row in [b"a", b"b", b"c"] {
            Codec::Cell.append(&mut block, &OwnedCell::put(row, b"f", b"q", 1, b"v").as_ref());
        }
        let mut cursor = CellCursor::new(block[..].into(), Some(Codec::Cell)).unwrap();
        cursor.skip(1).unwrap();
        let two = cursor.take(2).unwrap();
        assert_eq!(two.iter().map(|c| c.row().to_vec()).collect::<Vec<_>>(), vec![b"b".to_vec(), b"c".to_vec()]);
        assert!(cursor.take(1).is_err());
    }
}
