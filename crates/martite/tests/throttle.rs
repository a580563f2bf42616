//! Limits on the real server, as a plain client sets them and as its info port shows those who wait.
#![allow(clippy::unwrap_used)]

use martite_catalog::{FamilyDescriptor, RegionInfo, TableDescriptor, TableName};
use martite_cell::CellBuf;
use martite_client::admin::by_name;
use martite_proto as pb;
use martite_quota::table::{Owner, SETTINGS_FAMILY, encode};
use martite_rpc::client::{Answer, CallOptions, Client, ClientOptions};
use martite_testkit::{Admin, Server, Table};
use pb::Message;
use pb::mutation_proto::{ColumnValue, MutationType, column_value::QualifierValue};
use pb::throttle_usage::Operation;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const WAITING: u64 = 20;
/// The priority by which a request says that it is batch work.
const BATCH: u32 = 1;
/// After this it is too late.
const PATIENCE: Duration = Duration::from_secs(60);

/// An attribute of the quotas' bean; null: it is not there.
fn figure(info: SocketAddr, name: &str) -> Value {
    let mut socket = TcpStream::connect(info).unwrap();
    let query = "/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=Quotas";
    write!(socket, "GET {query} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let beans: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    beans["beans"][0][name].clone()
}

async fn until_parked(info: SocketAddr, count: u64) {
    let began = Instant::now();
    loop {
        let parked = figure(info, "numParkedCalls");
        if parked == count {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{parked} calls wait, not {count}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Limits everybody's reads of a table.
async fn limit(quotas: &Table, table: &TableName, limit: u64, unit: pb::TimeUnit) {
    let timed = pb::TimedQuota { time_unit: unit as i32, soft_limit: Some(limit), share: None, scope: None };
    let throttle = pb::Throttle { read_num: Some(timed), ..pb::Throttle::default() };
    let value = encode(&pb::Quotas { throttle: Some(throttle), ..pb::Quotas::default() });
    let owner = Owner::Table(table.to_string());
    let (family, qualifier) = (std::str::from_utf8(SETTINGS_FAMILY).unwrap(), owner.qualifier());
    quotas.put(&owner.row(), &[family], std::str::from_utf8(&qualifier).unwrap(), &value).await.unwrap();
}

/// What the server says of limited users.
async fn usage(server: &Server, user: Option<&str>) -> pb::GetThrottleUsageResponse {
    let client = Client::connect(server.regionserver, &ClientOptions::new("ClientService")).await.unwrap();
    let request = pb::GetThrottleUsageRequest { user: user.map(str::to_owned), table: None };
    let call = pb::CoprocessorServiceCall {
        row: Default::default(),
        service_name: "hbase.pb.ThrottleUsageService".to_owned(),
        method_name: "GetThrottleUsage".to_owned(),
        request: request.encode_to_vec().into(),
    };
    let request = pb::CoprocessorServiceRequest { region: by_name(&RegionInfo::meta()), call };
    let answer = client.call("ExecRegionServerService", &request, &[]).await.unwrap();
    let response: pb::CoprocessorServiceResponse = answer.decode().unwrap();
    pb::GetThrottleUsageResponse::decode(response.value.value.unwrap()).unwrap()
}

/// Gets until one of them waits, and then more, each of which waits.
async fn crowd(table: &Arc<Table>, info: SocketAddr) -> JoinSet<usize> {
    let get = |table: Arc<Table>| async move { table.get(b"row").await.unwrap().len() };
    let mut waiting = JoinSet::new();
    // The limit is in force a second after it was written.
    let began = Instant::now();
    while figure(info, "numParkedCalls") == 0 {
        assert!(began.elapsed() < PATIENCE, "nothing is limited");
        waiting.spawn(get(table.clone()));
        tokio::time::sleep(Duration::from_millis(20)).await;
        while waiting.try_join_next().is_some() {}
    }
    while (waiting.len() as u64) < WAITING {
        waiting.spawn(get(table.clone()));
    }
    until_parked(info, waiting.len() as u64).await;
    waiting
}

async fn check(server: &Server, info: SocketAddr) {
    let name = TableName::parse("t").unwrap();
    let admin = Admin::connect(server.master, server.regionserver).await.unwrap();
    let descriptor = TableDescriptor::new(name.clone()).with_family(FamilyDescriptor::new("f"));
    admin.create_table(&descriptor, &[]).await.unwrap();
    let writer = Table::connect(server.regionserver, &name).await.unwrap();
    writer.put(b"row", &["f"], "q", b"value").await.unwrap();
    let quotas = Table::connect(server.regionserver, &TableName::quota_table()).await.unwrap();
    // Each waits a minute longer than the one before, and nobody of them less than that.
    limit(&quotas, &name, 1, pb::TimeUnit::Hours).await;

    let reader = Arc::new(Table::connect(server.regionserver, &name).await.unwrap());
    let mut waiting = crowd(&reader, info).await;
    // Writes are not limited, and this is answered while the others wait.
    writer.put(b"row", &["f"], "q", b"other").await.unwrap();
    until_parked(info, waiting.len() as u64).await;
    assert_eq!(usage(server, None).await.parked_calls, waiting.len() as u64);
    // Whose client goes, waits no longer.
    waiting.abort_all();
    while waiting.join_next().await.is_some() {}
    drop(reader);
    until_parked(info, 0).await;

    // Where the limit goes, they go on.
    let reader = Arc::new(Table::connect(server.regionserver, &name).await.unwrap());
    let mut waiting = crowd(&reader, info).await;
    limit(&quotas, &name, 1_000_000, pb::TimeUnit::Seconds).await;
    while let Some(cells) = waiting.join_next().await {
        assert_eq!(cells.unwrap(), 1);
    }
    until_parked(info, 0).await;
    let told = usage(server, None).await;
    // Puts are not limited, but those of somebody who has a limit.
    let made: Vec<_> = told.usage.iter().map(|usage| (&*usage.table, usage.operation())).collect();
    assert_eq!(made, [("t", Operation::Get), ("t", Operation::Mutate)], "{told:?}");
    let gets = &told.usage[0];
    assert_eq!((told.parked_calls, told.usage[1].parked.count), (0, 0));
    assert!(gets.parked.count >= WAITING - 1 && gets.service.count >= gets.parked.count, "{gets:?}");
    assert_eq!(usage(server, Some(&gets.user)).await.usage, told.usage);
    assert_eq!(usage(server, Some("another")).await.usage, []);
}

/// A region's part of a multi: a Get, or a Put of that value.
fn part(region: &RegionInfo, row: &'static [u8], put: Option<&'static [u8]>) -> pb::RegionAction {
    let mut action = pb::Action { index: Some(0), ..pb::Action::default() };
    match put {
        None => action.get = Some(pb::Get { row: row.into(), ..pb::Get::default() }),
        Some(value) => {
            let one = QualifierValue {
                qualifier: Some(b"q"[..].into()),
                value: Some(value.into()),
                ..QualifierValue::default()
            };
            let column_value = vec![ColumnValue { family: b"f"[..].into(), qualifier_value: vec![one] }];
            let row = Some(row.into());
            let mutate_type = Some(MutationType::Put as i32);
            action.mutation = Some(pb::MutationProto { row, mutate_type, column_value, ..Default::default() });
        }
    }
    pb::RegionAction { region: by_name(region), atomic: None, action: vec![action], condition: None }
}

/// Somebody uses the limit of a table up, and leaves.
async fn use_up(server: &Server, info: SocketAddr, table: &TableName) {
    let quotas = Table::connect(server.regionserver, &TableName::quota_table()).await.unwrap();
    limit(&quotas, table, 1, pb::TimeUnit::Hours).await;
    let reader = Arc::new(Table::connect(server.regionserver, table).await.unwrap());
    let mut waiting = crowd(&reader, info).await;
    waiting.abort_all();
    while waiting.join_next().await.is_some() {}
    drop(reader);
    until_parked(info, 0).await;
}

async fn until_written(table: &Table, row: &[u8]) {
    let began = Instant::now();
    while table.get(row).await.unwrap().is_empty() {
        assert!(began.elapsed() < PATIENCE, "the Put waits, too");
    }
}

/// Three tables, `slow` and `late` with a limit that is used up: what a multi has to do with `free` is done at once.
async fn multi_over_several_tables(server: &Server, info: SocketAddr) {
    let admin = Admin::connect(server.master, server.regionserver).await.unwrap();
    let mut regions = Vec::new();
    let name = |table| TableName::parse(table).unwrap();
    for table in ["free", "late", "slow"].map(name) {
        let descriptor = TableDescriptor::new(table.clone()).with_family(FamilyDescriptor::new("f"));
        admin.create_table(&descriptor, &[]).await.unwrap();
        let rows = Table::connect(server.regionserver, &table).await.unwrap();
        rows.put(b"row", &["f"], "q", table.as_str().as_bytes()).await.unwrap();
        regions.push((rows.load_regions().await.unwrap().remove(0), rows));
    }
    let [(free, free_table), (late, _), (slow, _)] = &regions[..] else { panic!("three") };
    let limited = [name("slow"), name("late")];
    for table in &limited {
        use_up(server, info, table).await;
    }
    let multi = |new: &'static [u8]| {
        let region_action = vec![
            part(slow, b"row", None),
            part(free, b"row", None),
            part(late, b"row", None),
            part(free, new, Some(b"written")),
            part(slow, b"none", None),
        ];
        pb::MultiRequest { region_action, nonce_group: None, condition: None }.encode_to_vec()
    };
    let connect = async || Client::connect(server.regionserver, &ClientOptions::new("ClientService")).await.unwrap();

    // Whose call may not wait so long is refused what would, and nothing else.
    let client = connect().await;
    let patience = CallOptions { timeout_ms: Some(20_000), ..CallOptions::default() };
    let answer = client.call_with("Multi", &multi(b"beside-refused"), &[], patience).await.unwrap();
    let response: pb::MultiResponse = answer.decode().unwrap();
    let ends = response.region_action_result.iter().map(|part| match &part.exception {
        Some(exception) => exception.name.clone(),
        None => part.result_or_exception.len().to_string(),
    });
    let refused = "org.apache.hadoop.hbase.quotas.RpcThrottlingException";
    assert_eq!(ends.collect::<Vec<_>>(), [refused, "1", refused, "1", refused]);
    until_written(free_table, b"beside-refused").await;
    until_parked(info, 0).await;

    // Whose client goes, waits no longer; what was done is done.
    let (leaves, request) = (connect().await, multi(b"before-leaving"));
    let left = tokio::spawn(async move { leaves.call_with("Multi", &request, &[], CallOptions::default()).await });
    until_parked(info, 2).await;
    until_written(free_table, b"before-leaving").await;
    left.abort();
    assert!(left.await.unwrap_err().is_cancelled());
    until_parked(info, 0).await;

    // The two tables wait each for itself; the third does not. So it is with batch work, whose parts run on other threads.
    let quotas = Table::connect(server.regionserver, &TableName::quota_table()).await.unwrap();
    for (new, priority) in [(&b"new"[..], 0), (b"new-of-batch", BATCH)] {
        for table in &limited {
            use_up(server, info, table).await;
        }
        let (client, request) = (connect().await, multi(new));
        let options = CallOptions { priority: Some(priority), ..CallOptions::default() };
        let multi = tokio::spawn(async move { client.call_with("Multi", &request, &[], options).await });
        until_parked(info, 2).await;
        until_written(free_table, new).await;
        until_parked(info, 2).await;
        limit(&quotas, &limited[0], 1_000_000, pb::TimeUnit::Seconds).await;
        until_parked(info, 1).await;
        assert!(!multi.is_finished());
        limit(&quotas, &limited[1], 1_000_000, pb::TimeUnit::Seconds).await;
        check_whole_answer(&multi.await.unwrap().unwrap());
        until_parked(info, 0).await;
    }
}

/// Of the multi's five parts, in their order.
fn check_whole_answer(answer: &Answer) {
    let response: pb::MultiResponse = answer.decode().unwrap();
    let counts = response.region_action_result.iter().map(|part| {
        let [entry] = &part.result_or_exception[..] else { panic!("{part:?}") };
        entry.result.as_ref().unwrap().associated_cell_count.unwrap_or(0)
    });
    assert_eq!(counts.collect::<Vec<_>>(), [1, 1, 1, 0, 0]);
    let cells = CellBuf::from_block(answer.cells.to_vec(), false).unwrap();
    let values: Vec<_> = cells.iter().map(|cell| String::from_utf8(cell.value.to_vec()).unwrap()).collect();
    assert_eq!(values, ["slow", "free", "late"]);
}

#[test]
fn of_a_multi_only_what_concerns_limited_tables_waits() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (binary, data) = (Path::new(env!("CARGO_BIN_EXE_martite")), folder.path().join("data"));
    let server = Server::start(binary, &data, &["--regionserver-info-port", "0", "--memory", "256m"]).unwrap();
    let info = server.regionserver_info.expect("an info port in the ready line");
    runtime.block_on(multi_over_several_tables(&server, info));
    assert_eq!(server.stop(binary, &data).unwrap(), 0);
}

#[test]
fn who_waits_leaves_with_its_client_and_goes_on_without_its_limit() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (binary, data) = (Path::new(env!("CARGO_BIN_EXE_martite")), folder.path().join("data"));
    let server = Server::start(binary, &data, &["--regionserver-info-port", "0", "--memory", "256m"]).unwrap();
    let info = server.regionserver_info.expect("an info port in the ready line");
    runtime.block_on(check(&server, info));
    assert_eq!(server.stop(binary, &data).unwrap(), 0);
}
