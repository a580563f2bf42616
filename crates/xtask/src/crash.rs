//! `cargo xtask crash`: the crash test of crates/martite, for as many rounds as one likes, with a released binary.

use crate::{Outcome, USAGE, cargo, succeed};

pub fn run(args: &[&str]) -> Outcome {
    let (rounds, seed) = match *args {
        [] => ("200", None),
        [rounds] => (rounds, None),
        [rounds, seed] => (rounds, Some(seed)),
        _ => return Err(USAGE.to_owned()),
    };
    let mut command = cargo();
    command.args(["test", "--release", "--package", "martite", "--test", "crash", "--", "--nocapture"]);
    command.env("MARTITE_CRASH_ROUNDS", rounds);
    if let Some(seed) = seed {
        command.env("MARTITE_CRASH_SEED", seed);
    }
    succeed(&mut command)
}
