//! PREFIX: what a key shares with the previous one is left out.
//!
//! ```text
//! | cint key length - common | cint value length | cint common | rest of the key | value |
//! ```

use super::{Previous, Unpacked, begin, common_prefix};
use crate::{
    error::Parsed,
    format::MAX_BLOCK_BYTES,
    input::{Input, put_cint},
};
use martite_cell::CellRef;

pub(super) fn encode(out: &mut Vec<u8>, cell: &CellRef<'_>, previous: Option<(&[u8], &[u8])>) {
    let common = previous.map_or(0, |(key, _)| common_prefix(cell.key, key, true));
    put_cint(out, (cell.key.len() - common) as u32);
    put_cint(out, cell.value.len() as u32);
    put_cint(out, common as u32);
    out.extend_from_slice(&cell.key[common..]);
    out.extend_from_slice(cell.value);
}

pub(super) fn decode(input: &mut Input<'_>, out: &mut Vec<u8>, previous: &Previous) -> Parsed<Unpacked> {
    let (rest, value_len, common) = (input.cint()? as usize, input.cint()? as usize, input.cint()? as usize);
    if rest + common > MAX_BLOCK_BYTES {
        return Err(format!("key of {} bytes", rest + common));
    }
    let key = begin(out, previous.cell.as_ref(), rest + common, value_len, common)?;
    out.extend_from_slice(input.take(rest)?);
    let value = out.len();
    out.extend_from_slice(input.take(value_len)?);
    Ok(Unpacked { key, value, value_end: out.len() })
}
