//! The native client on the real server.
#![allow(clippy::unwrap_used)]

use martite_catalog::{FamilyDescriptor, TableDescriptor, TableName};
use martite_client::{Action, CheckAndMutate, Connection, Delete, Get, Increment, Options, Put, Registry, Scan, Table};
use martite_testkit::Server;
use std::path::Path;

struct Rig {
    _folder: tempfile::TempDir,
    _server: Server,
    connection: Connection,
}

async fn rig() -> Rig {
    let folder = tempfile::tempdir().unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_martite"));
    let server = Server::start(binary, &folder.path().join("data"), &["--memory", "256m"]).unwrap();
    let registry = Registry::zookeeper(&server.zookeeper.to_string());
    let connection = Connection::connect(Options::new(registry)).await.unwrap();
    Rig { _folder: folder, _server: server, connection }
}

impl Rig {
    async fn table(&self, name: &str, splits: &[&[u8]]) -> Table {
        let name = TableName::parse(name).unwrap();
        let descriptor = TableDescriptor::new(name.clone()).with_family(FamilyDescriptor::new("f"));
        self.connection.admin().create_table(&descriptor, splits).await.unwrap();
        self.connection.table(name)
    }
}

fn keys(rows: &[martite_client::Row]) -> Vec<String> {
    rows.iter().map(|row| String::from_utf8_lossy(row.row()).into_owned()).collect()
}

#[tokio::test]
async fn rows_are_written_and_read() {
    let rig = rig().await;
    let table = rig.table("t", &[b"g", b"p"]).await;
    for row in ["a", "h", "z"] {
        table.put(Put::row(row).column("f", "q", row).column_at("f", "old", 5, "5")).await.unwrap();
    }
    let row = table.get(Get::row("h")).await.unwrap();
    assert_eq!((row.value("f", "q"), row.cell("f", "old").unwrap().timestamp()), (Some(&b"h"[..]), 5));
    assert!(table.get(Get::row("none")).await.unwrap().is_empty());
    assert!(table.exists(Get::row("a")).await.unwrap());
    assert!(!table.exists(Get::row("a").column("f", "none")).await.unwrap());

    let rows = table.scan(Scan::new().column("f", "q")).collect().await.unwrap();
    assert_eq!(keys(&rows), ["a", "h", "z"]);
    let rows = table.scan(Scan::new().reversed(true).limit(2)).collect().await.unwrap();
    assert_eq!(keys(&rows), ["z", "h"]);

    let counted = table.increment(Increment::row("a").column("f", "n", 5)).await.unwrap();
    assert_eq!(counted.counter("f", "n"), Some(5));
    let check = || CheckAndMutate::row("a").if_equals("f", "q", "a").put(Put::row("a").column("f", "q", "b"));
    assert!(table.check_and_mutate(check()).await.unwrap().0);
    assert!(!table.check_and_mutate(check()).await.unwrap().0);
    table.delete(Delete::row("h")).await.unwrap();
    let actions: Vec<Action> = vec![
        Get::row("a").column("f", "q").into(),
        Put::row("m").column("f", "q", "m").into(),
        Get::row("h").into(),
        Get::row("z").column("g", "q").into(),
    ];
    let results = table.batch(actions).await;
    assert_eq!(results[0].as_ref().unwrap().value("f", "q"), Some(&b"b"[..]));
    assert!(results[1].as_ref().unwrap().is_empty() && results[2].as_ref().unwrap().is_empty());
    assert!(results[3].as_ref().unwrap_err().is("NoSuchColumnFamilyException"), "{:?}", results[3]);
    assert_eq!(keys(&table.scan(Scan::new()).collect().await.unwrap()), ["a", "m", "z"]);
}
