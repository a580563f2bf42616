//! Constants of the wire, and varints.
//!
//! ```text
//! 48 42 61 73 | 00 | 50      "HBas", version 0, authentication 0x50 (simple)
//! ```
//! Source: HBase 2.6 RPC; drawn in `docs/formats/rpc.md`.

/// Preamble of an ordinary connection; version and authentication follow.
pub const PREAMBLE_MAGIC: &[u8; 4] = b"HBas";
/// Length of every preamble.
pub const PREAMBLE_LEN: usize = 6;
/// Asks for the cluster id.
pub const PREAMBLE_REGISTRY: &[u8; 6] = b"Regist";
/// Asks for the server's Kerberos principal.
pub const PREAMBLE_SECURITY: &[u8; 6] = b"Securi";
pub const VERSION: u8 = 0;
pub const AUTH_SIMPLE: u8 = 0x50;
pub const AUTH_KERBEROS: u8 = 0x51;
pub const AUTH_DIGEST: u8 = 0x52;
/// SASL status "success", then this in place of a token length: go on without SASL.
pub const SWITCH_TO_SIMPLE_AUTH: i32 = -88;
/// Call id of answers that belong to no call.
pub const CONNECTION_CALL_ID: u32 = u32::MAX;
/// Bytes of the length that precedes each frame.
pub const FRAME_LEN: usize = 4;
/// Largest connection header accepted.
pub const MAX_CONNECTION_HEADER: usize = 4 << 20;

/// Bytes that `value` takes as a varint.
#[inline]
pub fn varint_len(value: u64) -> usize {
    (70 - (value | 1).leading_zeros() as usize) / 7
}

#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a varint; `None` if the bytes end before it does or it does not fit 64 bits.
#[inline]
pub fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    if let [b, rest @ ..] = bytes
        && *b < 0x80
    {
        return Some((u64::from(*b), rest));
    }
    let mut value = 0u64;
    for (i, b) in bytes.iter().take(10).enumerate() {
        if i == 9 && *b > 1 {
            return None;
        }
        value |= u64::from(b & 0x7f) << (7 * i);
        if *b < 0x80 {
            return Some((value, &bytes[i + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_have_prosts_length_and_bytes() {
        for shift in 0..64 {
            for value in [(1u64 << shift) - 1, 1 << shift, (1 << shift) + 1, u64::MAX] {
                let (mut ours, mut theirs) = (Vec::new(), Vec::new());
                put_varint(&mut ours, value);
                martite_proto::prost::encoding::encode_varint(value, &mut theirs);
                assert_eq!(ours, theirs);
                assert_eq!(varint_len(value), ours.len());
                assert_eq!(varint(&ours), Some((value, &[][..])));
                assert_eq!(varint(&ours[..ours.len() - 1]), None);
            }
        }
        assert_eq!(varint(&[0xff; 11]), None);
    }
}
