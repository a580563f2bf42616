//! `cargo xtask model`: the same random operations through HBase's client against Martite and another server, which must answer
//! the same. See compat/model/README.md.

use crate::{Outcome, USAGE, at, e2e, root, succeed};
use martite_testkit::Server;
use std::path::Path;
use std::process::Command;

pub fn run(args: &[&str]) -> Outcome {
    let (mut against, mut binary, mut rest) = (None, None, Vec::new());
    let mut words = args.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--against" => against = words.next(),
            "--binary" => binary = words.next().map(Into::into),
            // The program's own.
            _ => rest.push(word),
        }
    }
    let against = against.ok_or(USAGE)?;
    let binary = binary.map_or_else(e2e::build, Ok)?;
    let folder = tempfile::tempdir().map_err(|e| format!("a temporary folder: {e}"))?;
    let classpath = compile(folder.path())?;
    let server = Server::start(&binary, &folder.path().join("data"), &[]).map_err(|e| e.to_string())?;
    let mut java = Command::new("java");
    java.args(["-Xmx768m", "-cp", &classpath, "martite.model.Model"]);
    java.args(["--left", &format!("localhost:{}", server.zookeeper.port()), "--right", against]).args(rest);
    succeed(&mut java)
}

/// The class path of the compiled program.
fn compile(folder: &Path) -> Outcome<String> {
    let home = root().join("compat/model");
    let (classes, list) = (folder.join("classes"), folder.join("classpath"));
    let mut maven = Command::new("mvn");
    maven.args(["--quiet", "--batch-mode", "--file"]).arg(home.join("pom.xml")).arg("dependency:build-classpath");
    succeed(maven.arg(format!("-Dmdep.outputFile={}", list.display())))?;
    let jars = std::fs::read_to_string(&list).map_err(at(&list))?;
    let mut javac = Command::new("javac");
    javac.args(["-cp", jars.trim(), "-d"]).arg(&classes);
    for entry in std::fs::read_dir(&home).map_err(at(&home))? {
        let path = entry.map_err(at(&home))?.path();
        if path.extension().is_some_and(|e| e == "java") {
            javac.arg(path);
        }
    }
    succeed(&mut javac)?;
    Ok(format!("{}:{}:{}", classes.display(), home.display(), jars.trim()))
}
