//! A region server in memory, behind a socket.

use bytes::Bytes;
use martite_blockcache::BlockCache;
use martite_catalog::{FamilyDescriptor, Layout, RegionInfo, ServerName, TableDescriptor, TableName};
use martite_env::{Clock, MemFs, SeededRandom, SystemClock};
use martite_hfile::Block;
use martite_proto as pb;
use martite_quota::Settings;
use martite_region::{GRACE_MS, Nonces, Region, RegionConfig, RegionContext};
use martite_regionserver::{Background, ClusterView, Events, MasterLink, MetaLocation, Options, RegionServer};
use martite_rpc::client::{CallOptions, Client, ClientOptions};
use martite_rpc::{Call, Handler, Pool, PoolOptions, Server, ServerOptions, Shards};
use martite_store::{Files, StoreConfig, StoreContext};
use martite_wal::{Wal, WalContext, WalOptions, format::file_prefix};
use pb::Message;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROOT: &str = "/hbase";
/// After this it is too late.
pub const PATIENCE: Duration = Duration::from_secs(60);

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
    fn gathers(&self, call: &Call) -> bool {
        RegionServer::gathers(call)
    }
    fn calls(&self, calls: &mut Vec<Call>) {
        self.0.calls(calls);
    }
    fn between_reads(&self, now: Instant) {
        self.0.between_reads(now);
    }
    fn pool(&self) -> Option<&Arc<Pool>> {
        Some(self.0.pool())
    }
}

fn server_name() -> ServerName {
    ServerName::new("h", 1, 1)
}

pub fn region_of(table: &str) -> RegionInfo {
    RegionInfo::new(TableName::new("default", table).unwrap(), "", "", 1)
}

/// A server with the tables `free` and `slow`, of which `slow` takes so many requests a second.
pub struct Rig {
    pub fs: MemFs,
    pub background: Arc<Background>,
    pub regions: Arc<RegionServer>,
    server: Server,
    pub client: Arc<Client>,
    pub pool: Arc<Pool>,
    pub limit: usize,
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
    pub async fn start(pool: PoolOptions, limit: usize) -> Rig {
        Rig::with(pool, limit, Options::default(), |table| table).await
    }

    /// `set` makes both tables what they are.
    pub async fn with(
        pool: PoolOptions,
        limit: usize,
        options: Options,
        set: impl Fn(TableDescriptor) -> TableDescriptor,
    ) -> Rig {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let (fs, background) = (MemFs::with_clock(clock.clone()), Arc::new(Background::default()));
        let ctx = context(&fs, &clock, &background);
        let (pool, alone) = (Pool::new(pool).unwrap(), Arc::new(Alone));
        let (ours, alone) = (background.clone(), alone.clone());
        let regions =
            RegionServer::start(server_name(), ctx.clone(), options, ours, pool.clone(), alone.clone(), alone).unwrap();
        for table in ["free", "slow"] {
            let (info, family) = (region_of(table), FamilyDescriptor::new("f"));
            let table = Arc::new(set(TableDescriptor::new(info.table().clone()).with_family(family)));
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
        Rig { fs, background, regions, server, client, pool, limit }
    }

    pub async fn has(&self, table: &str, row: &str) -> bool {
        let row = format!("{row}-0").into_bytes().into();
        let get = pb::Get { row, existence_only: Some(true), ..Default::default() };
        let request = pb::GetRequest { region: specifier(table), get };
        let message = request.encode_to_vec();
        let answer = self.client.call_with("Get", &message, b"", CallOptions::default()).await.unwrap();
        pb::GetResponse::decode(answer.message).unwrap().result.is_some_and(|result| result.exists())
    }

    /// Files of the one family of `free`.
    pub fn files(&self) -> usize {
        let region = self.regions.online.by_name(region_of("free").name()).unwrap();
        region.stores()[0].1.files().len()
    }

    /// Asks for a major compaction of `free` and waits until it has ended, or has been left out.
    pub async fn compact(&self) {
        let region = specifier("free");
        self.administer("CompactRegion", pb::CompactRegionRequest { region, major: Some(true), family: None }).await;
        let name = region_of("free").encoded_name().to_owned();
        self.until(async || self.background.compactions_of(&name) == (false, false)).await;
    }

    pub async fn flush(&self) {
        let request = pb::FlushRegionRequest { region: specifier("free"), ..Default::default() };
        self.administer("FlushRegion", request).await;
    }

    /// A call of AdminService.
    pub async fn administer(&self, method: &str, request: impl Message) -> Bytes {
        let client = Client::connect(self.server.local_addr(), &ClientOptions::new("AdminService")).await.unwrap();
        client.call_with(method, &request.encode_to_vec(), b"", CallOptions::default()).await.unwrap().message
    }

    pub async fn until(&self, what: impl AsyncFn() -> bool) {
        tokio::time::timeout(PATIENCE, async {
            while !what().await {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
    }

    pub async fn end(self) {
        drop(self.client);
        self.server.shutdown().await;
        self.regions.stop();
    }
}

pub fn specifier(table: &str) -> pb::RegionSpecifier {
    pb::RegionSpecifier { r#type: 1, value: region_of(table).name().clone() }
}
