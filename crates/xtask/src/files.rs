//! `cargo xtask files`: files both ways between Martite and HBase's own classes. See compat/files/README.md.

use crate::{Outcome, USAGE, e2e, root, succeed};
use martite_testkit::Server;
use std::path::Path;
use std::process::Command;

pub fn run(args: &[&str]) -> Outcome {
    let binary = match args {
        [] => e2e::build()?,
        ["--binary", binary] => binary.into(),
        _ => return Err(USAGE.to_owned()),
    };
    let folder = tempfile::tempdir().map_err(|e| format!("a temporary folder: {e}"))?;
    let data = folder.path().join("data");
    let server = Server::start(&binary, &data, &[]).map_err(|e| e2e::keep(e.to_string(), folder.path()))?;
    check(&server, &data).map_err(|message| e2e::keep(message, &folder.keep()))
}

/// Both writers and both readers, then what this server writes below `data`.
pub fn check(server: &Server, data: &Path) -> Outcome {
    let work = tempfile::tempdir().map_err(|e| format!("a temporary folder: {e}"))?;
    let script = || Command::new(root().join("compat/files/check.sh"));
    let zookeeper = format!("localhost:{}", server.zookeeper.port());
    let outcome = succeed(script().arg("tool").arg(work.path().join("tool")))
        .and_then(|()| succeed(script().args(["server", &zookeeper]).arg(data).arg(work.path().join("server"))));
    outcome.map_err(|message| format!("{message}\nthe files: {}", work.keep().display()))
}
