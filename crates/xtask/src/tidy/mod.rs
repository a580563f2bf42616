//! `cargo xtask tidy`: the house rules that a machine can check.
//!
//! | rule | where |
//! |---|---|
//! | crates depend on lower layers only | [`layers`] |
//! | every source file begins with `//!` | [`source`] |
//! | files of at most 800 lines, functions of at most 70, tests apart; exceptions in tidy-allow.txt only shrink | [`ratchet`] |

mod layers;
mod ratchet;
mod source;

use crate::{Outcome, USAGE};

pub fn run(args: &[&str]) -> Outcome {
    let update = match *args {
        [] => false,
        ["--update"] => true,
        _ => return Err(USAGE.to_owned()),
    };
    let mut problems = layers::check()?;
    let files = source::read_all()?;
    problems.extend(files.iter().filter(|f| !f.has_heading()).map(|f| format!("{}: does not begin with //!", f.path)));
    problems.extend(ratchet::check(&files, update)?);
    if problems.is_empty() {
        Ok(())
    } else {
        Err(format!("{}\ntidy: {} problems", problems.join("\n"), problems.len()))
    }
}
