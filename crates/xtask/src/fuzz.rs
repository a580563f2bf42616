//! `cargo xtask fuzz`: builds the fuzzer so that it is fast, checks arithmetic and counts coverage; starts it.

use crate::{Outcome, at, cargo, root};
use std::path::PathBuf;
use std::process::Command;

/// Counters for each edge of the control flow, with a stable compiler; checks that a release build leaves out.
const RUSTFLAGS: [&str; 7] = [
    "--cfg=martite_coverage",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=3",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Ccodegen-units=4",
    "-Cdebug-assertions=on",
    "-Coverflow-checks=on",
];

/// The runner says how an input that ended its process is repeated only if it is still there to do so.
const KILLED: &str = "the fuzzer did not end by itself: its last input is target/fuzz/TARGET/running; repeat it with";

pub fn run(args: &[&str]) -> Outcome {
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    // A target is named so that the flags are not those of build scripts and macros.
    let target = host()?;
    let mut build = cargo();
    build.args([
        "build",
        "--quiet",
        "--release",
        "--package",
        "martite-fuzz",
        "--bin",
        "martite-fuzz",
        "--target",
        &target,
    ]);
    build.env("CARGO_ENCODED_RUSTFLAGS", RUSTFLAGS.join("\x1f")).env("CARGO_PROFILE_RELEASE_LTO", "off");
    let folder = folder.join("fuzz-build");
    build.arg("--target-dir").arg(&folder);
    crate::succeed(&mut build)?;
    let binary = folder.join(target).join("release/martite-fuzz");
    let status = Command::new(&binary).args(args).current_dir(root()).status().map_err(at(&binary))?;
    match status.code() {
        Some(0) => Ok(()),
        Some(1 | 2) => Err(format!("fuzz: {status}")),
        _ => Err(format!("{KILLED}\ncargo run -p martite-fuzz -- TARGET --input FILE")),
    }
}

/// The platform that this compiler builds for.
fn host() -> Outcome<String> {
    let output = Command::new("rustc").arg("-vV").current_dir(root()).output().map_err(|e| format!("rustc: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not tell its host".to_owned())
}
