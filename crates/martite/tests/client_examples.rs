//! The native client's examples, run on the real server.
#![allow(clippy::unwrap_used)]

#[path = "../../client/examples/counters.rs"]
mod counters;
#[path = "../../client/examples/load.rs"]
mod load;
#[path = "../../client/examples/tour.rs"]
mod tour;

use martite_client::{Connection, Options, Registry};
use martite_testkit::Server;
use std::path::Path;
use std::time::Duration;

#[tokio::test]
async fn examples_do_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_martite"));
    let server = Server::start(binary, &folder.path().join("data"), &["--memory", "256m"]).unwrap();
    let registry = Registry::rpc(&format!("{},{}", server.master, server.regionserver));
    let connection = Connection::connect(Options::new(registry)).await.unwrap();

    let lines = tour::run(&connection, "tour").await.unwrap();
    assert_eq!(lines, ["ann is 41", "ann lives in Bonn", "mia lives in Rome", "zoe lives in Bonn"]);
    assert_eq!(counters::run(&connection, "counters").await.unwrap(), (100, 1));
    for what in ["get", "put", "multi"] {
        let (operations, rows) = load::run(&connection, "load", 10, Duration::from_millis(100), what).await.unwrap();
        let each = if what == "multi" { 100 } else { 1 };
        assert!(operations >= 10, "{what}: {operations}");
        assert_eq!(rows, operations * each, "{what}");
    }
}
