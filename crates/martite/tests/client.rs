//! The native client on a real server: `MARTITE_TEST_ZOOKEEPER=host:port` names another one than the one that is built
//! here, Apache's for example. Tables have names of their own, and are dropped.
#![allow(clippy::unwrap_used)]

use martite_catalog::{FamilyDescriptor, TableDescriptor, TableName};
use martite_client::pb;
use martite_client::{Action, Append, CheckAndMutate, Connection, Delete, Error, Get, Increment, Options, Put};
use martite_client::{Registry, Row, RowMutations, Scan, Table};
use martite_env::{OsRandom, Random};
use martite_testkit::Server;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// After this it is too late.
const PATIENCE: Duration = Duration::from_secs(60);
const MEMORY: &[&str] = &["--memory", "256m"];

struct Rig {
    folder: tempfile::TempDir,
    /// None: the cluster is somebody else's.
    server: Option<Server>,
    connection: Connection,
    tables: parking_lot::Mutex<Vec<TableName>>,
}

fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_martite"))
}

impl Rig {
    async fn start() -> Rig {
        let folder = tempfile::tempdir().unwrap();
        let (server, zookeeper) = match std::env::var("MARTITE_TEST_ZOOKEEPER") {
            Ok(other) => (None, other),
            Err(_) => {
                let server = Server::start(binary(), &folder.path().join("data"), MEMORY).unwrap();
                let zookeeper = server.zookeeper.to_string();
                (Some(server), zookeeper)
            }
        };
        let mut options = Options::new(Registry::zookeeper(&zookeeper)).pause(Duration::from_millis(20));
        options.operation_timeout = PATIENCE;
        let connection = Connection::connect(options).await.unwrap();
        Rig { folder, server, connection, tables: Default::default() }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    async fn table(&self, splits: &[&[u8]]) -> Table {
        self.table_with(splits, FamilyDescriptor::new("f").with("VERSIONS", "5")).await
    }

    async fn table_with(&self, splits: &[&[u8]], family: FamilyDescriptor) -> Table {
        let name = TableName::parse(&format!("client_{:016x}", OsRandom.u64())).unwrap();
        let descriptor = TableDescriptor::new(name.clone()).with_family(family).with_family(FamilyDescriptor::new("g"));
        self.connection.admin().create_table(&descriptor, splits).await.unwrap();
        self.tables.lock().push(name.clone());
        self.connection.table(name)
    }

    async fn end(self) {
        let tables = std::mem::take(&mut *self.tables.lock());
        let admin = self.connection.admin();
        for table in tables {
            admin.disable_table(&table).await.unwrap();
            admin.delete_table(&table).await.unwrap();
        }
    }

    async fn master<Q: pb::Message, A: pb::Message + Default>(&self, method: &'static str, request: &Q) -> A {
        self.connection.master_call("MasterService", method, request).await.unwrap_or_else(|e| panic!("{method}: {e}"))
    }
}

fn keys(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| String::from_utf8_lossy(row.row()).into_owned()).collect()
}

async fn scan_keys(table: &Table, scan: Scan) -> Vec<String> {
    keys(&table.scan(scan).collect().await.unwrap())
}

#[tokio::test]
async fn rows_are_written_read_and_deleted() {
    let rig = Rig::start().await;
    let table = rig.table(&[b"g", b"p"]).await;
    for row in ["a", "h", "z"] {
        let put = Put::row(row).column("f", "q", row).column_at("f", "old", 5, "5").column("g", "", "e");
        table.put(put).await.unwrap();
    }
    let row = table.get(Get::row("h")).await.unwrap();
    assert_eq!((row.row(), row.len(), row.is_stale(), row.is_partial()), (&b"h"[..], 3, false, false));
    assert_eq!((row.value("f", "q"), row.cell("f", "old").unwrap().timestamp()), (Some(&b"h"[..]), 5));
    assert_eq!(row.value("g", ""), Some(&b"e"[..]));
    assert_eq!(table.get(Get::row("h").family("g")).await.unwrap().len(), 1);
    assert!(table.get(Get::row("none")).await.unwrap().is_empty());
    assert!(table.exists(Get::row("a")).await.unwrap());
    assert!(!table.exists(Get::row("a").column("f", "none")).await.unwrap());

    for ts in [10, 20, 30] {
        table.put(Put::row("v").at(ts).column("f", "q", ts.to_string())).await.unwrap();
    }
    let stamps = |row: &Row| row.cells().map(|cell| cell.timestamp()).collect::<Vec<_>>();
    let versions = async |get: Get| stamps(&table.get(get).await.unwrap());
    assert_eq!(versions(Get::row("v").all_versions()).await, [30, 20, 10]);
    assert_eq!(versions(Get::row("v").max_versions(2)).await, [30, 20]);
    assert_eq!(versions(Get::row("v").time_range(10, 30)).await, [20]);
    assert_eq!(versions(Get::row("v").at(10)).await, [10]);
    table.delete(Delete::row("v").column("f", "q")).await.unwrap();
    assert_eq!(versions(Get::row("v").all_versions()).await, [20, 10]);
    table.delete(Delete::row("v").column_at("f", "q", 10)).await.unwrap();
    assert_eq!(versions(Get::row("v").all_versions()).await, [20]);
    table.delete(Delete::row("v").columns("f", "q")).await.unwrap();
    assert!(versions(Get::row("v")).await.is_empty());
    table.delete(Delete::row("h").family("f")).await.unwrap();
    assert_eq!(table.get(Get::row("h")).await.unwrap().len(), 1);
    table.delete(Delete::row("z")).await.unwrap();
    assert_eq!(scan_keys(&table, Scan::new()).await, ["a", "h"]);
    let raw = table.scan(Scan::new().raw(true).all_versions().start("v").stop_after("v")).collect().await.unwrap();
    assert!(raw[0].cells().any(|cell| cell.is_delete()), "{raw:?}");

    let failed = table.put(Put::row("a").column("x", "q", "v")).await.unwrap_err();
    assert!(failed.is("NoSuchColumnFamilyException"), "{failed}");
    rig.end().await;
}

#[tokio::test]
async fn cells_travel_compressed_and_with_their_tags() {
    let rig = Rig::start().await;
    let table = rig.table(&[]).await;
    let mut options = rig.connection.options().clone();
    options.codec = "org.apache.hadoop.hbase.codec.KeyValueCodecWithTags".to_owned();
    options.compressor = Some("org.apache.hadoop.io.compress.GzipCodec".to_owned());
    let packed = Connection::connect(options).await.unwrap().table(table.name().clone());
    let value = vec![b'v'; 100_000];
    packed.put(Put::row("r").column("f", "q", &value).ttl_ms(600_000)).await.unwrap();
    let puts = (0..10).map(|i| Put::row(format!("s{i}")).column("f", "q", &value).into()).collect();
    assert!(packed.batch(puts).await.iter().all(Result::is_ok));
    for table in [&table, &packed] {
        assert_eq!(table.get(Get::row("r")).await.unwrap().value("f", "q"), Some(&value[..]));
        assert_eq!(scan_keys(table, Scan::new()).await.len(), 11);
    }
    rig.end().await;
}

#[tokio::test]
async fn counters_appends_and_checks_are_atomic() {
    let rig = Rig::start().await;
    let table = rig.table(&[]).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let table = table.clone();
        tasks.spawn(async move {
            for _ in 0..10 {
                table.increment(Increment::row("r").column("f", "n", 3)).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    let counted = table.increment(Increment::row("r").column("f", "n", 1).column("f", "m", -2)).await.unwrap();
    assert_eq!((counted.counter("f", "n"), counted.counter("f", "m")), (Some(301), Some(-2)));
    let silent = table.increment(Increment::row("r").column("f", "n", 1).return_results(false)).await.unwrap();
    assert!(silent.is_empty());
    let failed = table.increment(Increment::row("r").column("f", "q", 1)).await;
    assert_eq!(failed.unwrap().counter("f", "q"), Some(1));
    table.put(Put::row("r").column("f", "s", "ab")).await.unwrap();
    let failed = table.increment(Increment::row("r").column("f", "s", 1)).await.unwrap_err();
    assert!(failed.exception().unwrap().message().contains("2 bytes wide"), "{failed}");
    let appended = table.append(Append::row("r").column("f", "s", "cd").column("f", "t", "x")).await.unwrap();
    assert_eq!((appended.value("f", "s"), appended.value("f", "t")), (Some(&b"abcd"[..]), Some(&b"x"[..])));

    let put = |value: &str| Put::row("r").column("f", "s", value);
    let check = |value: &str| CheckAndMutate::row("r").if_equals("f", "s", value);
    assert!(table.check_and_mutate(check("abcd").put(put("1"))).await.unwrap().0);
    assert!(!table.check_and_mutate(check("abcd").put(put("2"))).await.unwrap().0);
    // The value given is less than what is there.
    let less = CheckAndMutate::row("r").if_matches("f", "s", pb::CompareType::Less, "0");
    assert!(table.check_and_mutate(less.put(put("3"))).await.unwrap().0);
    let absent = CheckAndMutate::row("r").if_absent("f", "none");
    let (held, row) = table.check_and_mutate(absent.increment(Increment::row("r").column("f", "n", 1))).await.unwrap();
    assert_eq!((held, row.counter("f", "n")), (true, Some(303)));
    let both = || RowMutations::row("r").put(put("4")).delete(Delete::row("r").columns("f", "t"));
    assert!(!table.check_and_mutate(check("9").mutations(both())).await.unwrap().0);
    assert!(table.check_and_mutate(check("3").mutations(both())).await.unwrap().0);
    let row = table.get(Get::row("r").column("f", "s").column("f", "t")).await.unwrap();
    assert_eq!((row.len(), row.value("f", "s")), (1, Some(&b"4"[..])));
    // An Append's cell is younger than the one it replaces, by a millisecond that may still be to come: a later Put names its time.
    let later = row.cell("f", "s").unwrap().timestamp() + 1;
    let put_later = Put::row("r").column_at("f", "s", later, "5");
    let mixed = RowMutations::row("r").put(put_later).increment(Increment::row("r").column("f", "n", 7));
    let row = table.mutate_row(mixed).await.unwrap();
    assert_eq!(row.counter("f", "n"), Some(310));
    let failed = table.mutate_row(both().put(Put::row("r").column("x", "q", "v"))).await.unwrap_err();
    assert!(failed.is("NoSuchColumnFamilyException"), "{failed}");
    assert_eq!(table.get(Get::row("r").column("f", "s")).await.unwrap().value("f", "s"), Some(&b"5"[..]));
    rig.end().await;
}

#[tokio::test]
async fn batches_reach_many_regions() {
    let rig = Rig::start().await;
    let splits: Vec<Vec<u8>> = (1..20).map(|i| format!("{:04}", i * 100).into_bytes()).collect();
    let splits: Vec<&[u8]> = splits.iter().map(Vec::as_slice).collect();
    let table = rig.table(&splits).await;
    let row = |i: usize| format!("{:04}", i * 7919 % 2000);
    let puts = (0..2000).map(|i| Put::row(row(i)).column("f", "q", row(i)).into()).collect();
    assert!(table.batch(puts).await.iter().all(Result::is_ok));
    let got = table.get_all((0..2000).map(|i| Get::row(row(i))).collect()).await;
    for (i, got) in got.iter().enumerate() {
        assert_eq!(got.as_ref().unwrap().value("f", "q"), Some(row(i).as_bytes()));
    }
    assert_eq!(scan_keys(&table, Scan::new()).await.len(), 2000);
    assert_eq!(table.locations().await.unwrap().len(), 20);

    let actions: Vec<Action> = vec![
        Get::row("0001").into(),
        Get::row("1999").column("x", "q").into(),
        Increment::row("0500").column("g", "n", 4).into(),
        Append::row("0501").column("f", "q", "+").into(),
        Delete::row("0502").into(),
        RowMutations::row("0503").put(Put::row("0503").column("g", "q", "m")).into(),
        CheckAndMutate::row("0504").if_equals("f", "q", "no").put(Put::row("0504").column("f", "q", "x")).into(),
        CheckAndMutate::row("0505").if_equals("f", "q", "0505").put(Put::row("0505").column("f", "q", "x")).into(),
        Put::row("0506").column("x", "q", "v").into(),
    ];
    let outcomes = table.batch_outcomes(actions).await;
    let fine = |i: usize| outcomes[i].as_ref().unwrap_or_else(|e| panic!("{i}: {e}"));
    assert_eq!(fine(0).row.value("f", "q"), Some(&b"0001"[..]));
    assert!(outcomes[1].as_ref().unwrap_err().is("NoSuchColumnFamilyException"));
    assert_eq!(fine(2).row.counter("g", "n"), Some(4));
    assert_eq!(fine(3).row.value("f", "q"), Some(&b"0501+"[..]));
    assert_eq!((fine(6).processed, fine(7).processed), (false, true));
    assert!(outcomes[8].as_ref().unwrap_err().is("NoSuchColumnFamilyException"));
    assert_eq!(scan_keys(&table, Scan::new().start("0500").limit(4)).await, ["0500", "0501", "0503", "0504"]);
    assert_eq!(table.get(Get::row("0505")).await.unwrap().value("f", "q"), Some(&b"x"[..]));
    rig.end().await;
}

/// The server reads those together that come together and are alike; here they are not all.
#[tokio::test]
async fn gets_that_come_together_are_answered_each_by_itself() {
    let rig = Rig::start().await;
    let table = rig.table(&[b"row2", b"row4", b"row6"]).await;
    let name = |i: usize| format!("row{}-{i}", i % 8);
    let puts = |rows: std::ops::Range<usize>| {
        let put =
            |i| Put::row(name(i)).column("f", "q", format!("value {i}")).column("f", "r", "2").column("g", "", "e");
        rows.map(|i| put(i).into()).collect::<Vec<_>>()
    };
    assert!(table.batch(puts(0..300)).await.iter().all(Result::is_ok));
    rig.connection.admin().flush_table(table.name()).await.unwrap();
    assert!(table.batch(puts(300..400)).await.iter().all(Result::is_ok));
    for round in 0..4 {
        let get = |i: usize| match i % (7 + round) {
            0 => Get::row(format!("row{}-none", i % 8)),
            1 => Get::row(name(i)).family("none"),
            2 => Get::row(name(i)).column("f", "none"),
            3 => Get::row(name(i)).column("f", "q"),
            _ => Get::row(name(i)),
        };
        let mut asked = tokio::task::JoinSet::new();
        for i in 0..400 {
            let (table, get) = (table.clone(), get(i));
            asked.spawn(async move { (i, table.get(get).await) });
        }
        while let Some(answer) = asked.join_next().await {
            let (i, answer) = answer.unwrap();
            let place = format!("{i} in round {round}");
            match (i % (7 + round), answer) {
                (1, Err(e)) => assert!(e.to_string().contains("none"), "{place}: {e}"),
                (0 | 2, Ok(row)) => assert!(row.is_empty(), "{place}"),
                (kind, Ok(row)) => {
                    assert_eq!(row.row(), name(i).as_bytes(), "{place}");
                    assert_eq!(row.value("f", "q"), Some(format!("value {i}").as_bytes()), "{place}");
                    assert_eq!(row.len(), if kind == 3 { 1 } else { 3 }, "{place}");
                }
                (_, Err(e)) => panic!("{place}: {e}"),
            }
        }
    }
    rig.end().await;
}

#[tokio::test]
async fn scans_begin_end_and_turn_where_they_are_told() {
    let rig = Rig::start().await;
    let table = rig.table(&[b"b", b"c", b"d"]).await;
    let all: Vec<String> = "abcde".chars().flat_map(|c| (0..5).map(move |i| format!("{c}{i}"))).collect();
    let puts = all.iter().map(|row| Put::row(row).column("f", "q", row).column("f", "r", "x").into()).collect();
    assert!(table.batch(puts).await.iter().all(Result::is_ok));
    let reversed: Vec<String> = all.iter().rev().cloned().collect();
    for caching in [1, 3, 100] {
        let scan = || Scan::new().caching(caching);
        assert_eq!(scan_keys(&table, scan()).await, all);
        assert_eq!(scan_keys(&table, scan().reversed(true)).await, reversed);
        assert_eq!(scan_keys(&table, scan().start("b3").stop("c1")).await, all[8..11]);
        assert_eq!(scan_keys(&table, scan().start_after("b3").stop_after("c1")).await, all[9..12]);
        assert_eq!(scan_keys(&table, scan().start("c1").stop("b3").reversed(true)).await, reversed[13..16]);
        assert_eq!(scan_keys(&table, scan().start_after("c0").stop_after("b3").reversed(true)).await, reversed[15..17]);
        assert_eq!(scan_keys(&table, scan().prefix("c")).await, all[10..15]);
        assert_eq!(scan_keys(&table, scan().limit(7)).await, all[..7]);
        assert_eq!(scan_keys(&table, scan().limit(7).reversed(true)).await, reversed[..7]);
        assert_eq!(scan_keys(&table, scan().limit(5)).await, all[..5]);
        assert_eq!(scan_keys(&table, scan().start("f")).await, [""; 0]);
        let pieces = table.scan(scan().batch(1)).collect().await.unwrap();
        assert!(pieces.len() == 50 && pieces.iter().all(|piece| piece.len() == 1));
        assert_eq!(keys(&pieces[..3]), ["a0", "a0", "a1"]);
    }
    let filter = pb::PrefixFilter { prefix: Some("d".into()) };
    let filter = pb::Filter {
        name: "org.apache.hadoop.hbase.filter.PrefixFilter".to_owned(),
        serialized_filter: Some(pb::Message::encode_to_vec(&filter).into()),
    };
    let mut scanner = table.scan(Scan::new().filter(filter).with_metrics(true));
    let mut count = 0;
    while let Some(row) = scanner.next().await.unwrap() {
        assert!(row.row().starts_with(b"d"));
        count += 1;
    }
    assert_eq!((count, scanner.metrics().get("REGIONS_SCANNED")), (5, 4));
    assert!(scanner.metrics().get("ROWS_SCANNED") >= 5, "{:?}", scanner.metrics());
    rig.end().await;
}

#[tokio::test]
async fn large_rows_come_in_parts_and_are_put_together() {
    let rig = Rig::start().await;
    let table = rig.table(&[b"m"]).await;
    for row in ["a", "b", "x"] {
        for chunk in 0..8 {
            let mut put = Put::row(row);
            for i in 0..10 {
                put.add("f", format!("{:03}", chunk * 10 + i), vec![b'v'; 50_000]);
            }
            table.put(put).await.unwrap();
        }
    }
    let rows = table.scan(Scan::new().max_result_bytes(500_000)).collect().await.unwrap();
    let shapes: Vec<_> = rows.iter().map(|row| (row.len(), row.is_partial())).collect();
    assert_eq!((keys(&rows), shapes), (vec!["a".to_owned(), "b".to_owned(), "x".to_owned()], vec![(80, false); 3]));
    let parts = table.scan(Scan::new().max_result_bytes(500_000).allow_partials(true)).collect().await.unwrap();
    assert!(parts.len() > 6 && parts.iter().any(Row::is_partial), "{}", parts.len());
    assert_eq!(parts.iter().map(Row::len).sum::<usize>(), 240);
    let batches = table.scan(Scan::new().max_result_bytes(500_000).batch(30)).collect().await.unwrap();
    assert_eq!(batches.iter().map(Row::len).collect::<Vec<_>>(), [30, 30, 20, 30, 30, 20, 30, 30, 20]);
    assert_eq!(table.get(Get::row("b")).await.unwrap().size_bytes(), rows[1].size_bytes());
    rig.end().await;
}

/// Regions close, open, split and move while rows are read and written.
#[tokio::test]
async fn nothing_is_lost_while_regions_come_and_go() {
    let rig = Rig::start().await;
    let table = rig.table_with(&[b"0500"], FamilyDescriptor::new("f").with("BLOCKSIZE", "1024")).await;
    let row = |i: u64| format!("{:04}", i % 1000);
    let puts = (0..1000).map(|i| Put::row(row(i)).column("f", "q", vec![b'v'; 500]).into()).collect();
    assert!(table.batch(puts).await.iter().all(Result::is_ok));
    let stop = Arc::new(AtomicBool::new(false));
    let (writes, scans) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..4 {
        let (table, stop, writes) = (table.clone(), stop.clone(), writes.clone());
        tasks.spawn(async move {
            let mut at = task * 250;
            while !stop.load(Ordering::Acquire) {
                at += 1;
                let counted = table.increment(Increment::row(row(at)).column("g", "n", 1)).await;
                counted.unwrap_or_else(|e| panic!("increment: {e}"));
                assert!(!table.get(Get::row(row(at * 7))).await.unwrap().is_empty());
                writes.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    for reversed in [false, true] {
        let (table, stop, scans) = (table.clone(), stop.clone(), scans.clone());
        tasks.spawn(async move {
            while !stop.load(Ordering::Acquire) {
                let scan = Scan::new().family("f").caching(50).reversed(reversed);
                let mut seen = scan_keys(&table, scan).await;
                if reversed {
                    seen.reverse();
                }
                assert_eq!(seen, (0..1000).map(row).collect::<Vec<_>>());
                scans.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    disturb(&rig, &table, &scans).await;
    stop.store(true, Ordering::Release);
    tasks.join_all().await;
    let rows = table.scan(Scan::new().family("g")).collect().await.unwrap();
    let counted: i64 = rows.iter().map(|row| row.counter("g", "n").unwrap()).sum();
    assert_eq!(counted, writes.load(Ordering::Relaxed) as i64);
    assert!(table.locations().await.unwrap().len() >= 3);
    rig.end().await;
}

/// Until each thing has happened several times, with a scan between.
async fn disturb(rig: &Rig, table: &Table, scans: &AtomicU64) {
    let admin = rig.connection.admin();
    let began = Instant::now();
    for round in 0..6 {
        let locations = table.locations().await.unwrap();
        let location = &locations[round % locations.len()];
        let region = martite_client::specifier(&location.info);
        match round % 3 {
            0 => {
                admin.flush_table(table.name()).await.unwrap();
                // A daughter that still has references is not split.
                let _ = admin.split_region(&location.info).await;
            }
            1 => {
                let unassign = pb::UnassignRegionRequest { region: region.clone(), force: None };
                let _: pb::UnassignRegionResponse = rig.master("UnassignRegion", &unassign).await;
                let assign = pb::AssignRegionRequest { region, r#override: None };
                let _: pb::AssignRegionResponse = rig.master("AssignRegion", &assign).await;
            }
            _ => {
                let request = pb::MoveRegionRequest { region, dest_server_name: None };
                let moved: Result<pb::MoveRegionResponse, Error> =
                    rig.connection.master_call("MasterService", "MoveRegion", &request).await;
                // A region that was split meanwhile, or a cluster of one server.
                assert!(moved.as_ref().err().is_none_or(|e| e.exception().is_some()), "{moved:?}");
            }
        }
        let before = scans.load(Ordering::Relaxed);
        while scans.load(Ordering::Relaxed) < before + 2 {
            assert!(began.elapsed() < PATIENCE, "no scan has ended in round {round}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test]
async fn a_server_that_ends_is_waited_for() {
    let mut rig = Rig::start().await;
    // Somebody else's server is not restarted.
    let Some(server) = rig.server.take() else { return };
    let table = rig.table(&[b"5"]).await;
    let puts = (0..10).map(|i| Put::row(i.to_string()).column("f", "q", "v").into()).collect();
    assert!(table.batch(puts).await.iter().all(Result::is_ok));
    let mut scanner = table.scan(Scan::new().caching(2));
    assert_eq!(scanner.next().await.unwrap().unwrap().row(), b"0");
    let counting = {
        let table = table.clone();
        tokio::spawn(async move {
            for _ in 0..50 {
                table.increment(Increment::row("n").column("f", "n", 1)).await.unwrap();
            }
        })
    };
    let data = rig.data();
    let restart = move || server.restart(binary(), &data, MEMORY).unwrap();
    let server = tokio::task::spawn_blocking(restart).await.unwrap();
    counting.await.unwrap();
    let row = table.increment(Increment::row("n").column("f", "n", 0)).await.unwrap();
    assert_eq!(row.counter("f", "n"), Some(50));
    let mut rest = Vec::new();
    while let Some(row) = scanner.next().await.unwrap() {
        rest.push(row);
    }
    assert_eq!(keys(&rest)[..9], ["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    rig.server = Some(server);
    rig.end().await;
}

#[tokio::test]
async fn limits_make_calls_wait_and_not_fail() {
    let rig = Rig::start().await;
    let table = rig.table(&[]).await;
    table.put(Put::row("r").column("f", "q", "v")).await.unwrap();
    let set = |limit: Option<u64>| pb::SetQuotaRequest {
        table_name: Some(table.name().to_proto()),
        throttle: Some(pb::ThrottleRequest {
            r#type: limit.map(|_| pb::ThrottleType::RequestNumber as i32),
            timed_quota: limit.map(|limit| pb::TimedQuota {
                time_unit: pb::TimeUnit::Seconds as i32,
                soft_limit: Some(limit),
                share: None,
                scope: Some(pb::QuotaScope::Machine as i32),
            }),
        }),
        ..Default::default()
    };
    let limited: Result<pb::SetQuotaResponse, Error> =
        rig.connection.master_call("MasterService", "SetQuota", &set(Some(20))).await;
    if let Err(refused) = limited {
        // HBase has to be told to have quotas (`hbase.quota.enabled`).
        assert!(rig.server.is_none() && refused.exception().is_some(), "{refused}");
        return rig.end().await;
    }
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let table = table.clone();
        tasks.spawn(async move {
            for _ in 0..3 {
                assert_eq!(table.get(Get::row("r")).await.unwrap().len(), 1);
            }
        });
    }
    tasks.join_all().await;
    let _: pb::SetQuotaResponse = rig.master("SetQuota", &set(None)).await;
    rig.end().await;
}

#[tokio::test]
async fn what_takes_too_long_ends() {
    let rig = Rig::start().await;
    let Registry::ZooKeeper { quorum, .. } = &rig.connection.options().registry else { panic!() };
    let nobody = Options::new(Registry::zookeeper("127.0.0.1:1")).operation_timeout(Duration::from_millis(300));
    let failed = Connection::connect(nobody).await.unwrap_err();
    assert!(failed.is_transient() && failed.to_string().contains("127.0.0.1:1"), "{failed}");
    let options = Options::new(Registry::zookeeper(&quorum.join(","))).operation_timeout(Duration::from_millis(400));
    let connection = Connection::connect(options.pause(Duration::from_millis(10))).await.unwrap();
    let missing = connection.table(TableName::parse("client_no_such_table").unwrap());
    let failed = missing.get(Get::row("r")).await.unwrap_err();
    assert!(failed.is("TableNotFoundException"), "{failed}");
    assert!(matches!(missing.scan(Scan::new()).next().await, Err(Error::TableNotFound(_))));
    assert!(missing.batch(vec![Get::row("r").into()]).await[0].is_err());

    let table = rig.table(&[]).await;
    rig.connection.admin().disable_table(table.name()).await.unwrap();
    let failed = table.put(Put::row("r").column("f", "q", "v")).await.unwrap_err();
    assert!(matches!(&failed, Error::TableDisabled(name) if name == table.name()), "{failed}");
    rig.connection.admin().delete_table(table.name()).await.unwrap();
    rig.tables.lock().clear();
    let failed = table.get(Get::row("r")).await.unwrap_err();
    assert!(failed.is("TableNotFoundException"), "{failed}");
    assert!(!connection.cluster_id().await.unwrap().is_empty());
    rig.end().await;
}
