//! [`Target`]: a function that is given any bytes and must bear them: no panic, no endless loop, no memory out of
//! proportion.

use crate::mutate::Form;

/// What a target may allocate: most bytes in use at a time, over those before it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub fixed_bytes: usize,
    /// Bytes more for each byte of input.
    pub per_byte: usize,
}

impl Budget {
    pub fn bytes(&self, input_len: usize) -> usize {
        self.fixed_bytes + self.per_byte * input_len
    }
}

/// Something to fuzz.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    /// Sound inputs, made by our own writers.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Names and keywords of the target's language.
    pub words: fn() -> Vec<Vec<u8>>,
    pub form: Form,
    pub max_len: usize,
    pub budget: Budget,
    /// Executions in the smoke test: a second or so in an unoptimised build.
    pub smoke: u64,
}

/// For targets without a language.
pub fn no_words() -> Vec<Vec<u8>> {
    Vec::new()
}

/// Words from texts.
pub fn words(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|t| t.as_bytes().to_vec()).collect()
}
