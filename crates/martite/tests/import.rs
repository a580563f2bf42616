//! `martite import-tsv` as a user runs it.

use martite_client::{Connection, Get, Options, Registry, Table};
use martite_testkit::Server;
use std::path::Path;
use std::process::Command;

fn server(folder: &Path) -> Server {
    Server::start(Path::new(env!("CARGO_BIN_EXE_martite")), &folder.join("data"), &[]).expect("a server")
}

/// Whether it went well, what it told and what it logged.
fn import(server: &Server, words: &[&str], path: &Path) -> (bool, String, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_martite"))
        .args(["import-tsv", &format!("-Dhbase.zookeeper.quorum={}", server.zookeeper)])
        .args(words)
        .arg(path)
        .output()
        .expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (run.status.success(), text(&run.stdout), text(&run.stderr))
}

async fn table(server: &Server, name: &str) -> Table {
    let registry = Registry::zookeeper(&server.zookeeper.to_string());
    let connection = Connection::connect(Options::new(registry)).await.expect("a connection");
    connection.table(name.parse().expect("a name"))
}

#[tokio::test]
async fn lines_become_rows_and_bad_ones_are_counted_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path());
    let file = folder.path().join("people.csv");
    std::fs::write(&file, "ann,1,x\nbob,2\nno delimiter\n,3,z\ncid,4,y,too many\neve,5,v\n").unwrap();
    let columns = "-Dimporttsv.columns=HBASE_ROW_KEY,f:n,g";
    let options = ["-Dimporttsv.separator=,", columns, "-Dimporttsv.timestamp=77"];

    let (well, _, errors) = import(&server, &[&options[..], &["people"]].concat(), &file);
    assert!(!well && errors.contains("Table 'people' does not exist"), "{errors}");
    let dry = [&options[..], &["-Dcreate.table=yes", "-Dimporttsv.dry.run=true", "people"]].concat();
    let (well, told, errors) = import(&server, &dry, &file);
    assert!(well && told.contains("3 rows read and not imported"), "{told}\n{errors}");

    let (well, told, errors) = import(&server, &[&options[..], &["-Dcreate.table=yes", "people"]].concat(), &file);
    assert!(well, "{told}\n{errors}");
    assert!(told.contains("3 rows imported from 1 files") && told.contains("Bad Lines=3"), "{told}");
    for bad in ["Bad line at offset: 14:\nNo delimiter (", "line 3)", "Empty value for ROW KEY.", "Excessive columns"] {
        assert!(errors.contains(bad), "{bad}: {errors}");
    }
    let people = table(&server, "people").await;
    let ann = people.get(Get::row("ann")).await.unwrap();
    assert_eq!((ann.len(), ann.value("f", "n"), ann.value("g", "")), (2, Some(&b"1"[..]), Some(&b"x"[..])));
    assert_eq!(ann.cell("f", "n").map(|cell| cell.timestamp()), Some(77));
    assert_eq!(people.get(Get::row("bob")).await.unwrap().len(), 1);

    // A family that is not there is told before a line is read; a bad line may end it.
    let (well, _, errors) = import(&server, &["-Dimporttsv.columns=HBASE_ROW_KEY,h:n", "people"], &file);
    assert!(!well && errors.contains("[\"h\"] do not exist"), "{errors}");
    let strict = [&options[..], &["-Dimporttsv.skip.bad.lines=false", "people"]].concat();
    let (well, _, errors) = import(&server, &strict, &file);
    assert!(!well && errors.contains("Bad line at offset: 14"), "{errors}");
}

#[tokio::test]
async fn many_lines_of_a_folder_are_imported_in_batches() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path());
    let input = folder.path().join("input");
    std::fs::create_dir(&input).unwrap();
    for part in 0..3 {
        let lines: String = (0..7000).map(|i| format!("{:06}\t{i}\n", part * 7000 + i)).collect();
        std::fs::write(input.join(format!("part-{part}")), lines).unwrap();
    }
    std::fs::write(input.join("_SUCCESS"), "").unwrap();
    let words = ["-Dimporttsv.columns=HBASE_ROW_KEY,f:i", "-Dcreate.table=yes", "many"];
    let (well, told, errors) = import(&server, &words, &input);
    assert!(well && told.contains("21000 rows imported from 3 files"), "{told}\n{errors}");
    let many = table(&server, "many").await;
    for (row, value) in [("000000", "0"), ("007001", "1"), ("020999", "6999")] {
        assert_eq!(many.get(Get::row(row)).await.unwrap().value("f", "i"), Some(value.as_bytes()));
    }
    let mut scanner = many.scan(martite_client::Scan::new());
    let mut rows = 0;
    while scanner.next().await.unwrap().is_some() {
        rows += 1;
    }
    assert_eq!(rows, 21_000);
}
