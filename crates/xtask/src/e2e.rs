//! `cargo xtask e2e`: builds the binary, starts it in a temporary folder, runs compat/java and then a short sweep of HBase's
//! PerformanceEvaluation against it, stops it.
//!
//! When a test fails the folder with the server's data and log stays; its name is printed.

use crate::{Outcome, USAGE, at, cargo, root, succeed};
use martite_testkit::Server;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Default)]
struct Options<'a> {
    /// Line of the client: 2.2, 2.4, 2.5, 2.6.
    client: Option<&'a str>,
    /// Test classes, as Maven takes them.
    test: Option<&'a str>,
    /// A binary that is there already.
    binary: Option<PathBuf>,
}

impl<'a> Options<'a> {
    fn parse(mut args: &[&'a str]) -> Outcome<Options<'a>> {
        let mut options = Options::default();
        while let [name, value, ref rest @ ..] = *args {
            match name {
                "--client" => options.client = Some(value),
                "--test" => options.test = Some(value),
                "--binary" => options.binary = Some(value.into()),
                _ => return Err(USAGE.to_owned()),
            }
            args = rest;
        }
        if args.is_empty() { Ok(options) } else { Err(USAGE.to_owned()) }
    }
}

pub fn run(args: &[&str]) -> Outcome {
    let options = Options::parse(args)?;
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => build()?,
    };
    let folder = tempfile::tempdir().map_err(|e| format!("a temporary folder: {e}"))?;
    let data = folder.path().join("data");
    let server = Server::start(&binary, &data, &[]).map_err(|e| keep(e.to_string(), folder.path()))?;
    let mut tested = succeed(&mut tests(&options, &server));
    if tested.is_ok() && options.client.is_none() && options.test.is_none() {
        tested = evaluation(&server, folder.path()).and_then(|mut sweep| succeed(&mut sweep));
    }
    let outcome = tested.and_then(|()| match server.stop(&binary, &data) {
        Ok(0) => Ok(()),
        Ok(code) => Err(format!("the server ended with code {code}")),
        Err(error) => Err(format!("the server did not stop: {error}")),
    });
    outcome.map_err(|message| {
        let kept = folder.keep();
        keep(message, &kept)
    })
}

fn keep(message: String, folder: &Path) -> String {
    format!("{message}\nthe server's data and log: {}", folder.display())
}

/// An optimised binary: the tests are about answers, but a slow server makes them wait.
fn build() -> Outcome<PathBuf> {
    succeed(cargo().args(["build", "--release", "--package", "martite"]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let binary = target.join("release/martite");
    binary.canonicalize().map_err(at(&binary))
}

fn tests(options: &Options<'_>, server: &Server) -> Command {
    let mut maven = Command::new("mvn");
    maven.args(["--quiet", "--batch-mode", "--file"]).arg(root().join("compat/java/pom.xml")).arg("test");
    maven.arg(format!("-Dserver.zk={}", server.zookeeper));
    maven.arg(format!("-Dserver.masters={}", server.master));
    if let Some(client) = options.client {
        maven.arg(format!("-Dclient={client}"));
    }
    if let Some(test) = options.test {
        maven.arg(format!("-Dtest={test}"));
    }
    maven
}

/// HBase's own load generator: scripts/pe-sweep.sh.
fn evaluation(server: &Server, folder: &Path) -> Outcome<Command> {
    let property =
        |name: &str, value: &str| format!("<property><name>{name}</name><value>{value}</value></property>\n");
    let site = [
        "<configuration>\n".to_owned(),
        property("hbase.zookeeper.quorum", "localhost"),
        property("hbase.zookeeper.property.clientPort", &server.zookeeper.port().to_string()),
        "</configuration>\n".to_owned(),
    ];
    let file = folder.join("hbase-site.xml");
    std::fs::write(&file, site.concat()).map_err(at(&file))?;
    let mut sweep = Command::new(root().join("scripts/pe-sweep.sh"));
    sweep.arg("--smoke").arg(folder);
    Ok(sweep)
}
