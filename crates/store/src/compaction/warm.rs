//! Handing the cache over: what was hot in the inputs is brought into the cache from the new file before readers turn
//! to it, so that a compaction is not followed by a cold moment.

use super::{Piece, Throttle, in_pieces};
use crate::{Store, StoreError, StoreFile, store_file::ready};
use martite_cell::key;
use martite_hfile::{Block, BlockType, Scanner};
use std::sync::Arc;

/// Reads the blocks of `new` that have the first keys of the inputs' cached data blocks: at most as many blocks as
/// were cached before. They are wanted as much as those were: nobody reads them yet, and a full cache would let them go
/// again for each other.
pub(super) fn hand_over(
    store: &Store,
    inputs: &[Arc<StoreFile>],
    new: &Arc<StoreFile>,
    throttle: &dyn Throttle,
) -> Result<(), StoreError> {
    let files = &store.context().files;
    let cache = files.cache();
    let mut hot = Vec::new();
    for file in inputs {
        let id = file.open_file().id();
        for (offset, heat) in cache.cached_blocks(id) {
            let Some(block) = cache.peek(&(id, offset)) else { continue };
            let Some(key) = first_key(&block) else { continue };
            if file.half.as_ref().is_none_or(|half| half.shows(new.order(), key)) {
                hot.push((key.to_vec(), u64::from(block.on_disk_size), heat));
            }
        }
    }
    hot.sort_by(|a, b| new.order().keys(&a.0, &b.0));
    let mut scanner = Scanner::new(new.reader.clone(), new.caches_data(true));
    let heirs = cache.file(new.open_file().id());
    let mut hot = hot.into_iter();
    in_pieces(throttle, || {
        let source = files.blocking();
        for (key, bytes, heat) in hot.by_ref() {
            ready(&new.reader, scanner.seek(&key, &source)?)?;
            if let Some(offset) = scanner.block_offset() {
                heirs.inherit(offset, heat);
            }
            throttle.pause(bytes).map_err(StoreError::Cancelled)?;
            if throttle.ends_piece() {
                return Ok(Piece::Ended);
            }
        }
        Ok(Piece::Last)
    })
}

/// Flat key of the first cell of a decoded data block: `| i32 key length | i32 value length | key …`.
fn first_key(block: &Block) -> Option<&[u8]> {
    if !matches!(block.kind, BlockType::Data | BlockType::EncodedData) {
        return None;
    }
    let payload = block.payload();
    let len = u32::from_be_bytes(payload.get(..4)?.try_into().ok()?) as usize;
    let key = payload.get(8..8usize.checked_add(len)?)?;
    key::check(key).ok()?;
    Some(key)
}
