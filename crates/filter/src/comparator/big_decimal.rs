//! BigDecimalComparator: decimal numbers, `| i32 scale | unscaled value, two's complement |`; value = unscaled / 10^scale.
//!
//! Numbers are compared as digit strings: by sign, then by the place of the first digit, then digit by digit.
//! 1.20 (scale 2, digits 120, first digit in place 3 - 2 = 1) equals 1.2 (scale 1, digits 12, place 2 - 1 = 1).

use super::Input;
use crate::error::{Result, evaluation};
use bytes::Bytes;
use martite_proto as pb;
use std::cmp::Ordering;

pub(super) const CLASS: &str = "BigDecimalComparator";

/// Longer numbers are refused: taking one apart into digits costs the square of its length.
const MAX_UNSCALED_BYTES: usize = 4096;

#[derive(Debug)]
pub(super) struct BigDecimal {
    pub bytes: Bytes,
    number: Number,
}

#[derive(Debug)]
struct Number {
    negative: bool,
    /// Decimal digits without leading and trailing zeros; none for zero.
    digits: Vec<u8>,
    /// Power of ten above the first digit.
    place: i64,
}

pub(super) fn decode(input: &Input<'_>) -> Result<BigDecimal> {
    let bytes = input.comparable::<pb::BigDecimalComparator>(|m| m.comparable)?;
    let number = Number::parse(&bytes).map_err(|reason| input.malformed(reason))?;
    Ok(BigDecimal { bytes, number })
}

impl BigDecimal {
    pub fn compare(&self, cell: &[u8]) -> Result<Ordering> {
        let cell = Number::parse(cell).map_err(|reason| evaluation(CLASS, reason))?;
        Ok(self.number.cmp(&cell))
    }
}

impl Number {
    fn parse(bytes: &[u8]) -> std::result::Result<Number, String> {
        let (scale, unscaled) = match bytes.split_first_chunk::<4>() {
            Some((scale, unscaled)) if !unscaled.is_empty() => (i32::from_be_bytes(*scale), unscaled),
            _ => return Err(format!("{} bytes are not a decimal number", bytes.len())),
        };
        if unscaled.len() > MAX_UNSCALED_BYTES {
            return Err(format!("a decimal number of {} bytes is too long to compare", bytes.len()));
        }
        let negative = unscaled[0] & 0x80 != 0;
        let mut digits = decimal_digits(magnitude(unscaled, negative));
        let place = digits.len() as i64 - i64::from(scale);
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Ok(Number { negative, digits, place })
    }

    fn cmp(&self, other: &Number) -> Ordering {
        let sign = |n: &Number| if n.digits.is_empty() { 0 } else { 1 - 2 * i32::from(n.negative) };
        let (a, b) = (sign(self), sign(other));
        if a != b || a == 0 {
            return a.cmp(&b);
        }
        // Without trailing zeros the shorter of two equal beginnings is the smaller number, as slices compare.
        let by_size = self.place.cmp(&other.place).then_with(|| self.digits.cmp(&other.digits));
        if a < 0 { by_size.reverse() } else { by_size }
    }
}

/// Absolute value as 32-bit words, most significant first.
fn magnitude(two_complement: &[u8], negative: bool) -> Vec<u32> {
    let fill = if negative { 0xff } else { 0 };
    let mut padded = vec![fill; (4 - two_complement.len() % 4) % 4];
    padded.extend_from_slice(two_complement);
    let mut words: Vec<u32> = padded.chunks_exact(4).map(|w| u32::from_be_bytes([w[0], w[1], w[2], w[3]])).collect();
    if negative {
        let mut carry = true;
        for word in words.iter_mut().rev() {
            (*word, carry) = (!*word).overflowing_add(u32::from(carry));
        }
    }
    words
}

/// Digits without leading zeros, nine at a time.
fn decimal_digits(mut words: Vec<u32>) -> Vec<u8> {
    let mut digits = Vec::new();
    let mut first = 0;
    while first < words.len() {
        let mut remainder = 0u64;
        for word in &mut words[first..] {
            let value = remainder << 32 | u64::from(*word);
            *word = (value / 1_000_000_000) as u32;
            remainder = value % 1_000_000_000;
        }
        for _ in 0..9 {
            digits.push((remainder % 10) as u8);
            remainder /= 10;
        }
        while first < words.len() && words[first] == 0 {
            first += 1;
        }
    }
    while digits.last() == Some(&0) {
        digits.pop();
    }
    digits.reverse();
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering::{Equal, Greater, Less};

    fn bytes(unscaled: i128, scale: i32) -> Vec<u8> {
        let mut unscaled = &unscaled.to_be_bytes()[..];
        // As short as Java writes it.
        while unscaled.len() > 1
            && (unscaled[0] == 0 && unscaled[1] < 0x80 || unscaled[0] == 0xff && unscaled[1] >= 0x80)
        {
            unscaled = &unscaled[1..];
        }
        [&scale.to_be_bytes()[..], unscaled].concat()
    }

    #[test]
    fn numbers_compare_by_value_whatever_their_scale() {
        let cases = [
            ((120, 2), (12, 1), Equal),
            ((1, 0), (10, 1), Equal),
            ((0, 0), (0, 7), Equal),
            ((0, 0), (1, i32::MAX), Less),
            ((-1, i32::MAX), (0, 0), Less),
            ((123, 1), (124, 1), Less),
            ((-123, 1), (-124, 1), Greater),
            ((-1, 0), (1, 0), Less),
            ((1, i32::MIN), (9, i32::MAX), Greater),
            ((-1, i32::MIN), (-9, i32::MAX), Less),
            ((999_999_999, 0), (1_000_000_000, 0), Less),
            ((i128::MAX, 0), (i128::MIN, 0), Greater),
            ((i128::MIN, 3), (i128::MIN, 2), Greater),
            ((5, -3), (5000, 0), Equal),
        ];
        for (a, b, want) in cases {
            let (x, y) = (Number::parse(&bytes(a.0, a.1)).unwrap(), Number::parse(&bytes(b.0, b.1)).unwrap());
            assert_eq!(x.cmp(&y), want, "{a:?} against {b:?}");
            assert_eq!(y.cmp(&x), want.reverse(), "{b:?} against {a:?}");
        }
    }

    #[test]
    fn digits_are_those_of_the_number() {
        for n in [0i128, 7, -7, 128, -128, 1 << 64, -(1 << 96), i128::MAX, i128::MIN] {
            let number = Number::parse(&bytes(n, 0)).unwrap();
            let want = n.unsigned_abs().to_string();
            let want: Vec<u8> = want.trim_end_matches('0').bytes().map(|b| b - b'0').collect();
            assert_eq!(number.digits, want, "{n}");
        }
    }

    #[test]
    fn what_is_no_number_is_an_error() {
        assert_eq!(Number::parse(&[0; 4]).unwrap_err(), "4 bytes are not a decimal number");
        assert_eq!(Number::parse(&[1; 5000]).unwrap_err(), "a decimal number of 5000 bytes is too long to compare");
    }
}
