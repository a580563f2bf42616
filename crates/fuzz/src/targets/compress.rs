//! Decompression: cell blocks by stream codec, HFile blocks by algorithm.
//!
//! Input: `| codec | u16 limit in units of 64 bytes | packed bytes |`. More than the limit must never come out, nor be
//! allocated.

use crate::mutate::Form;
use crate::target::{Budget, Target, no_words};
use martite_compress::{Algorithm, StreamCodec};

pub const TARGET: Target = Target {
    name: "compress",
    run,
    seeds,
    words: no_words,
    form: Form::Binary,
    max_len: 9 << 10,
    // Twice the largest limit, for a buffer that grows, and the tables of a decoder.
    budget: Budget { fixed_bytes: (2 * MAX_LIMIT) + (1 << 20), per_byte: 64 },
    smoke: 8_000,
};

const UNIT: usize = 64;
const MAX_LIMIT: usize = UNIT * u16::MAX as usize;

const STREAMS: [StreamCodec; 6] = [
    StreamCodec::Gzip,
    StreamCodec::Deflate,
    StreamCodec::Snappy,
    StreamCodec::Lz4,
    StreamCodec::Zstd,
    StreamCodec::ZstdBlocks,
];

fn run(input: &[u8]) {
    let Some(([kind, high, low], packed)) = input.split_first_chunk::<3>() else { return };
    let limit = UNIT * u16::from_be_bytes([*high, *low]) as usize;
    let kind = *kind as usize;
    if let Some(codec) = STREAMS.get(kind % 16) {
        if let Ok(plain) = codec.decompress(packed, limit) {
            assert!(plain.len() <= limit, "{codec:?} gave {} bytes, at most {limit} were allowed", plain.len());
        }
        return;
    }
    let algorithm = Algorithm::ALL[kind % 16 % Algorithm::ALL.len()];
    let mut plain = b"before".to_vec();
    match algorithm.decompress(packed, limit, &mut plain) {
        Ok(()) => assert_eq!(plain.len(), 6 + limit, "{algorithm:?}"),
        Err(_) => assert!(plain.starts_with(b"before") && plain.len() <= 6 + limit + packed.len(), "{algorithm:?}"),
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let plain: Vec<u8> = (0..4096u32).flat_map(|i| (i / 9).to_be_bytes()).take(128 * UNIT).collect();
    let head = |kind: usize, units: u16| [vec![kind as u8], units.to_be_bytes().to_vec()].concat();
    let mut seeds = Vec::new();
    for (kind, codec) in STREAMS.iter().enumerate() {
        let mut seed = head(kind, 200);
        if codec.compress(&plain, &mut seed).is_ok() {
            seeds.push(seed);
        }
    }
    for kind in STREAMS.len()..16 {
        let algorithm = Algorithm::ALL[kind % Algorithm::ALL.len()];
        let mut seed = head(kind, 128);
        if algorithm.compress(&plain, &mut seed).is_ok() {
            seeds.push(seed);
        }
    }
    seeds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_has_a_seed_that_unpacks() {
        let seeds = seeds();
        let kinds: std::collections::BTreeSet<_> = seeds.iter().map(|s| s[0]).collect();
        assert!((0..6).all(|kind| kinds.contains(&kind)), "{kinds:?}");
        for seed in seeds.iter().filter(|s| s[0] >= 6) {
            let algorithm = Algorithm::ALL[seed[0] as usize % Algorithm::ALL.len()];
            assert!(algorithm.decompress(&seed[3..], 128 * UNIT, &mut Vec::new()).is_ok(), "{algorithm:?}");
        }
    }
}
