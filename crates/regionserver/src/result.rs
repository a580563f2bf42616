//! Cells → answer: as a cell block for clients with a codec, as protobuf cells for those without.

use martite_cell::{CellBlock, CellBuf, CellRef, Codec};
use martite_proto as pb;
use martite_rpc::{Responder, SMALL_CELLS};
use smallvec::SmallVec;
use std::cell::Cell;

/// A `Result` whose cells stand in the message.
pub fn inline<'a>(cells: impl Iterator<Item = CellRef<'a>>) -> pb::Result {
    pb::Result {
        cell: cells.map(|c| inline_cell(&c)).collect(),
        associated_cell_count: None,
        exists: None,
        stale: None,
        partial: None,
        metrics: None,
    }
}

/// A `Result` whose cells follow in the cell block.
pub fn in_block(cells: usize) -> pb::Result {
    pb::Result { associated_cell_count: (cells > 0).then_some(cells as i32), ..inline(std::iter::empty()) }
}

pub fn exists(exists: bool) -> pb::Result {
    pb::Result { exists: Some(exists), ..inline(std::iter::empty()) }
}

/// A `GetResponse` that says no more than this, in a message written by hand: it goes with every Get.
pub fn short_get_response(cells: usize, exists: Option<bool>, stale: bool) -> SmallVec<[u8; 16]> {
    // Field 1, whose length is filled in.
    let mut out = SmallVec::from_slice(&[0x0a, 0]);
    if cells > 0 {
        out.push(0x10);
        let mut rest = cells as u64;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }
    if let Some(exists) = exists {
        out.extend_from_slice(&[0x18, u8::from(exists)]);
    }
    if stale {
        out.extend_from_slice(&[0x20, 1]);
    }
    out[1] = out.len() as u8 - 2;
    out
}

fn inline_cell(cell: &CellRef<'_>) -> pb::Cell {
    pb::Cell {
        row: Some(cell.row().to_vec().into()),
        family: Some(cell.family().to_vec().into()),
        qualifier: Some(cell.qualifier().to_vec().into()),
        timestamp: Some(cell.timestamp()),
        cell_type: Some(i32::from(cell.type_code())),
        value: Some(cell.value.to_vec().into()),
        // As HBase: tags do not leave the server without a codec that carries them.
        tags: None,
    }
}

/// A scan's rows lie side by side: a few blocks may be held before what is lent of them shows that.
const ADVANCE_OF_SCAN: usize = 256 << 10;

/// A scan's buffer has no room for more before it is known to need it: what HBase's client asks for by default.
const MOST_AT_ONCE: usize = 2 << 20;

/// A buffer for the answer to a client with `codec`: tags are collected only if the client will get them, and large cells stay in
/// their blocks until they leave.
pub fn buffer(codec: Option<Codec>) -> CellBuf {
    CellBuf::new(codec.is_some_and(Codec::carries_tags)).borrowing(0)
}

/// The same for a scan that ends when it has found so many bytes; 0: its buffer grows as others do.
pub fn scan_buffer(codec: Option<Codec>, enough: u64) -> CellBuf {
    let enough = usize::try_from(enough).map_or(MOST_AT_ONCE, |enough| enough.min(MOST_AT_ONCE));
    // The last row goes beyond it.
    buffer(codec).borrowing(ADVANCE_OF_SCAN).growing_to(enough + enough / 16)
}

/// More than this is never set aside before it is known that a row needs it.
const MOST_ROOM: usize = 4 << 10;
/// The buffer of a row with room for more cells is not kept for the next.
const MOST_CELLS: usize = 256;

thread_local! {
    /// Bytes and cells of the last row that this thread has answered with the buffer in which it was read.
    static LAST_ROW: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// The buffer of the last one that was copied into its answer.
    static ROW: Cell<Option<CellBuf>> = const { Cell::new(None) };
}

/// [`buffer`] for one row, with room for one like the last: rows of a table are mostly alike, and a buffer that grows with each cell
/// is moved several times.
pub fn row_buffer(codec: Option<Codec>) -> CellBuf {
    let with_tags = codec.is_some_and(Codec::carries_tags);
    let mut cells = ROW.take().map_or_else(|| CellBuf::new(with_tags), |last| last.emptied(with_tags)).borrowing(0);
    let (bytes, count) = LAST_ROW.get();
    if count > 0 {
        cells.reserve(bytes, count);
    }
    cells
}

/// Answers with a row from [`row_buffer`], behind a message that is encoded already.
#[inline]
pub fn send_row(responder: Responder, message: &[u8], cells: CellBuf, codec: Codec) {
    let is_key_values = matches!(codec, Codec::KeyValue | Codec::KeyValueWithTags);
    if is_key_values && cells.size_bytes() <= SMALL_CELLS && cells.own_bytes() == cells.size_bytes() {
        responder.ok_copied(message, cells.bytes());
        let (bytes, count) = cells.capacity();
        if bytes <= MOST_ROOM && count <= MOST_CELLS {
            ROW.set(Some(cells));
        }
    } else {
        responder.ok_short(message, row_block(cells, codec));
    }
}

/// The cell block of a row from [`row_buffer`].
fn row_block(cells: CellBuf, codec: Codec) -> CellBlock {
    let bytes = cells.size_bytes();
    LAST_ROW.set(if bytes <= MOST_ROOM { (bytes, cells.len()) } else { (0, 0) });
    let mut block = block(cells, codec);
    // Answers may wait for their client for long.
    block.shrink();
    block
}

/// The cell block in the client's form.
pub fn block(cells: CellBuf, codec: Codec) -> CellBlock {
    match codec {
        Codec::KeyValue | Codec::KeyValueWithTags => cells.into_block(),
        Codec::Cell | Codec::CellWithTags => {
            let mut out = Vec::with_capacity(cells.size_bytes());
            cells.iter().for_each(|c| codec.append(&mut out, &c));
            out.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_cell::OwnedCell;
    use pb::Message;

    #[test]
    fn a_short_get_response_is_what_prost_would_write() {
        for cells in [0, 1, 127, 128, 300_000, i32::MAX as usize] {
            for (existing, stale) in [(None, false), (Some(true), false), (Some(false), true), (None, true)] {
                let result = pb::Result { exists: existing, stale: stale.then_some(true), ..in_block(cells) };
                let expected = pb::GetResponse { result: Some(result) }.encode_to_vec();
                assert_eq!(short_get_response(cells, existing, stale)[..], expected, "{cells} {existing:?} {stale}");
            }
        }
    }

    fn answered(cells: usize) -> Vec<u8> {
        let mut buffer = row_buffer(Some(Codec::KeyValue));
        (0..cells).for_each(|_| buffer.push(&OwnedCell::put(b"r", b"f", b"q", 1, &[7; 60]).as_ref()));
        row_block(buffer, Codec::KeyValue).into_bytes()
    }

    #[test]
    fn a_row_has_room_for_one_like_the_last_and_keeps_no_more_than_it_needs() {
        let first = answered(10);
        assert_eq!(row_buffer(None).into_bytes().capacity(), first.len());
        let second = answered(10);
        assert_eq!((&second, second.capacity()), (&first, first.len()));
        let short = answered(1);
        assert!(short.capacity() < 2 * short.len(), "{} of {}", short.capacity(), short.len());
        answered(1000);
        assert_eq!(row_buffer(None).into_bytes().capacity(), 0, "so large a row may be the only one");
    }
}
