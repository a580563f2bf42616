//! [`Input`]: reads numbers and slices off the front of untrusted bytes.
//!
//! Two variable-length integers occur in HFiles:
//!
//! ```text
//! vlong  Hadoop's: one byte for -112..=127, else a byte that tells sign and size, then big-endian bytes
//!        300 = 8e 01 2c    -300 = 86 01 2b
//! cint   7 bits per byte, low ones first, high bit set on all but the last byte
//!        300 = ac 02
//! ```

use crate::error::Parsed;

#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Input<'a> {
        Input { rest: bytes }
    }
    pub(crate) fn len(&self) -> usize {
        self.rest.len()
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Parsed<&'a [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(len) else {
            return Err(format!("{len} bytes are needed, {} are left", self.rest.len()));
        };
        self.rest = rest;
        Ok(taken)
    }
    #[inline]
    fn array<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        let Some((taken, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(format!("{N} bytes are needed, {} are left", self.rest.len()));
        };
        self.rest = rest;
        Ok(*taken)
    }
    pub(crate) fn u8(&mut self) -> Parsed<u8> {
        self.array::<1>().map(|[b]| b)
    }
    pub(crate) fn u16(&mut self) -> Parsed<u16> {
        self.array().map(u16::from_be_bytes)
    }
    pub(crate) fn u32(&mut self) -> Parsed<u32> {
        self.array().map(u32::from_be_bytes)
    }
    pub(crate) fn u64(&mut self) -> Parsed<u64> {
        self.array().map(u64::from_be_bytes)
    }
    /// Hadoop's vlong.
    #[inline]
    pub(crate) fn vlong(&mut self) -> Parsed<i64> {
        let first = self.u8()? as i8;
        if first >= -112 {
            return Ok(first as i64);
        }
        let negative = first < -120;
        let size = if negative { -120 - first as i32 } else { -112 - first as i32 } as usize;
        let value = self.take(size)?.iter().fold(0i64, |v, b| v << 8 | *b as i64);
        Ok(if negative { !value } else { value })
    }
    /// A length written as vlong.
    pub(crate) fn vlong_len(&mut self) -> Parsed<usize> {
        let len = self.vlong()?;
        usize::try_from(len).map_err(|_| format!("length {len}"))
    }
    pub(crate) fn cint(&mut self) -> Parsed<u32> {
        let mut value = 0u32;
        for shift in (0..35).step_by(7) {
            let byte = self.u8()?;
            if shift == 28 && byte > 0x0f {
                break;
            }
            value |= ((byte & 0x7f) as u32) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number of more than 32 bits".to_owned())
    }
}

pub(crate) fn put_vlong(out: &mut Vec<u8>, value: i64) {
    if (-112..=127).contains(&value) {
        return out.push(value as u8);
    }
    let (magnitude, base) = if value < 0 { (!value, -120i8) } else { (value, -112i8) };
    let size = 8 - magnitude.leading_zeros() as usize / 8;
    out.push((base - size as i8) as u8);
    out.extend_from_slice(&magnitude.to_be_bytes()[8 - size..]);
}

/// Bytes that a length takes as vlong.
pub(crate) fn vlong_size(len: usize) -> usize {
    if len <= 127 { 1 } else { 9 - (len as u64).leading_zeros() as usize / 8 }
}

pub(crate) fn put_cint(out: &mut Vec<u8>, mut value: u32) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Length and bytes, the length as vlong.
pub(crate) fn put_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    put_vlong(out, bytes.len() as i64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vlongs_as_hadoop_writes_them() {
        let known: [(i64, &[u8]); 8] = [
            (0, b"\0"),
            (127, b"\x7f"),
            (-112, b"\x90"),
            (128, b"\x8f\x80"),
            (300, b"\x8e\x01\x2c"),
            (-300, b"\x86\x01\x2b"),
            (i64::MAX, b"\x88\x7f\xff\xff\xff\xff\xff\xff\xff"),
            (i64::MIN, b"\x80\x7f\xff\xff\xff\xff\xff\xff\xff"),
        ];
        for (value, bytes) in known {
            let mut out = Vec::new();
            put_vlong(&mut out, value);
            assert_eq!(out, bytes, "{value}");
            if let Ok(len) = usize::try_from(value) {
                assert_eq!(vlong_size(len), bytes.len());
            }
            let mut input = Input::new(bytes);
            assert_eq!((input.vlong(), input.len()), (Ok(value), 0));
            assert!(Input::new(&bytes[..bytes.len() - 1]).vlong().is_err());
        }
    }

    #[test]
    fn cints_round_trip_and_end_at_32_bits() {
        for value in [0, 1, 127, 128, 300, 16_383, 16_384, u32::MAX] {
            let mut out = Vec::new();
            put_cint(&mut out, value);
            assert_eq!(Input::new(&out).cint(), Ok(value));
        }
        assert!(Input::new(b"\xff\xff\xff\xff\x1f").cint().is_err());
        assert!(Input::new(b"\x80").cint().is_err());
    }
}
