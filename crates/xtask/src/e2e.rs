//! `cargo xtask e2e`: builds the binary, starts it in a temporary folder, runs compat/java against it with the newest client,
//! its core with the older ones, then asynchbase, a short sweep of HBase's PerformanceEvaluation and HBase's file tools; stops it.
//!
//! When a test fails the folder with the server's data and log stays; its name is printed.

use crate::{Outcome, USAGE, at, cargo, files, root, succeed};
use martite_catalog::{FamilyDescriptor, TableDescriptor, TableName};
use martite_testkit::{Admin, Server};
use std::path::{Path, PathBuf};
use std::process::Command;

const OLDER_CLIENTS: [&str; 3] = ["2.2", "2.4", "2.5"];

/// What every client must do; the rest is about the server, or about what only newer ones have.
const CORE_TESTS: &str =
    "PutGetTest,ScanTest,DeleteTest,CheckAndMutateTest,BatchTest,IncrementAppendTest,FilterTest,RegistryTest";

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
        tested = others(&server, folder.path(), &data);
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

/// What comes after the tests of the newest client.
fn others(server: &Server, folder: &Path, data: &Path) -> Outcome {
    for client in OLDER_CLIENTS {
        let options = Options { client: Some(client), test: Some(CORE_TESTS), binary: None };
        succeed(&mut tests(&options, server))?;
    }
    asynchbase(server, folder)?;
    succeed(&mut evaluation(server, folder)?)?;
    files::check(server, data)
}

pub fn keep(message: String, folder: &Path) -> String {
    format!("{message}\nthe server's data and log: {}", folder.display())
}

/// The binary that `cargo test` builds for its own tests, with all checks of arithmetic: after those there is nothing left to compile.
pub fn build() -> Outcome<PathBuf> {
    succeed(cargo().args(["test", "--quiet", "--workspace", "--no-run"]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let binary = target.join("debug/martite");
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
        // Older clients do not have all classes.
        maven.args([format!("-Dtest={test}").as_str(), "-Dsurefire.failIfNoSpecifiedTests=false"]);
    }
    maven
}

/// The client of OpenTSDB: compat/asynchbase.
fn asynchbase(server: &Server, folder: &Path) -> Outcome {
    let create = async {
        let table = TableDescriptor::new(TableName::parse("asynchbase")?).with_family(FamilyDescriptor::new("f"));
        Admin::connect(server.master, server.regionserver).await?.create_table(&table, &[]).await
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime
        .and_then(|r| r.block_on(create).map_err(std::io::Error::other))
        .map_err(|e| format!("asynchbase's table: {e}"))?;
    let home = root().join("compat/asynchbase");
    let classpath = folder.join("asynchbase");
    let mut maven = Command::new("mvn");
    maven.args(["--quiet", "--batch-mode", "--file"]).arg(home.join("pom.xml")).arg("dependency:build-classpath");
    succeed(maven.arg(format!("-Dmdep.outputFile={}", classpath.display())))?;
    let jars = std::fs::read_to_string(&classpath).map_err(at(&classpath))?;
    let mut java = Command::new("java");
    java.args(["-cp", jars.trim()]).arg(home.join("Check.java"));
    succeed(java.arg(format!("localhost:{}", server.zookeeper.port())).arg("asynchbase"))
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
