//! A Multi over two tables of which one is limited: its parts end at different times, and one that cannot end well fails the call.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use martite_blockcache::BlockCache;
use martite_catalog::{FamilyDescriptor, Layout, RegionInfo, ServerName, TableDescriptor, TableName};
use martite_env::{Clock, Fault, MemFs, SeededRandom, SystemClock};
use martite_hfile::Block;
use martite_proto as pb;
use martite_quota::Settings;
use martite_region::{GRACE_MS, Nonces, Region, RegionConfig, RegionContext};
use martite_regionserver::{Background, ClusterView, Events, MasterLink, MetaLocation, Options, RegionServer};
use martite_rpc::client::{CallOptions, Client, ClientError, ClientOptions};
use martite_rpc::{Call, Class, Handler, Pool, PoolOptions, Server, ServerOptions, Shards};
use martite_store::{Files, StoreConfig, StoreContext};
use martite_wal::{Wal, WalContext, WalOptions, format::file_prefix};
use pb::Message;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

const ROOT: &str = "/hbase";
/// After this it is too late.
const PATIENCE: Duration = Duration::from_secs(60);
/// A part of more puts goes to the pool.
const SHORT: usize = 1000;

/// Nobody to ask, and nobody to tell.
struct Alone;

impl ClusterView for Alone {
    fn cluster_id(&self) -> String {
        "cluster".to_owned()
    }
    fn active_master(&self) -> Option<ServerName> {
        None
    }
    fn region_servers(&self) -> Vec<ServerName> {
        vec![server_name()]
    }
    fn meta_location(&self) -> Option<MetaLocation> {
        None
    }
}

impl MasterLink for Alone {
    fn request_split(&self, _encoded: &str) {}
    fn abort(&self, _reason: &str) {}
    fn stop(&self, _reason: &str) {}
}

struct Service(Arc<RegionServer>);

impl Handler for Service {
    fn serves(&self, service: &str) -> bool {
        RegionServer::serves(service)
    }
    fn cluster_id(&self) -> String {
        "cluster".to_owned()
    }
    fn call(&self, call: Call) {
        self.0.call(call);
    }
}

fn server_name() -> ServerName {
    ServerName::new("h", 1, 1)
}

fn region_of(table: &str) -> RegionInfo {
    RegionInfo::new(TableName::new("default", table).unwrap(), "", "", 1)
}

/// A server with the tables `free` and `slow`, of which `slow` takes so many requests a second.
struct Rig {
    fs: MemFs,
    regions: Arc<RegionServer>,
    server: Server,
    client: Arc<Client>,
    limit: usize,
}

fn context(fs: &MemFs, clock: &Arc<dyn Clock>, background: &Arc<Background>) -> Arc<RegionContext> {
    let (layout, server, fs) = (Layout::new(ROOT), server_name(), Arc::new(fs.clone()));
    let wal = WalContext {
        fs: fs.clone(),
        clock: clock.clone(),
        dir: layout.server_wals_dir(&server),
        archive_dir: layout.old_wals_dir(),
        prefix: file_prefix(&server.to_string()),
        suffix: String::new(),
        options: WalOptions::default(),
    };
    let stores = StoreContext {
        files: Files::new(fs.clone(), Arc::new(BlockCache::new(4 << 20, Block::heap_size))),
        fs: fs.clone(),
        random: Arc::new(SeededRandom::new(1)),
        root: ROOT.into(),
        config: StoreConfig::default(),
    };
    Arc::new(RegionContext {
        fs,
        nonces: Nonces::new(clock.clone(), GRACE_MS),
        clock: clock.clone(),
        wal: Wal::create(wal).unwrap(),
        root: ROOT.into(),
        stores: Arc::new(stores),
        config: Arc::new(RegionConfig::default()),
        memstore_size: Arc::default(),
        server,
        events: Some(Arc::new(Events(background.clone()))),
    })
}

impl Rig {
    async fn start(pool: PoolOptions, limit: usize) -> Rig {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let (fs, background) = (MemFs::with_clock(clock.clone()), Arc::new(Background::default()));
        let ctx = context(&fs, &clock, &background);
        let (pool, alone) = (Pool::new(pool).unwrap(), Arc::new(Alone));
        let options = Options::default();
        let regions =
            RegionServer::start(server_name(), ctx.clone(), options, background, pool, alone.clone(), alone).unwrap();
        for table in ["free", "slow"] {
            let (info, family) = (region_of(table), FamilyDescriptor::new("f"));
            let table = Arc::new(TableDescriptor::new(info.table().clone()).with_family(family));
            Region::create(&ctx, &info, &table).unwrap();
            regions.open_region(&info, &table).unwrap();
        }
        let limited = pb::TimedQuota {
            time_unit: pb::TimeUnit::Seconds as i32,
            soft_limit: Some(limit as u64),
            ..pb::TimedQuota::default()
        };
        let throttle = Some(pb::Throttle { req_num: Some(limited), ..pb::Throttle::default() });
        let tables = BTreeMap::from([("slow".to_owned(), pb::Quotas { throttle, ..pb::Quotas::default() })]);
        regions.apply_quotas(Arc::new(Settings { tables, ..Settings::default() }), true);
        let addr = SocketAddr::from(([127, 0, 0, 1], 0));
        let service = Arc::new(Service(regions.clone()));
        let server = Server::bind(addr, service, ServerOptions::default(), Shards::start(1).unwrap()).unwrap();
        let options = ClientOptions::new("ClientService");
        let client = Arc::new(Client::connect(server.local_addr(), &options).await.unwrap());
        Rig { fs, regions, server, client, limit }
    }

    /// A Multi that puts so many rows into each table; its answer comes later.
    fn multi(&self, row: &str, free: usize, slow: usize) -> tokio::task::JoinHandle<Result<usize, ClientError>> {
        let actions = [("free", free), ("slow", slow)].into_iter().filter(|(_, count)| *count > 0);
        let region_action = actions.map(|(table, count)| {
            let action = |i| pb::Action { index: Some(i as u32), mutation: Some(put(row, i)), ..Default::default() };
            pb::RegionAction {
                region: specifier(table),
                action: (0..count).map(action).collect(),
                ..Default::default()
            }
        });
        let request = pb::MultiRequest { region_action: region_action.collect(), ..Default::default() };
        let client = self.client.clone();
        tokio::spawn(async move {
            let options = CallOptions { timeout_ms: Some(PATIENCE.as_millis() as u32), ..CallOptions::default() };
            let answer = client.call_with("Multi", &request.encode_to_vec(), b"", options).await?;
            let answer = pb::MultiResponse::decode(answer.message).unwrap();
            Ok(answer.region_action_result.iter().map(|r| r.result_or_exception.len()).sum())
        })
    }

    async fn has(&self, table: &str, row: &str) -> bool {
        let row = format!("{row}-0").into_bytes().into();
        let get = pb::Get { row, existence_only: Some(true), ..Default::default() };
        let request = pb::GetRequest { region: specifier(table), get };
        let message = request.encode_to_vec();
        let answer = self.client.call_with("Get", &message, b"", CallOptions::default()).await.unwrap();
        pb::GetResponse::decode(answer.message).unwrap().result.is_some_and(|result| result.exists())
    }

    /// A Multi whose part for `slow` waits, and the name of its rows.
    async fn waiting_multi(
        &self,
        free: usize,
        slow: usize,
    ) -> (String, tokio::task::JoinHandle<Result<usize, ClientError>>) {
        for i in 0.. {
            // The limit is used up by one that has to wait itself.
            let before = self.multi(&format!("before-{i}"), 0, self.limit / 2);
            if !self.has_parked(&before).await {
                continue;
            }
            before.await.unwrap().unwrap();
            let row = format!("row-{i}");
            let multi = self.multi(&row, free, slow);
            // On a machine that has no time for this thread the limit has recovered.
            if self.has_parked(&multi).await {
                return (row, multi);
            }
        }
        unreachable!()
    }

    async fn has_parked<T>(&self, call: &tokio::task::JoinHandle<T>) -> bool {
        while !call.is_finished() && self.regions.throttles.parked() == 0 {
            tokio::task::yield_now().await;
        }
        self.regions.throttles.parked() > 0
    }

    async fn until(&self, what: impl AsyncFn() -> bool) {
        tokio::time::timeout(PATIENCE, async {
            while !what().await {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
    }

    async fn end(self) {
        drop(self.client);
        self.server.shutdown().await;
        self.regions.stop();
    }
}

fn specifier(table: &str) -> pb::RegionSpecifier {
    pb::RegionSpecifier { r#type: 1, value: region_of(table).name().clone() }
}

fn put(row: &str, number: usize) -> pb::MutationProto {
    let value = pb::mutation_proto::column_value::QualifierValue {
        qualifier: Some("q".into()),
        value: Some("v".into()),
        ..Default::default()
    };
    let column = pb::mutation_proto::ColumnValue { family: "f".into(), qualifier_value: vec![value] };
    pb::MutationProto {
        row: Some(format!("{row}-{number}").into_bytes().into()),
        mutate_type: Some(2),
        column_value: vec![column],
        ..Default::default()
    }
}

fn class(outcome: Result<usize, ClientError>) -> String {
    match outcome {
        Err(ClientError::Remote { class, text, .. }) => {
            assert!(!text.contains("Internal error"), "{text}");
            class
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_part_waits_and_the_answer_is_one() {
    let rig = Rig::start(PoolOptions::new(2), 2).await;
    let (row, multi) = rig.waiting_multi(3, 2).await;
    rig.until(async || rig.has("free", &row).await).await;
    assert_eq!(multi.await.unwrap().unwrap(), 5);
    assert!(rig.has("slow", &row).await);
    rig.end().await;
}

#[tokio::test]
async fn a_part_whose_log_fails_fails_the_call() {
    let rig = Rig::start(PoolOptions::new(2), 2).await;
    let (row, multi) = rig.waiting_multi(3, 2).await;
    // One part has been written, the other waits for its time.
    rig.until(async || rig.has("free", &row).await).await;
    rig.fs.inject(Fault::HaltAt { nth: 1 });
    assert_eq!(class(multi.await.unwrap()), "java.io.IOException");
    assert!(rig.regions.is_stopping(), "a server whose log has failed serves nobody any more");
    rig.end().await;
}

#[tokio::test]
async fn a_part_that_finds_the_pool_full_fails_the_call() {
    let mut pool = PoolOptions::new(2);
    pool.classes[Class::Write as usize].max_queued = 0;
    let large = SHORT + 1;
    // A large part waits for half a second.
    for (free, slow, limit) in [(large, 1, 2), (1, large, 2 * SHORT), (large, large, 2 * SHORT)] {
        let rig = Rig::start(pool.clone(), limit).await;
        let (row, multi) = rig.waiting_multi(free, slow).await;
        let what = format!("{free} and {slow} puts");
        assert_eq!(class(multi.await.unwrap()), "org.apache.hadoop.hbase.CallQueueTooBigException", "{what}");
        // The part that was not too large has been done.
        assert_eq!((rig.has("free", &row).await, rig.has("slow", &row).await), (free == 1, slow == 1), "{what}");
        assert_eq!(rig.regions.throttles.parked(), 0);
        rig.end().await;
    }
}
