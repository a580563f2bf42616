//! Bob Jenkins' lookup3 hash (`hashlittle`), which gives old-format region names their encoded name.
//!
//! Worked example: `hbase:meta,,1` with seed 0 → 1588230740, the encoded name of hbase:meta.

/// The 32-bit hash of `key`.
pub fn hash(key: &[u8], seed: u32) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(key.len() as u32).wrapping_add(seed);
    let (mut a, mut b, mut c) = (start, start, start);
    let mut rest = key;
    while rest.len() > 12 {
        let (block, tail) = rest.split_at(12);
        (a, b, c) = add(block, a, b, c);
        (a, b, c) = mix(a, b, c);
        rest = tail;
    }
    if rest.is_empty() {
        return c;
    }
    let (a, b, c) = add(rest, a, b, c);
    last(a, b, c)
}

/// Adds up to twelve bytes, little-endian, to the three words.
fn add(block: &[u8], a: u32, b: u32, c: u32) -> (u32, u32, u32) {
    let mut words = [0_u32; 3];
    for (i, &byte) in block.iter().enumerate() {
        words[i / 4] |= u32::from(byte) << (8 * (i % 4));
    }
    (a.wrapping_add(words[0]), b.wrapping_add(words[1]), c.wrapping_add(words[2]))
}

fn mix(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    for [first, second, third] in [[4, 6, 8], [16, 19, 4]] {
        a = a.wrapping_sub(c) ^ c.rotate_left(first);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(second);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(third);
        b = b.wrapping_add(a);
    }
    (a, b, c)
}

fn last(mut a: u32, mut b: u32, mut c: u32) -> u32 {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn known_values() {
        assert_eq!(hash(b"", 0), 0xdead_beef);
        assert_eq!(hash(b"Four score and seven years ago", 0), 0x1777_0551);
        assert_eq!(hash(b"Four score and seven years ago", 1), 0xcd62_8161);
        assert_eq!((hash(b"hbase:meta,,1", 0) as i32).wrapping_abs(), 1_588_230_740);
    }
}
