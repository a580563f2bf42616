//! [`Row`]: what a read answers, as it came: cells are slices of the answer's bytes.

use crate::Error;
use bytes::{BufMut, Bytes, BytesMut};
use martite_cell::codec::{append_key_value, parse_key_value};
use martite_cell::{CellRef, OwnedCell, key};
use martite_proto as pb;

/// The cells of one row, sorted by family, qualifier, and from new to old.
///
/// It shares the memory of the answer that it came in: [`Row::detach`] before keeping few rows of many.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// In the form of a cell block: `u32 length | KeyValue`, each checked.
    block: Bytes,
    cells: u32,
    stale: bool,
    partial: bool,
    exists: Option<bool>,
}

impl Row {
    /// The row's key; empty if there are no cells.
    pub fn row(&self) -> &[u8] {
        self.cells().next().map_or(&[], |cell| cell.row())
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.cells as usize
    }

    pub fn is_empty(&self) -> bool {
        self.cells == 0
    }

    /// Bytes of the cells.
    pub fn size_bytes(&self) -> usize {
        self.block.len()
    }

    pub fn cells(&self) -> Cells<'_> {
        Cells { block: &self.block, left: self.cells as usize }
    }

    /// The newest cell of a column.
    pub fn cell(&self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Option<CellRef<'_>> {
        let wanted = (family.as_ref(), qualifier.as_ref());
        self.cells().find(|cell| key::column(cell.key) == wanted)
    }

    /// The newest value of a column.
    pub fn value(&self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Option<&[u8]> {
        self.cell(family, qualifier).map(|cell| cell.value)
    }

    /// The newest value of a counter: eight bytes, big-endian.
    pub fn counter(&self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Option<i64> {
        self.value(family, qualifier).and_then(|value| value.try_into().ok()).map(i64::from_be_bytes)
    }

    /// Whether a secondary replica answered, which may be behind.
    pub fn is_stale(&self) -> bool {
        self.stale
    }

    /// Whether more cells of the row may follow: only where the scan allows parts of rows.
    pub fn is_partial(&self) -> bool {
        self.partial
    }

    /// The answer to the question whether a row exists.
    pub(crate) fn exists(&self) -> bool {
        self.exists.unwrap_or(!self.is_empty())
    }

    /// The same in memory of its own.
    pub fn detach(&self) -> Row {
        Row { block: Bytes::copy_from_slice(&self.block), ..self.clone() }
    }

    pub fn to_owned_cells(&self) -> Vec<OwnedCell> {
        self.cells().map(|cell| cell.to_owned_cell()).collect()
    }

    /// A row of these cells.
    pub fn from_cells<'a>(cells: impl IntoIterator<Item = CellRef<'a>>) -> Row {
        let mut block = Vec::new();
        let mut count = 0;
        for cell in cells {
            append_key_value(&mut block, &cell, true);
            count += 1;
        }
        Row { block: block.into(), cells: count, ..Row::default() }
    }

    /// A message with its cells, in itself or in the block of the answer.
    pub(crate) fn from_proto(result: &pb::Result, block: &mut Block) -> Result<Row, Error> {
        let count = result.associated_cell_count.unwrap_or(0);
        let count = u32::try_from(count).map_err(|_| Error::malformed(format!("{count} cells")))?;
        let mut row = Row { block: block.take(count)?, cells: count, ..Row::default() };
        if !result.cell.is_empty() {
            row = Row::of_messages(&row, &result.cell)?;
        }
        row.stale = result.stale();
        row.partial = result.partial();
        row.exists = result.exists;
        Ok(row)
    }

    fn of_messages(before: &Row, messages: &[pb::Cell]) -> Result<Row, Error> {
        let mut block = before.block.to_vec();
        let or_empty = |bytes: &Option<Bytes>| bytes.clone().unwrap_or_default();
        for cell in messages {
            let (row, family) = (or_empty(&cell.row), or_empty(&cell.family));
            let type_code = u8::try_from(cell.cell_type() as i32).map_err(Error::malformed)?;
            let key = key::flat_key(&row, &family, &or_empty(&cell.qualifier), cell.timestamp(), type_code);
            key::check(&key)?;
            let (value, tags) = (or_empty(&cell.value), or_empty(&cell.tags));
            append_key_value(&mut block, &CellRef { key: &key, value: &value, tags: &tags, seq_id: 0 }, true);
        }
        Ok(Row { block: block.into(), cells: before.cells + messages.len() as u32, ..Row::default() })
    }

    /// One of a scanner's rows.
    pub(crate) fn from_block(block: &mut Block, cells: u32, partial: bool, stale: bool) -> Result<Row, Error> {
        Ok(Row { block: block.take(cells)?, cells, partial, stale, exists: None })
    }

    /// Several parts of one row.
    pub(crate) fn joined(parts: &[Row]) -> Row {
        if let [one] = parts {
            return Row { partial: false, ..one.clone() };
        }
        let mut block = BytesMut::with_capacity(parts.iter().map(Row::size_bytes).sum());
        parts.iter().for_each(|part| block.put_slice(&part.block));
        Row {
            block: block.freeze(),
            cells: parts.iter().map(|part| part.cells).sum(),
            stale: parts.iter().any(|part| part.stale),
            ..Row::default()
        }
    }

    /// Its first cells, of which more may come, and the others.
    pub(crate) fn split(&self, cells: usize) -> (Row, Row) {
        let rest = self.skip(cells);
        let first = self.block.slice(..self.block.len() - rest.block.len());
        (Row { block: first, cells: self.cells - rest.cells, partial: true, ..self.clone() }, rest)
    }

    /// Without its first cells.
    pub(crate) fn skip(&self, cells: usize) -> Row {
        let mut rest = self.cells();
        (0..cells).for_each(|_| _ = rest.next());
        let at = self.block.len() - rest.block.len();
        Row { block: self.block.slice(at..), cells: rest.left as u32, ..self.clone() }
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.cells()).finish()
    }
}

impl<'a> IntoIterator for &'a Row {
    type Item = CellRef<'a>;
    type IntoIter = Cells<'a>;

    fn into_iter(self) -> Cells<'a> {
        self.cells()
    }
}

/// The cells of a [`Row`].
#[derive(Debug, Clone)]
pub struct Cells<'a> {
    block: &'a [u8],
    left: usize,
}

impl<'a> Iterator for Cells<'a> {
    type Item = CellRef<'a>;

    fn next(&mut self) -> Option<CellRef<'a>> {
        let (len, rest) = self.block.split_first_chunk::<4>()?;
        let (cell, rest) = rest.split_at_checked(u32::from_be_bytes(*len) as usize)?;
        self.block = rest;
        self.left = self.left.saturating_sub(1);
        parse_key_value(cell).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Cells<'_> {}

/// The cell block of an answer, taken from the front.
#[derive(Debug)]
pub(crate) struct Block(pub Bytes);

impl Block {
    /// The bytes of the next cells, each of which is checked.
    fn take(&mut self, cells: u32) -> Result<Bytes, Error> {
        let mut end = 0;
        for _ in 0..cells {
            let short = || Error::Malformed(format!("a cell block of {} bytes has too few cells", self.0.len()));
            let len = self.0.get(end..end + 4).and_then(|len| len.try_into().ok()).map(u32::from_be_bytes);
            let start = end + 4;
            end = start.checked_add(len.ok_or_else(short)? as usize).ok_or_else(short)?;
            parse_key_value(self.0.get(start..end).ok_or_else(short)?)?;
        }
        Ok(self.0.split_to(end))
    }
}
