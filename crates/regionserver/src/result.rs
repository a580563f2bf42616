//! Cells → answer: as a cell block for clients with a codec, as protobuf cells for those without.

use martite_cell::{CellBuf, CellRef, Codec};
use martite_proto as pb;

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

/// A buffer for the answer to a client with `codec`: tags are collected only if the client will get them.
pub fn buffer(codec: Option<Codec>) -> CellBuf {
    CellBuf::new(codec.is_some_and(Codec::carries_tags))
}

/// The cell block in the client's form.
pub fn block(cells: CellBuf, codec: Codec) -> Vec<u8> {
    match codec {
        Codec::KeyValue | Codec::KeyValueWithTags => cells.into_bytes(),
        Codec::Cell | Codec::CellWithTags => {
            let mut out = Vec::with_capacity(cells.size_bytes());
            cells.iter().for_each(|c| codec.append(&mut out, &c));
            out
        }
    }
}
