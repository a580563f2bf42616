//! FAST_DIFF: as DIFF, with timestamps cut by their common first bytes and repeated values left out.
//!
//! ```text
//! first cell:  | 00 | cint key length | cint value length | 00 | key | value |
//! others:      | flags | [cint key length] | [cint value length] | cint common | rest of row and qualifier |
//!              | rest of the timestamp | [type] | [value] |
//! flags: 7 timestamp bytes in common, 8 same key length, 10 same value length, 20 same type, 40 same value
//! ```

use super::{Previous, Unpacked, begin, common_prefix, diff::put_row_and_qualifier, fill_key};
use crate::{
    error::Parsed,
    input::{Input, put_cint},
};
use martite_cell::{CellRef, key};

const STAMP_PREFIX: u8 = 7;
const SAME_KEY_LENGTH: u8 = 1 << 3;
const SAME_VALUE_LENGTH: u8 = 1 << 4;
const SAME_TYPE: u8 = 1 << 5;
const SAME_VALUE: u8 = 1 << 6;

pub(super) fn encode(out: &mut Vec<u8>, cell: &CellRef<'_>, previous: Option<(&[u8], &[u8])>) {
    let Some((previous, value)) = previous else {
        out.push(0);
        put_cint(out, cell.key.len() as u32);
        put_cint(out, cell.value.len() as u32);
        put_cint(out, 0);
        out.extend_from_slice(cell.key);
        return out.extend_from_slice(cell.value);
    };
    let common = common_prefix(cell.key, previous, false);
    let (stamp, before) = (cell.timestamp().to_be_bytes(), key::timestamp(previous).to_be_bytes());
    let shared = stamp.iter().zip(before).take(STAMP_PREFIX as usize).take_while(|(a, b)| *a == b).count();
    let mut flags = shared as u8;
    flags |= if cell.key.len() == previous.len() { SAME_KEY_LENGTH } else { 0 };
    flags |= if cell.value.len() == value.len() { SAME_VALUE_LENGTH } else { 0 };
    flags |= if cell.type_code() == key::type_code(previous) { SAME_TYPE } else { 0 };
    flags |= if cell.value == value { SAME_VALUE } else { 0 };
    out.push(flags);
    if flags & SAME_KEY_LENGTH == 0 {
        put_cint(out, cell.key.len() as u32);
    }
    if flags & SAME_VALUE_LENGTH == 0 {
        put_cint(out, cell.value.len() as u32);
    }
    put_cint(out, common as u32);
    put_row_and_qualifier(out, cell, common);
    out.extend_from_slice(&stamp[shared..]);
    if flags & SAME_TYPE == 0 {
        out.push(cell.type_code());
    }
    if flags & SAME_VALUE == 0 {
        out.extend_from_slice(cell.value);
    }
}

pub(super) fn decode(input: &mut Input<'_>, out: &mut Vec<u8>, previous: &Previous) -> Parsed<Unpacked> {
    let flags = input.u8()?;
    let Some(before) = previous.cell else {
        if flags != 0 {
            return Err(format!("the first cell refers to a previous one (flags {flags:02x})"));
        }
        return decode_first(input, out);
    };
    let key_len = if flags & SAME_KEY_LENGTH != 0 { before.key_len() } else { input.cint()? as usize };
    let value_len = if flags & SAME_VALUE_LENGTH != 0 { before.value_len() } else { input.cint()? as usize };
    if flags & SAME_VALUE != 0 && value_len != before.value_len() {
        return Err(format!("the same value with {value_len} bytes instead of {}", before.value_len()));
    }
    let common = input.cint()? as usize;
    let key_at = begin(out, Some(&before), key_len, value_len, common)?;
    let before_key = &out[before.key..before.value];
    let row_end = 2 + key::row_len(before_key);
    let family_end = row_end + 1 + key::family(before_key).len();
    if common < row_end {
        let mut family = [0; 256];
        let family = &mut family[..family_end - row_end];
        family.copy_from_slice(&before_key[row_end..family_end]);
        fill_key(input, out, key_at, key_len, common, false, family)?;
    } else {
        fill_key(input, out, key_at, key_len, common, true, &[])?;
    }
    let shared = (flags & STAMP_PREFIX) as usize;
    let stamp_at = before.value - key::TS_TYPE_SIZE;
    out.extend_from_within(stamp_at..stamp_at + shared);
    out.extend_from_slice(input.take(8 - shared)?);
    match flags & SAME_TYPE {
        0 => out.push(input.u8()?),
        _ => out.extend_from_within(before.value - 1..before.value),
    }
    let value = out.len();
    match flags & SAME_VALUE {
        0 => out.extend_from_slice(input.take(value_len)?),
        _ => out.extend_from_within(before.value..before.value_end),
    }
    Ok(Unpacked { key: key_at, value, value_end: out.len() })
}

fn decode_first(input: &mut Input<'_>, out: &mut Vec<u8>) -> Parsed<Unpacked> {
    let (key_len, value_len, common) = (input.cint()? as usize, input.cint()? as usize, input.cint()? as usize);
    let key = begin(out, None, key_len, value_len, common)?;
    out.extend_from_slice(input.take(key_len)?);
    let value = out.len();
    out.extend_from_slice(input.take(value_len)?);
    Ok(Unpacked { key, value, value_end: out.len() })
}
