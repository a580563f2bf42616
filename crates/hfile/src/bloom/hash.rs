//! The hash functions that a bloom filter may use. Murmur (2) is HBase's default.

/// By the numbers in the bloom meta block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HashType {
    Jenkins = 0,
    Murmur = 1,
    Murmur3 = 2,
}

impl HashType {
    pub(crate) fn from_code(code: u32) -> Option<HashType> {
        Some(match code {
            0 => HashType::Jenkins,
            1 => HashType::Murmur,
            2 => HashType::Murmur3,
            _ => return None,
        })
    }

    pub(crate) fn of(self, key: &[u8], seed: i32) -> i32 {
        let seed = seed as u32;
        (match self {
            HashType::Jenkins => jenkins(key, seed),
            HashType::Murmur => murmur(key, seed),
            HashType::Murmur3 => murmur3(key, seed),
        }) as i32
    }
}

/// Up to four bytes, low one first.
fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, b| word << 8 | *b as u32)
}

/// MurmurHash2, with the one peculiarity of HBase's: bytes of the tail are sign-extended.
fn murmur(key: &[u8], seed: u32) -> u32 {
    const M: u32 = 0x5bd1_e995;
    let mut hash = seed ^ key.len() as u32;
    let (words, tail) = key.as_chunks::<4>();
    for bytes in words {
        let mut k = u32::from_le_bytes(*bytes).wrapping_mul(M);
        k ^= k >> 24;
        hash = hash.wrapping_mul(M) ^ k.wrapping_mul(M);
    }
    if !tail.is_empty() {
        for (i, byte) in tail.iter().enumerate() {
            hash ^= (*byte as i8 as u32) << (8 * i);
        }
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ hash >> 15
}

/// MurmurHash3, x86, 32 bits.
fn murmur3(key: &[u8], seed: u32) -> u32 {
    let mix = |k: u32| k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let mut hash = seed;
    let (words, tail) = key.as_chunks::<4>();
    for bytes in words {
        hash = (hash ^ mix(u32::from_le_bytes(*bytes))).rotate_left(13);
        hash = hash.wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    if !tail.is_empty() {
        hash ^= mix(word(tail));
    }
    hash ^= key.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// Bob Jenkins' lookup3 (hashlittle).
fn jenkins(key: &[u8], seed: u32) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(key.len() as u32).wrapping_add(seed);
    let (mut a, mut b, mut c) = (start, start, start);
    let mut rest = key;
    while rest.len() > 12 {
        a = a.wrapping_add(word(&rest[..4]));
        b = b.wrapping_add(word(&rest[4..8]));
        c = c.wrapping_add(word(&rest[8..12]));
        a = a.wrapping_sub(c) ^ c.rotate_left(4);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(6);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(8);
        b = b.wrapping_add(a);
        a = a.wrapping_sub(c) ^ c.rotate_left(16);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(19);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(4);
        b = b.wrapping_add(a);
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    let part = |from: usize| word(rest.get(from..rest.len().min(from + 4)).unwrap_or_default());
    a = a.wrapping_add(part(0));
    b = b.wrapping_add(part(4));
    c = c.wrapping_add(part(8));
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
    use super::*;

    #[test]
    fn published_values() {
        // lookup3.c's own driver.
        assert_eq!(jenkins(b"Four score and seven years ago", 0), 0x1777_0551);
        assert_eq!(jenkins(b"Four score and seven years ago", 1), 0xcd62_8161);
        assert_eq!(jenkins(b"", 0), 0xdead_beef);
        // MurmurHash3_x86_32.
        assert_eq!(murmur3(b"", 1), 0x514e_28b7);
        assert_eq!(murmur3(b"hello, world", 0), 0x149b_bb7f);
        assert_eq!(murmur3(b"aaa", 0x9747_b28c), 0x283e_0130);
        // MurmurHash2, ASCII only.
        assert_eq!(murmur(b"", 0), 0);
    }
}
