//! The real server's info port: what it was asked is what it says.
#![allow(clippy::unwrap_used)]

use martite_catalog::{FamilyDescriptor, TableDescriptor, TableName};
use martite_testkit::{Admin, Server, Table, TestError};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

const ROWS: u64 = 20;
const GETS: u64 = 3 * ROWS;

/// Status and body.
fn fetch(address: SocketAddr, path: &str) -> (u16, String) {
    let mut socket = TcpStream::connect(address).unwrap();
    write!(socket, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

fn bean(address: SocketAddr, sub: &str) -> Value {
    bean_of(address, "RegionServer", sub)
}

fn bean_of(address: SocketAddr, name: &str, sub: &str) -> Value {
    let (status, body) = fetch(address, &format!("/jmx?qry=Hadoop:service=HBase,name={name},sub={sub}"));
    assert_eq!(status, 200, "{body}");
    let beans: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(beans["beans"].as_array().map(Vec::len), Some(1), "{body}");
    beans["beans"][0].clone()
}

/// The page at a path of a port.
fn page(address: SocketAddr, path: &str) -> String {
    let (status, body) = fetch(address, path);
    assert_eq!(status, 200, "{path}: {body}");
    assert!(body.starts_with("<!DOCTYPE html>") && body.ends_with("</html>"), "{path}: {body}");
    body
}

/// What stands between two texts, the first time.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = text.split_once(from).unwrap_or_else(|| panic!("no {from} in {text}")).1;
    rest.split_once(to).unwrap_or_else(|| panic!("no {to} behind {from}")).0
}

/// The value of the one line that begins so.
fn series(text: &str, name: &str, label: &str) -> f64 {
    let mut lines = text.lines().filter(|line| line.starts_with(&format!("{name}{{")) && line.contains(label));
    let value =
        lines.next().and_then(|line| line.rsplit(' ').next()).unwrap_or_else(|| panic!("{name} {label}: {text}"));
    assert_eq!(lines.next(), None);
    value.parse().unwrap()
}

/// Rows in a file that is not in memory, and then read.
async fn use_it(server: &Server) -> Result<(), TestError> {
    let name = TableName::parse("t")?;
    let admin = Admin::connect(server.master, server.regionserver).await?;
    admin.create_table(&TableDescriptor::new(name.clone()).with_family(FamilyDescriptor::new("f")), &[]).await?;
    let table = Table::connect(server.regionserver, &name).await?;
    for i in 0..ROWS {
        table.put(format!("row{i:02}").as_bytes(), &["f"], "q", &[7; 1000]).await?;
    }
    for region in table.load_regions().await? {
        admin.flush_region(&region).await?;
    }
    for i in 0..GETS {
        let cells = table.get(format!("row{:02}", i % ROWS).as_bytes()).await?;
        assert_eq!(cells.len(), 1);
    }
    Ok(())
}

#[test]
fn figures_are_what_was_asked() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (binary, data) = (Path::new(env!("CARGO_BIN_EXE_martite")), folder.path().join("data"));
    let server = Server::start(binary, &data, &["--regionserver-info-port", "0", "--memory", "256m"]).unwrap();
    let info = server.regionserver_info.expect("an info port in the ready line");
    runtime.block_on(use_it(&server)).unwrap_or_else(|e| panic!("{e}"));

    let counts = bean(info, "Server");
    let count = |name: &str| counts[name].as_u64().unwrap_or_else(|| panic!("{name}: {counts:#}"));
    assert!(count("rpcGetRequestCount") >= GETS);
    assert!(count("rpcMutateRequestCount") >= ROWS);
    assert!(count("blockCacheDataHitCount") >= GETS - ROWS, "{counts:#}");
    assert!(count("blockCacheDataMissCount") >= 1 && count("blockCacheSize") > 1000 * ROWS);
    assert!(counts["blockCacheCountHitPercent"].as_f64().unwrap() > 50.0);

    let calls = bean(info, "IPC");
    let ms = |name: &str| calls[name].as_f64().unwrap_or_else(|| panic!("{name}: {calls:#}"));
    assert!(ms("Get_TotalCallTime_num_ops") >= GETS as f64);
    assert!(ms("TotalCallTime_num_ops") >= (GETS + ROWS) as f64);
    let ordered = ["min", "median", "99th_percentile", "99.9th_percentile", "max"];
    let ordered = ordered.map(|figure| ms(&format!("Get_TotalCallTime_{figure}")));
    assert!(ordered.is_sorted() && ordered[0] > 0.0, "{ordered:?}");
    assert!(ms("Get_QueueCallTime_max") <= ms("Get_TotalCallTime_max"));
    // The first Get of the file's block has read it from the disk; those after it have not.
    let disk = ["num_ops", "median", "max"].map(|figure| ms(&format!("Get_DiskCallTime_{figure}")));
    assert!(disk[0] == ms("Get_TotalCallTime_num_ops") && disk[1] == 0.0 && disk[2] > 0.0, "{disk:?}");
    assert!(disk[2] <= ms("Get_ProcessCallTime_max"), "{disk:?}");
    assert!(bean(info, "IO")["FsPReadTime_num_ops"].as_u64().unwrap() >= 1);

    let latencies = bean(info, "TableLatencies");
    assert_eq!(latencies["Namespace_default_table_t_metric_getTime_num_ops"].as_u64(), Some(GETS));
    let puts = "Namespace_default_table_t_metric_mutateTime_num_ops";
    assert_eq!(latencies[puts].as_u64(), Some(ROWS));

    let (status, text) = fetch(info, "/prometheus");
    assert_eq!(status, 200);
    assert_eq!(
        series(&text, "table_call_time_num_ops", "namespace=\"default\",table=\"t\",method=\"get\""),
        GETS as f64
    );
    assert!(series(&text, "block_cache_hits", "kind=\"data\"") >= (GETS - ROWS) as f64);
    assert!(series(&text, "block_cache_usage_bytes", "table=\"t\",family=\"f\"") > 1000.0 * ROWS as f64);
    let cached = |kind: &str| {
        series(&text, "block_cache_usage_bytes_by_kind", &format!("table=\"t\",family=\"f\",kind=\"{kind}\""))
    };
    assert!(cached("bloom") > 0.0 && cached("data") > 1000.0 * ROWS as f64, "{text}");
    assert!(series(&text, "server_rpc_get_request_count", "") >= GETS as f64);
    assert!(series(&text, "ipc_method_total_call_time_99_9th_percentile", "method=\"Get\"") > 0.0);

    let (status, why) = fetch(info, "/jmx?qry=nonsense");
    assert_eq!((status, why.as_str()), (400, "qry: nonsense is no name of beans: it has no domain\n"));
    assert_eq!(fetch(info, "/nothing").0, 404);
    assert_eq!(server.stop(binary, &data).unwrap(), 0);
}

#[test]
fn pages_show_what_there_is() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (binary, data) = (Path::new(env!("CARGO_BIN_EXE_martite")), folder.path().join("data"));
    let ports = ["--regionserver-info-port", "0", "--master-info-port", "0", "--memory", "256m"];
    let server = Server::start(binary, &data, &ports).unwrap();
    let (master, regions) = (server.master_info.unwrap(), server.regionserver_info.unwrap());
    runtime.block_on(use_it(&server)).unwrap_or_else(|e| panic!("{e}"));

    let cluster = page(master, "/master-status");
    assert!(cluster.contains(r#"<a href="/table.jsp?name=t">t</a>"#), "{cluster}");
    assert!(cluster.contains(&format!(":{}/", regions.port())), "it leads to the region server: {cluster}");
    let table = page(master, "/table.jsp?name=t");
    assert!(table.contains("BLOOMFILTER =&gt; 'ROW'") && table.contains("ENABLED"), "{table}");
    let region = between(&table, "/region.jsp?name=", "\"");
    let region = page(regions, &format!("/region.jsp?name={region}"));
    assert!(region.contains("<code>f</code>") && region.contains("Store files"), "{region}");
    assert!(region.contains(&format!(r#"data-v="{ROWS}">{ROWS}</td>"#)), "its file has a cell a row: {region}");
    let calls = page(regions, "/calls");
    assert!(calls.contains(&format!("<td>t</td><td>Get</td><td class=\"number\" data-v=\"{GETS}\">")), "{calls}");
    assert!(page(regions, "/blockCache.jsp").contains("<td>t</td><td><code>f</code></td>"));
    assert!(page(regions, "/limits").contains("Nobody was under a limit."));
    assert!(page(regions, "/regions").contains("hbase:meta"));
    assert!(page(regions, "/rs-status").contains("<polyline"), "the plots have begun");
    assert!(page(master, "/tablesDetailed.jsp").contains("hbase:quota"));
    assert!(page(master, "/quotas.jsp").contains("Nobody has a limit."));
    assert!(page(master, "/snapshotsStats.jsp").contains("There is no snapshot."));
    assert!(page(master, "/procedures.jsp").contains("<code>CreateTableProcedure</code>"));

    let health = bean_of(master, "Master", "Server");
    assert_eq!((health["tag.isActiveMaster"].as_str(), health["numRegionServers"].as_u64()), (Some("true"), Some(1)));
    assert_eq!(bean_of(master, "Master", "AssignmentManager")["ritCount"].as_u64(), Some(0));
    assert_eq!(bean_of(master, "Master", "Snapshots")["SnapshotTime_num_ops"].as_u64(), Some(0));
    assert!(bean(regions, "WAL")["appendCount"].as_u64().is_some_and(|count| count >= ROWS));
    assert_eq!(bean(regions, "Server")["hlogFileCount"].as_u64(), Some(1));
    for path in ["/rs-status?format=json", "/regionserver.jsp?format=json&filter=all"] {
        let (status, tasks) = fetch(regions, path);
        let tasks: Value = serde_json::from_str(&tasks).unwrap();
        assert!(status == 200 && tasks.is_array(), "{path}: {tasks}");
    }

    let (status, settings) = fetch(master, "/conf?name=hbase.rootdir");
    assert!(status == 200 && settings.contains("<name>hbase.rootdir</name>"), "{settings}");
    assert!(page(regions, "/conf?format=html").contains("hbase.regionserver.handler.count"));
    assert_eq!([master, regions].map(|port| fetch(port, "/").0), [307, 307]);
    for asset in ["/static/martite.css", "/static/martite.js"] {
        assert_eq!(fetch(master, asset).0, 200, "{asset}");
    }
    let gone = [("/table.jsp", 400), ("/table.jsp?name=u", 404), ("/table.jsp?name=a:b:c", 400), ("/rs-status", 404)];
    for (path, status) in gone {
        assert_eq!(fetch(master, path).0, status, "{path}");
    }
    assert_eq!(fetch(regions, "/regions?from=x"), (400, "from: x is no whole number\n".to_owned()));
    assert_eq!(server.stop(binary, &data).unwrap(), 0);
}
