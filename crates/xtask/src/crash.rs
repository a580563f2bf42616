//! `cargo xtask crash`: the crash test of crates/martite, for as many rounds as one likes, with a released binary.

use crate::{Outcome, USAGE, at, cargo, succeed};
use std::ffi::OsString;

pub fn run(args: &[&str]) -> Outcome {
    let mut command = cargo();
    command.args(["test", "--package", "martite", "--test", "crash"]);
    let mut settings = vec![("MARTITE_CRASH_ROUNDS", OsString::from("200"))];
    let mut rest = args;
    while let [name, value, after @ ..] = rest {
        let variable = match *name {
            "--rounds" => "MARTITE_CRASH_ROUNDS",
            "--seed" => "MARTITE_CRASH_SEED",
            "--binary" => "MARTITE_CRASH_BINARY",
            _ => return Err(USAGE.to_owned()),
        };
        let value = match variable {
            "MARTITE_CRASH_BINARY" => std::path::absolute(value).map_err(at(value.as_ref()))?.into_os_string(),
            _ => value.into(),
        };
        settings.push((variable, value));
        rest = after;
    }
    if !rest.is_empty() {
        return Err(USAGE.to_owned());
    }
    if settings.iter().all(|(variable, _)| *variable != "MARTITE_CRASH_BINARY") {
        command.arg("--release");
    }
    command.args(["--", "--nocapture"]).envs(settings);
    succeed(&mut command)
}
