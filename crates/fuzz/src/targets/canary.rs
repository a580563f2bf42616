//! Targets that must fail: a runner that does not catch them catches nothing.
//!
//! Each reads `| 'M' | u32 length | content |` and makes one of the classic mistakes.

use crate::mutate::Form;
use crate::target::{Budget, Target, no_words};
use std::sync::atomic::{AtomicBool, Ordering};

/// Believes an index.
pub const PANIC: Target = Target { name: "canary-panic", run: panics, ..CANARY };
/// Believes a length.
pub const MEMORY: Target = Target { name: "canary-memory", run: allocates, ..CANARY };
/// Never comes to the end of a record of length 0.
pub const HANG: Target = Target { name: "canary-hang", run: hangs, ..CANARY };

/// The target [`PANIC`] without its mistake: must not fail.
pub const SOUND: Target = Target { name: "canary-sound", run: is_sound, ..CANARY };

const CANARY: Target = Target {
    name: "canary",
    run: is_sound,
    seeds,
    words: no_words,
    form: Form::Binary,
    max_len: 1 << 10,
    budget: Budget { fixed_bytes: 1 << 20, per_byte: 16 },
    smoke: 10_000,
};

/// Lets a hanging canary go.
pub static RELEASE: AtomicBool = AtomicBool::new(false);

fn seeds() -> Vec<Vec<u8>> {
    vec![b"M\0\0\0\x04fourM\0\0\0\x02ok".to_vec()]
}

fn record(input: &[u8]) -> Option<(usize, &[u8])> {
    let rest = input.strip_prefix(b"M")?;
    let (len, content) = rest.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*len) as usize, content))
}

fn is_sound(input: &[u8]) {
    if let Some((len, content)) = record(input) {
        let _ = content.get(..len).map(|c| c.iter().map(|b| *b as usize).sum::<usize>());
    }
}

fn panics(input: &[u8]) {
    if let Some((len, content)) = record(input) {
        let _ = content[..len].iter().map(|b| *b as usize).sum::<usize>();
    }
}

fn allocates(input: &[u8]) {
    if let Some((len, content)) = record(input) {
        let mut copy: Vec<u8> = Vec::with_capacity(len);
        copy.extend_from_slice(&content[..content.len().min(len)]);
        std::hint::black_box(&copy);
    }
}

fn hangs(mut input: &[u8]) {
    while let Some((len, content)) = record(input) {
        if len > 0 {
            input = content.get(len..).unwrap_or_default();
        } else if RELEASE.load(Ordering::Relaxed) {
            return;
        } else {
            std::thread::yield_now();
        }
    }
}
