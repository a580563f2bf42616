//! DIFF: lengths, type and timestamp are written relative to the previous cell; the family once per block.
//!
//! ```text
//! first cell of the block:  | u8 family length | family |
//! | flags | [cint key length] | [cint value length] | cint common | rest of row and qualifier |
//! | timestamp, 1 to 8 bytes, low byte first | [type] | value |
//! flags: 1 same key length, 2 same value length, 4 same type, 8 timestamp is previous - this one,
//!        70 size of the timestamp - 1, 80 the timestamp is negative
//! ```
//! `common` counts row and column, not timestamp and type.

use super::{Previous, Unpacked, begin, common_prefix, fill_key};
use crate::{
    error::Parsed,
    input::{Input, put_cint},
};
use martite_cell::{CellRef, key};

const SAME_KEY_LENGTH: u8 = 1;
const SAME_VALUE_LENGTH: u8 = 1 << 1;
const SAME_TYPE: u8 = 1 << 2;
const STAMP_IS_DIFF: u8 = 1 << 3;
const STAMP_SIZE_SHIFT: u8 = 4;
const STAMP_NEGATIVE: u8 = 1 << 7;

pub(super) fn encode(out: &mut Vec<u8>, cell: &CellRef<'_>, previous: Option<(&[u8], &[u8])>) {
    let stamp = cell.timestamp() as i64;
    let (mut flags, mut common, mut written) = (0, 0, stamp);
    match previous {
        None => {
            out.push(cell.family().len() as u8);
            out.extend_from_slice(cell.family());
        }
        Some((previous, value)) => {
            common = common_prefix(cell.key, previous, false);
            flags |= if cell.key.len() == previous.len() { SAME_KEY_LENGTH } else { 0 };
            flags |= if cell.value.len() == value.len() { SAME_VALUE_LENGTH } else { 0 };
            flags |= if cell.type_code() == key::type_code(previous) { SAME_TYPE } else { 0 };
            let diff = (key::timestamp(previous) as i64).wrapping_sub(stamp);
            if size_of_stamp(diff) < size_of_stamp(stamp) {
                flags |= STAMP_IS_DIFF;
                written = diff;
            }
        }
    }
    flags |= if written < 0 { STAMP_NEGATIVE } else { 0 };
    let size = size_of_stamp(written);
    flags |= (size as u8 - 1) << STAMP_SIZE_SHIFT;
    out.push(flags);
    if flags & SAME_KEY_LENGTH == 0 {
        put_cint(out, cell.key.len() as u32);
    }
    if flags & SAME_VALUE_LENGTH == 0 {
        put_cint(out, cell.value.len() as u32);
    }
    put_cint(out, common as u32);
    put_row_and_qualifier(out, cell, common);
    out.extend_from_slice(&written.unsigned_abs().to_le_bytes()[..size]);
    if flags & SAME_TYPE == 0 {
        out.push(cell.type_code());
    }
    out.extend_from_slice(cell.value);
}

/// What follows the common part of the key, without family, timestamp and type.
pub(super) fn put_row_and_qualifier(out: &mut Vec<u8>, cell: &CellRef<'_>, common: usize) {
    let row_end = 2 + cell.row().len();
    if common < row_end {
        out.extend_from_slice(&cell.key[common..row_end]);
        out.extend_from_slice(cell.qualifier());
    } else {
        out.extend_from_slice(&cell.key[common..cell.key.len() - key::TS_TYPE_SIZE]);
    }
}

/// Bytes that hold the magnitude.
fn size_of_stamp(stamp: i64) -> usize {
    (8 - stamp.unsigned_abs().leading_zeros() as usize / 8).max(1)
}

pub(super) fn decode(input: &mut Input<'_>, out: &mut Vec<u8>, previous: &mut Previous) -> Parsed<Unpacked> {
    if previous.cell.is_none() {
        let len = input.u8()?;
        previous.family = vec![len];
        previous.family.extend_from_slice(input.take(len as usize)?);
    }
    let before = previous.cell;
    let flags = input.u8()?;
    let only_later = flags & (SAME_KEY_LENGTH | SAME_VALUE_LENGTH | SAME_TYPE | STAMP_IS_DIFF);
    if before.is_none() && only_later != 0 {
        return Err(format!("the first cell refers to a previous one (flags {flags:02x})"));
    }
    let key_len = match before {
        Some(before) if flags & SAME_KEY_LENGTH != 0 => before.key_len(),
        _ => input.cint()? as usize,
    };
    let value_len = match before {
        Some(before) if flags & SAME_VALUE_LENGTH != 0 => before.value_len(),
        _ => input.cint()? as usize,
    };
    let common = input.cint()? as usize;
    let key_at = begin(out, before.as_ref(), key_len, value_len, common)?;
    let same_row = before.is_some_and(|b| common >= 2 + key::row_len(&out[b.key..b.value]));
    fill_key(input, out, key_at, key_len, common, same_row, &previous.family)?;
    let size = (flags >> STAMP_SIZE_SHIFT & 7) as usize + 1;
    let mut stamp = [0; 8];
    stamp[..size].copy_from_slice(input.take(size)?);
    let mut stamp = i64::from_le_bytes(stamp);
    if flags & STAMP_NEGATIVE != 0 {
        stamp = stamp.wrapping_neg();
    }
    let mut code = None;
    if let Some(before) = before {
        let before = &out[before.key..before.value];
        if flags & STAMP_IS_DIFF != 0 {
            stamp = (key::timestamp(before) as i64).wrapping_sub(stamp);
        }
        if flags & SAME_TYPE != 0 {
            code = Some(key::type_code(before));
        }
    }
    out.extend_from_slice(&stamp.to_be_bytes());
    out.push(match code {
        Some(code) => code,
        None => input.u8()?,
    });
    let value = out.len();
    out.extend_from_slice(input.take(value_len)?);
    Ok(Unpacked { key: key_at, value, value_end: out.len() })
}
