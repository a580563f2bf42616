//! [`Mutator`]: one input makes another: a few changes, each blind or with an eye for the form of the bytes.
//!
//! | change | what for |
//! |---|---|
//! | flips, random bytes, interesting numbers, small sums | lengths, counts, flags |
//! | cuts, repetitions, insertions, splices with another input | torn and joined records |
//! | words of the target's language | names, keywords |
//! | a length that is kept true while its content grows or shrinks ([`lengths`]) | what is behind a length check |
//! | fields of protobuf messages, all lengths kept true ([`proto`]) | what is behind a decoder |

mod bytes;
mod lengths;
mod proto;

use crate::Dice;

/// The form that a target's inputs have; decides which changes are worth trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Records and numbers.
    Binary,
    /// Characters and words.
    Text,
    /// A protobuf message behind so many bytes.
    Proto(usize),
}

/// Makes inputs from inputs.
pub struct Mutator {
    pub form: Form,
    /// Words of the target's language.
    pub words: Vec<Vec<u8>>,
    /// No input gets longer.
    pub max_len: usize,
}

/// Changes stacked at most.
const MOST_CHANGES: usize = 6;

impl Mutator {
    /// A changed copy of `input`; `other` may lend parts.
    pub fn mutate(&self, dice: &mut Dice, input: &[u8], other: &[u8]) -> Vec<u8> {
        let mut out = input.to_vec();
        for _ in 0..1 + dice.below(MOST_CHANGES).min(dice.below(MOST_CHANGES)) {
            self.change(dice, &mut out, other);
            out.truncate(self.max_len);
        }
        out
    }

    fn change(&self, dice: &mut Dice, out: &mut Vec<u8>, other: &[u8]) {
        match self.form {
            Form::Proto(skip) if out.len() > skip && !dice.one_in(4) => {
                let tail = out.split_off(skip);
                let other = other.get(skip..).unwrap_or_default();
                out.extend(proto::change(dice, &tail, other, &self.words));
            }
            Form::Binary if dice.one_in(4) => lengths::change(dice, out, other),
            _ => bytes::change(dice, out, other, &self.words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_inputs_and_none_is_too_long() {
        for form in [Form::Binary, Form::Text, Form::Proto(1)] {
            let mutator = Mutator { form, words: vec![b"word".to_vec()], max_len: 60 };
            let input = b"\x01\x0a\x05hello\x10\x07\x00\x00\x00\x04four";
            let run = || {
                let mut dice = Dice::new(5);
                (0..500).map(|_| mutator.mutate(&mut dice, input, b"\x01\x0a\x02ok")).collect::<Vec<_>>()
            };
            let made = run();
            assert_eq!(made, run());
            assert!(made.iter().all(|m| m.len() <= 60));
            let different = made.iter().collect::<std::collections::BTreeSet<_>>().len();
            assert!(different > 300, "{form:?}: {different}");
            assert!(mutator.mutate(&mut Dice::new(1), b"", b"").len() <= 60);
        }
    }
}
