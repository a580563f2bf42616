//! Cell blocks: every codec, [`CellBuf::from_block`], tags.
//!
//! Input: `| codec, 0 to 3 | cell block |`. What a codec accepts must survive the way into a buffer and back.

use crate::mutate::Form;
use crate::target::{Budget, Target, no_words};
use martite_cell::{CellBuf, CellRef, Codec, OwnedCell, TimeRange, key, tags};

pub const TARGET: Target = Target {
    name: "cells",
    run,
    seeds,
    words: no_words,
    form: Form::Binary,
    max_len: 16 << 10,
    // The smallest cell has 20 bytes; its copy in a test vector 64 more, its text some hundred.
    budget: Budget { fixed_bytes: 64 << 10, per_byte: 64 },
    smoke: 12_000,
};

const CODECS: [Codec; 4] = [Codec::KeyValue, Codec::KeyValueWithTags, Codec::Cell, Codec::CellWithTags];

fn run(input: &[u8]) {
    let Some((codec, block)) = input.split_first() else { return };
    let codec = CODECS[*codec as usize % CODECS.len()];
    let mut buf = CellBuf::new(true);
    let decoded = codec.decode(block, |cell| {
        look_at(&cell);
        buf.push(&cell);
        Ok(())
    });
    if decoded.is_ok() {
        check_copies(&buf);
        check_round_trip(codec, &buf);
    }
    if let Ok(mut taken) = CellBuf::from_block(block.to_vec(), true) {
        let cells = taken.len();
        assert_eq!(taken.iter().count(), cells, "a cell of a checked block is gone");
        taken.set_latest_timestamps(7);
        let mark = CellBuf::new(true).mark();
        taken.retain_since(mark, |cell| cell.timestamp() != 7);
        assert!(taken.iter().all(|cell| cell.timestamp() != 7));
    }
}

/// Uses every part of a cell.
pub fn look_at(cell: &CellRef<'_>) {
    assert!(key::check(cell.key).is_ok(), "a cell with a key that was not checked");
    let parts = cell.row().len() + cell.family().len() + cell.qualifier().len();
    assert_eq!(parts + key::KEY_OVERHEAD, cell.key.len());
    let _ = (cell.is_delete(), TimeRange::new(0, 7).contains(cell.timestamp()));
    let _ = tags::iter(cell.tags).filter(Result::is_ok).count();
    let _ = tags::ttl_ms(cell.tags);
    assert!(!format!("{:?}", CellRef { key: cell.key, value: &[], tags: &[], seq_id: 0 }).is_empty());
}

/// The buffer's own bytes are a block with the same cells.
fn check_copies(buf: &CellBuf) {
    let again = CellBuf::from_block(buf.bytes().to_vec(), true);
    let again = again.unwrap_or_else(|e| panic!("the block of decoded cells is refused: {e}"));
    assert_eq!(again.len(), buf.len());
    assert_eq!(buf.iter().count(), buf.len(), "a decoded cell is gone");
}

fn check_round_trip(codec: Codec, buf: &CellBuf) {
    let mut block = Vec::new();
    buf.iter().for_each(|cell| codec.append(&mut block, &cell));
    let mut rest = buf.iter();
    let again = codec.decode(&block, |cell| {
        let first = rest.next();
        let same = first.is_some_and(|f| (f.key, f.value) == (cell.key, cell.value));
        assert!(same, "{codec:?}: {cell:?} was {first:?}");
        assert!(!codec.carries_tags() || first.is_some_and(|f| f.tags == cell.tags), "{codec:?}: other tags");
        Ok(())
    });
    assert_eq!((again, rest.next()), (Ok(()), None));
}

/// A few cells of every kind.
pub fn sample_cells() -> Vec<OwnedCell> {
    let mut section = Vec::new();
    tags::append(&mut section, tags::TTL, &60_000u64.to_be_bytes());
    tags::append(&mut section, tags::ACL, b"acl");
    let delete = key::flat_key(b"row-2", b"f", b"", 7, 14);
    vec![
        OwnedCell::put(b"row-1", b"f", b"q", 5, b"value"),
        OwnedCell::new(&key::flat_key(b"row-1", b"f", b"r", martite_cell::LATEST_TIMESTAMP, 4), b"w", &section, 3),
        OwnedCell::new(&delete, b"", &section, 9),
        OwnedCell::put(b"row-2", b"f", b"qualifier", 1_700_000_000_000, &[0, 0, 0, 0, 0, 0, 0, 5]),
    ]
}

/// The sample as a block.
pub fn sample_block(codec: Codec) -> Vec<u8> {
    let mut block = Vec::new();
    sample_cells().iter().for_each(|cell| codec.append(&mut block, &cell.as_ref()));
    block
}

fn seeds() -> Vec<Vec<u8>> {
    (0..).zip(CODECS).map(|(i, codec)| [vec![i], sample_block(codec)].concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_decoded_to_the_end() {
        for seed in seeds() {
            let mut cells = 0;
            let decoded = CODECS[seed[0] as usize].decode(&seed[1..], |_| {
                cells += 1;
                Ok(())
            });
            assert_eq!((decoded, cells), (Ok(()), 4));
        }
    }
}
