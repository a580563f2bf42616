//! Answers, read where they lie: counted and checked without an object for each cell.

use crate::Error;
use crate::rows::{self, FAMILY, Shape};
use bytes::Bytes;
use martite_cell::CellRef;
use martite_cell::codec::parse_key_value;
use martite_rpc::client::{ClientError, decode_answer};
use martite_rpc::format::varint;

/// One in so many values is compared byte by byte; of every cell the row, the column and the length of the value are.
const SAMPLE: u64 = 64;

/// A successful answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer<'a> {
    pub message: &'a [u8],
    /// Cell block of KeyValueCodec, without what was taken of it before.
    pub cells: &'a [u8],
    /// Bytes of the cell block that came before and were judged then, or left unread.
    pub taken: usize,
}

/// What the header of an answer's frame (without its length) says.
struct Head {
    id: u32,
    is_exception: bool,
    cells_len: usize,
}

/// The header, and what follows it.
fn head(frame: &[u8]) -> Result<(Head, &[u8]), Error> {
    let (header, rest) = delimited(frame)?;
    let mut head = Head { id: 0, is_exception: false, cells_len: 0 };
    for field in Fields(header) {
        match field? {
            (1, Value::Varint(n)) => head.id = n as u32,
            (2, _) => head.is_exception = true,
            (3, Value::Bytes(meta)) => {
                for field in Fields(meta) {
                    if let (1, Value::Varint(n)) = field? {
                        head.cells_len = n as usize;
                    }
                }
            }
            _ => {}
        }
    }
    Ok((head, rest))
}

/// The call id of an answer's frame, and what it says. `taken` bytes of its cells are not in it any more.
pub fn parse(frame: &[u8], taken: usize) -> Result<(u32, Result<Answer<'_>, ClientError>), Error> {
    let (head, rest) = head(frame)?;
    if head.is_exception {
        return Ok((head.id, Err(exception(frame))));
    }
    let (message, cells) = delimited(rest)?;
    if cells.len() + taken != head.cells_len {
        return Err(Error::wrong("the cell block has not the length that the header says"));
    }
    Ok((head.id, Ok(Answer { message, cells, taken })))
}

/// The call id of an answer that has begun, and those of its cells that have come; None: they do not come yet, or not at all.
pub fn begun(part: &[u8]) -> Option<(u32, &[u8])> {
    let (head, rest) = head(part).ok()?;
    let (_, cells) = delimited(rest).ok()?;
    (!head.is_exception && !cells.is_empty()).then_some((head.id, cells))
}

fn exception(frame: &[u8]) -> ClientError {
    match decode_answer(Bytes::copy_from_slice(frame), None).1 {
        Err(e) => e,
        Ok(_) => ClientError::Malformed("an exception that is none".to_owned()),
    }
}

fn delimited(bytes: &[u8]) -> Result<(&[u8], &[u8]), Error> {
    varint(bytes)
        .and_then(|(len, rest)| rest.split_at_checked(usize::try_from(len).ok()?))
        .ok_or_else(|| Error::wrong("an answer ends before its message"))
}

/// A field's content. Numbers of fixed size, which no answer of interest has, are passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    Fixed,
}

/// The fields of a message, in its order.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    fn read(&mut self) -> Option<(u64, Value<'a>)> {
        let (key, rest) = varint(self.0)?;
        let (value, rest) = match key & 7 {
            0 => varint(rest).map(|(n, rest)| (Value::Varint(n), rest))?,
            2 => delimited(rest).map(|(bytes, rest)| (Value::Bytes(bytes), rest)).ok()?,
            1 => (Value::Fixed, rest.get(8..)?),
            5 => (Value::Fixed, rest.get(4..)?),
            _ => return None,
        };
        self.0 = rest;
        Some((key >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field.ok_or_else(|| Error::wrong("a message that is none")))
    }
}

/// `associated_cell_count` of a Result, which must have its cells in the cell block.
pub fn cell_count(result: &[u8]) -> Result<usize, Error> {
    let mut count = 0;
    for field in Fields(result) {
        match field? {
            (1, _) => return Err(Error::wrong("a result has cells of its own")),
            (2, Value::Varint(n)) => count = n as usize,
            _ => {}
        }
    }
    Ok(count)
}

/// The exception of a ResultOrException.
pub fn entry_exception(entry: &[u8]) -> Result<Option<&[u8]>, Error> {
    for field in Fields(entry) {
        if let (3, Value::Bytes(exception)) = field? {
            return Ok(Some(exception));
        }
    }
    Ok(None)
}

/// An exception that is part of an answer: its class is the name, its text the value.
pub fn embedded(pair: &[u8]) -> ClientError {
    let (mut class, mut text) = (String::new(), String::new());
    for field in Fields(pair) {
        match field {
            Ok((1, Value::Bytes(name))) => class = String::from_utf8_lossy(name).into_owned(),
            Ok((2, Value::Bytes(value))) => text = String::from_utf8_lossy(value).into_owned(),
            _ => {}
        }
    }
    ClientError::Remote { do_not_retry: class.contains("DoNotRetry"), class, text, overloaded: false, moved_to: None }
}

/// Takes cells off a cell block and checks each against the one that must come.
#[derive(Debug)]
pub struct Cells<'a> {
    rest: &'a [u8],
    shape: Shape,
}

impl<'a> Cells<'a> {
    pub fn new(block: &'a [u8], shape: Shape) -> Cells<'a> {
        Cells { rest: block, shape }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Bytes that were not taken off.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Whether there is a cell that does not end too early.
    #[inline]
    pub fn has_next(&self) -> bool {
        self.rest.split_first_chunk::<4>().is_some_and(|(len, rest)| u32::from_be_bytes(*len) as usize <= rest.len())
    }

    fn next(&mut self) -> Result<CellRef<'a>, Error> {
        let split = self
            .rest
            .split_first_chunk::<4>()
            .and_then(|(len, rest)| rest.split_at_checked(usize::try_from(u32::from_be_bytes(*len)).ok()?));
        let (cell, rest) = split.ok_or_else(|| Error::wrong("the cell block ends in a cell"))?;
        self.rest = rest;
        parse_key_value(cell).map_err(|e| Error::wrong(e.to_string()))
    }

    /// The next cell must be this column of the row with this key; `check_value`: its value is compared too.
    #[inline]
    pub fn expect(&mut self, key: &[u8], row: u64, column: usize, check_value: bool) -> Result<(), Error> {
        let cell = self.next()?;
        let found = (cell.row(), cell.family(), cell.qualifier());
        let right = found == (key, FAMILY.as_bytes(), &Shape::qualifier(column)[..])
            && cell.value.len() == self.shape.value_len
            && (!check_value || rows::is_value(cell.value, row, column, self.shape.value_len));
        if right { Ok(()) } else { Err(Error::wrong(format!("row {row}, column {column}: got {cell:?}"))) }
    }

    /// All columns of a row must come next; `turn` counts rows, so that some values are compared.
    #[inline]
    pub fn expect_row(&mut self, row: u64, turn: u64) -> Result<(), Error> {
        let key = rows::key(row);
        let columns = self.shape.columns as u64;
        for column in 0..self.shape.columns {
            let sample = (turn * columns + column as u64).is_multiple_of(SAMPLE);
            self.expect(&key, row, column, sample)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{SINGLE, TEN};
    use martite_cell::{CellBuf, OwnedCell};
    use martite_proto as pb;
    use pb::Message;

    fn frame(header: pb::ResponseHeader, message: &impl Message, cells: &[u8]) -> Vec<u8> {
        let mut frame = header.encode_length_delimited_to_vec();
        frame.extend(message.encode_length_delimited_to_vec());
        frame.extend_from_slice(cells);
        frame
    }

    #[test]
    fn parts_of_an_answer() {
        let message = pb::GetResponse::default();
        let meta = pb::CellBlockMeta { length: Some(5) };
        let header = pb::ResponseHeader { call_id: Some(300), cell_block_meta: Some(meta), ..Default::default() };
        let bytes = frame(header.clone(), &message, b"cells");
        let (id, answer) = parse(&bytes, 0).unwrap();
        assert_eq!((id, answer.unwrap()), (300, Answer { message: &[], cells: b"cells", taken: 0 }));
        assert!(parse(&bytes[..bytes.len() - 1], 0).is_err());
        assert!(parse(&frame(pb::ResponseHeader { cell_block_meta: None, ..header }, &message, b"cells"), 0).is_err());
    }

    #[test]
    fn exceptions_keep_their_class() {
        let exception = pb::ExceptionResponse {
            exception_class_name: Some("java.io.IOException".to_owned()),
            ..Default::default()
        };
        let header = pb::ResponseHeader { call_id: Some(4), exception: Some(exception), ..Default::default() };
        let bytes = header.encode_length_delimited_to_vec();
        match parse(&bytes, 0).unwrap() {
            (4, Err(ClientError::Remote { class, .. })) => assert_eq!(class, "java.io.IOException"),
            other => panic!("{other:?}"),
        }
    }

    fn block(shape: Shape, row: u64) -> Vec<u8> {
        let mut cells = CellBuf::new(false);
        for column in 0..shape.columns {
            let mut value = Vec::new();
            rows::put_value(&mut value, row, column, shape.value_len);
            let qualifier = Shape::qualifier(column);
            cells.push(&OwnedCell::put(&rows::key(row), FAMILY.as_bytes(), &qualifier, 9, &value).as_ref());
        }
        cells.into_bytes()
    }

    #[test]
    fn rows_are_checked_cell_by_cell() {
        for shape in [SINGLE, TEN] {
            let bytes = block(shape, 42);
            let mut cells = Cells::new(&bytes, shape);
            cells.expect_row(42, 0).unwrap();
            assert!(cells.is_empty());
            assert!(Cells::new(&bytes, shape).expect_row(43, 1).is_err(), "another row");
            assert!(Cells::new(&bytes[..bytes.len() - 1], shape).expect_row(42, 0).is_err(), "a torn cell");
            let mut wrong = bytes.clone();
            wrong[4 + 8 + 60] ^= 1;
            assert!(Cells::new(&wrong, shape).expect_row(42, 0).is_err(), "a value that is compared");
            assert!(Cells::new(&wrong, shape).expect_row(42, 3).is_ok() || shape == TEN, "one that is not");
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read() {
        for seed in 0..500u64 {
            let mut bytes = Vec::new();
            rows::put_value(&mut bytes, seed, 0, (seed % 40) as usize);
            bytes.iter_mut().for_each(|b| *b = b.wrapping_mul(37).wrapping_add(seed as u8));
            let _ = parse(&bytes, 0);
            let _ = begun(&bytes);
            let _ = cell_count(&bytes);
            let _ = Cells::new(&bytes, SINGLE).expect_row(0, 0);
        }
    }
}
