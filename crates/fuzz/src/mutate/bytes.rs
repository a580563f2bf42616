//! Changes that know nothing of the form: bytes, numbers, cuts, splices.

use crate::Dice;

/// Numbers at the borders of types and of what formats allow.
const NUMBERS: [u64; 24] = [
    0,
    1,
    2,
    4,
    8,
    16,
    0x20,
    0x40,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_fffe,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_ffff,
];

/// An interesting number.
pub(super) fn number(dice: &mut Dice) -> u64 {
    let n = dice.pick(&NUMBERS).copied().unwrap_or_default();
    match dice.below(8) {
        0 => n.wrapping_sub(1),
        1 => n.wrapping_add(1),
        2 => dice.u64() >> dice.below(64),
        _ => n,
    }
}

/// Makes one change in place.
pub(super) fn change(dice: &mut Dice, out: &mut Vec<u8>, other: &[u8], words: &[Vec<u8>]) {
    if out.is_empty() {
        return insert(dice, out, other, words);
    }
    let at = dice.below(out.len());
    match dice.below(12) {
        0 => out[at] ^= 1 << dice.below(8),
        1 => out[at] = dice.byte(),
        2 => out[at] = out[at].wrapping_add(dice.below(5) as u8).wrapping_sub(2),
        3 | 4 => put_number(dice, out, at),
        5 => out.truncate(at),
        6 => remove(dice, out, at),
        7 => repeat(dice, out, at),
        8 => overwrite(dice, out, at, other),
        9 => splice(dice, out, at, other),
        10 => swap(dice, out, at),
        _ => insert(dice, out, other, words),
    }
}

/// Writes a number over the bytes at `at`, either end first.
fn put_number(dice: &mut Dice, out: &mut [u8], at: usize) {
    let width = 1 << dice.below(4);
    let Some(place) = out.get_mut(at..at + width) else { return };
    let mut bytes = [0; 8];
    bytes[8 - width..].copy_from_slice(place);
    let old = u64::from_be_bytes(bytes);
    let new = match dice.below(3) {
        0 => old.wrapping_add(dice.below(35) as u64).wrapping_sub(17),
        _ => number(dice),
    };
    place.copy_from_slice(&new.to_be_bytes()[8 - width..]);
    if dice.one_in(4) {
        place.reverse();
    }
}

fn remove(dice: &mut Dice, out: &mut Vec<u8>, at: usize) {
    let len = dice.length(out.len() - at);
    out.drain(at..at + len);
}

fn repeat(dice: &mut Dice, out: &mut Vec<u8>, at: usize) {
    let len = dice.length(out.len() - at);
    let part = out[at..at + len].to_vec();
    let times = 1 + dice.length(64.min(4096 / len.max(1)));
    let to = dice.cut(out.len());
    out.splice(to..to, part.repeat(times));
}

fn overwrite(dice: &mut Dice, out: &mut [u8], at: usize, other: &[u8]) {
    let from = dice.cut(other.len());
    let len = dice.length((other.len() - from).min(out.len() - at));
    out[at..at + len].copy_from_slice(&other[from..from + len]);
}

/// The front of this, the back of the other.
fn splice(dice: &mut Dice, out: &mut Vec<u8>, at: usize, other: &[u8]) {
    let from = if dice.one_in(2) { at.min(other.len()) } else { dice.cut(other.len()) };
    out.truncate(at);
    out.extend_from_slice(&other[from..]);
}

fn swap(dice: &mut Dice, out: &mut [u8], at: usize) {
    let with = dice.below(out.len());
    let len = dice.length(out.len() - at.max(with));
    for i in 0..len {
        out.swap(at + i, with + i);
    }
}

fn insert(dice: &mut Dice, out: &mut Vec<u8>, other: &[u8], words: &[Vec<u8>]) {
    let at = dice.cut(out.len());
    let part = match dice.below(4) {
        0 | 1 if !words.is_empty() => dice.pick(words).cloned().unwrap_or_default(),
        2 if !other.is_empty() => {
            let from = dice.below(other.len());
            other[from..from + dice.length(other.len() - from)].to_vec()
        }
        _ => {
            let byte = dice.byte();
            let same = dice.one_in(2);
            (0..1 + dice.length(64)).map(|_| if same { byte } else { dice.byte() }).collect()
        }
    };
    out.splice(at..at, part);
}
