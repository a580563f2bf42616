//! Length fields, found by looking: a number that says how far something reaches.
//!
//! ```text
//! … 00 00 00 04 | 66 6f 75 72 | …      a u32 whose value fits into what follows
//! … 00 00 00 02 | 66 72 | …            content removed, length true
//! … 00 00 00 05 | 66 6f 75 72 | …      length off by one
//! ```

use crate::Dice;
use crate::mutate::bytes::number;

/// A length field and its content.
struct Field {
    at: usize,
    /// Bytes of the number: 1, 2 or 4.
    width: usize,
    len: usize,
}

impl Field {
    fn content(&self) -> std::ops::Range<usize> {
        self.at + self.width..self.at + self.width + self.len
    }
    fn write(&self, out: &mut [u8], len: usize) {
        if let Some(place) = out.get_mut(self.at..self.at + self.width) {
            place.copy_from_slice(&(len as u64).to_be_bytes()[8 - self.width..]);
        }
    }
}

/// Looks from a random place for what could be a length.
fn find(dice: &mut Dice, bytes: &[u8]) -> Option<Field> {
    let start = dice.cut(bytes.len());
    for at in (start..bytes.len()).take(64) {
        for width in [4, 2, 1] {
            let Some(number) = bytes.get(at..at + width) else { continue };
            let len = number.iter().fold(0usize, |n, b| n << 8 | *b as usize);
            if len > 0 && len <= bytes.len() - at - width && !dice.one_in(4) {
                return Some(Field { at, width, len });
            }
        }
    }
    None
}

/// Changes a content and tells its length, or only the length.
pub(super) fn change(dice: &mut Dice, out: &mut Vec<u8>, other: &[u8]) {
    let Some(field) = find(dice, out) else { return };
    let content = field.content();
    match dice.below(6) {
        0 => field.write(out, (field.len + dice.below(5)).wrapping_sub(2)),
        1 => {
            let lie = number(dice) as usize;
            field.write(out, lie);
        }
        2 => {
            let cut = content.start + dice.cut(field.len);
            out.drain(cut..content.end);
            field.write(out, cut - content.start);
        }
        3 => {
            let part = vec![dice.byte(); 1 + dice.length(300)];
            field.write(out, field.len + part.len());
            let at = content.start + dice.cut(field.len);
            out.splice(at..at, part);
        }
        4 => {
            let part = &other[dice.cut(other.len())..];
            let part = &part[..dice.length(part.len())];
            field.write(out, part.len());
            out.splice(content, part.iter().copied());
        }
        // The whole record once more, or gone.
        _ => {
            let record = field.at..content.end;
            if dice.one_in(2) {
                out.drain(record);
            } else {
                let copy = out[record.clone()].to_vec();
                out.splice(record.end..record.end, copy);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_records_are_still_whole_now_and_then() {
        let input = [&[0, 0, 0, 4][..], b"four", &[0, 0, 0, 3], b"two"].concat();
        let whole = |mut rest: &[u8]| {
            while let Some((len, after)) = rest.split_first_chunk::<4>() {
                let Some((_, after)) = after.split_at_checked(u32::from_be_bytes(*len) as usize) else { return false };
                rest = after;
            }
            rest.is_empty()
        };
        let mut dice = Dice::new(1);
        let changed = (0..1000).map(|_| {
            let mut out = input.clone();
            change(&mut dice, &mut out, b"other bytes");
            out
        });
        let (sound, torn): (Vec<_>, Vec<_>) = changed.filter(|c| *c != input).partition(|c| whole(c));
        assert!(sound.len() > 100 && torn.len() > 100, "{} {}", sound.len(), torn.len());
    }
}
