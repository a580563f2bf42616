//! Space quotas on the real server: what its bean says, and who may still ask for compactions.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use martite_catalog::{FamilyDescriptor, RegionInfo, TableDescriptor, TableName};
use martite_client::admin::by_name;
use martite_proto as pb;
use martite_rpc::client::{Client, ClientError, ClientOptions};
use martite_testkit::{Admin, Server, Table};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

/// Attributes of the master's bean of quotas.
fn figures(info: SocketAddr) -> [u64; 3] {
    let mut socket = TcpStream::connect(info).unwrap();
    let query = "/jmx?qry=Hadoop:service=HBase,name=Master,sub=Quotas";
    write!(socket, "GET {query} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let beans: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    ["numSpaceQuotas", "numTablesInQuotaViolation", "numNamespaceInQuotaViolation"]
        .map(|name| beans["beans"][0][name].as_u64().unwrap_or_else(|| panic!("{name}: {beans}")))
}

async fn connect(address: SocketAddr, service: &str, user: &str) -> Client {
    let options = ClientOptions { user: user.to_owned(), ..ClientOptions::new(service) };
    Client::connect(address, &options).await.unwrap()
}

/// Limits a table, or a namespace, to so many bytes; none: removes the limit.
async fn limit(master: &Client, table: Option<&TableName>, bytes: Option<u64>) {
    let quota = pb::SpaceQuota {
        soft_limit: bytes,
        violation_policy: bytes.map(|_| pb::SpaceViolationPolicy::NoWritesCompactions as i32),
        remove: Some(bytes.is_none()),
    };
    let request = pb::SetQuotaRequest {
        table_name: table.map(TableName::to_proto),
        namespace: table.is_none().then(|| "default".to_owned()),
        space_limit: Some(pb::SpaceLimitRequest { quota: Some(quota) }),
        ..pb::SetQuotaRequest::default()
    };
    master.call("SetQuota", &request, &[]).await.unwrap();
}

async fn compact(client: &Client, region: &RegionInfo) -> Result<(), ClientError> {
    let request = pb::CompactRegionRequest { region: by_name(region), major: Some(false), family: None };
    client.call("CompactRegion", &request, &[]).await.map(drop)
}

async fn check(server: &Server, info: SocketAddr) {
    let admin = Admin::connect(server.master, server.regionserver).await.unwrap();
    let name = TableName::parse("t").unwrap();
    let descriptor = TableDescriptor::new(name.clone()).with_family(FamilyDescriptor::new("f"));
    admin.create_table(&descriptor, &[]).await.unwrap();
    let table = Table::connect(server.regionserver, &name).await.unwrap();
    table.put(b"row", &["f"], "q", b"value").await.unwrap();
    // What counts is the size of the store files.
    admin.flush_table(&name).await.unwrap();
    let region = table.load_regions().await.unwrap().remove(0);

    let master = connect(server.master, "MasterService", "anybody").await;
    let anybody = connect(server.regionserver, "AdminService", "anybody").await;
    let superuser = connect(server.regionserver, "AdminService", "root/host@REALM").await;
    assert_eq!(figures(info), [0, 0, 0]);
    limit(&master, Some(&name), Some(1 << 30)).await;
    assert_eq!(figures(info), [1, 0, 0]);
    compact(&anybody, &region).await.unwrap();

    limit(&master, Some(&name), Some(1)).await;
    assert_eq!(figures(info), [1, 1, 0]);
    match compact(&anybody, &region).await {
        Err(ClientError::Remote { class, text, do_not_retry: true, .. }) => {
            assert_eq!(class, "org.apache.hadoop.hbase.DoNotRetryIOException");
            assert!(text.contains("Compactions on this region are disabled due to a space quota violation."), "{text}");
        }
        other => panic!("{other:?}"),
    }
    compact(&superuser, &region).await.unwrap();

    // The namespace's limit counts for its tables; in the bean they are in violation of their own only.
    limit(&master, None, Some(1)).await;
    limit(&master, Some(&name), None).await;
    assert_eq!(figures(info), [1, 0, 1]);
    assert!(compact(&anybody, &region).await.is_err());
    compact(&superuser, &region).await.unwrap();
    limit(&master, None, None).await;
    assert_eq!(figures(info), [0, 0, 0]);
    compact(&anybody, &region).await.unwrap();
}

#[test]
fn a_table_with_too_much_in_it_is_told_of_and_compacted_by_superusers_only() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (binary, data) = (Path::new(env!("CARGO_BIN_EXE_martite")), folder.path().join("data"));
    let extra = ["--master-info-port", "0", "--memory", "256m", "-Dhbase.superuser=hbase,root"];
    let server = Server::start(binary, &data, &extra).unwrap();
    let info = server.master_info.expect("an info port in the ready line");
    runtime.block_on(check(&server, info));
    assert_eq!(server.stop(binary, &data).unwrap(), 0);
}
