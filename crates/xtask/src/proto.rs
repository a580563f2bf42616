//! `cargo xtask proto`: crates/proto/src/pb.rs from crates/proto/proto, without protoc.

use crate::{Outcome, USAGE, at, root};
use std::path::PathBuf;

pub fn run(args: &[&str]) -> Outcome {
    let check = match *args {
        [] => false,
        ["--check"] => true,
        _ => return Err(USAGE.to_owned()),
    };
    let crate_dir = root().join("crates/proto");
    let made = generate(crate_dir.join("proto"))?;
    let file = crate_dir.join("src/pb.rs");
    let there = std::fs::read_to_string(&file).map_err(at(&file))?;
    if there == made {
        return Ok(());
    }
    if check {
        return Err("crates/proto/src/pb.rs is not what crates/proto/proto says: run cargo xtask proto".to_owned());
    }
    std::fs::write(&file, made).map_err(at(&file))
}

fn generate(dir: PathBuf) -> Outcome<String> {
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(&dir).map_err(at(&dir))? {
        let path = entry.map_err(at(&dir))?.path();
        if path.extension().is_some_and(|e| e == "proto") {
            sources.push(path);
        }
    }
    // The order of the messages in the output follows.
    sources.sort();
    let files = protox::compile(&sources, [&dir]).map_err(|e| format!("{e:?}"))?;
    let out = tempfile::tempdir().map_err(|e| format!("a temporary folder: {e}"))?;
    let mut config = prost_build::Config::new();
    config.bytes(["."]).out_dir(out.path());
    config.compile_fds(files).map_err(|e| e.to_string())?;
    let made = out.path().join("hbase.pb.rs");
    std::fs::read_to_string(&made).map_err(at(&made))
}
