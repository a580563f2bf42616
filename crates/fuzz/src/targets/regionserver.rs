//! A region server with one region in memory, called over a loopback socket: what comes after a sound frame.
//!
//! Input: `| method | u16 length of the message | message | cell block |`. The method's lower four bits name it, the
//! rest choose the cell codec. Each call must be answered. The server is started anew from time to time, for its log
//! grows; until then an input may meet what earlier ones left.

use crate::mutate::Form;
use crate::target::{Budget, Target, words};
use crate::targets::cells::sample_block;
use crate::targets::filter::sample_filters;
use martite_blockcache::BlockCache;
use martite_catalog::{FamilyDescriptor, Layout, RegionInfo, ServerName, TableDescriptor, TableName};
use martite_cell::Codec;
use martite_env::{Clock, MemFs, SeededRandom, SystemClock};
use martite_hfile::Block;
use martite_proto as pb;
use martite_region::{GRACE_MS, Nonces, Region, RegionConfig, RegionContext};
use martite_regionserver::{Background, ClusterView, Events, MasterLink, Options, RegionServer};
use martite_rpc::client::{CallOptions, Client, ClientError, ClientOptions};
use martite_rpc::{Call, Handler, Pool, PoolOptions, Server, ServerOptions, Shards};
use martite_store::{Files, StoreConfig, StoreContext};
use martite_wal::{Wal, WalContext, WalOptions, format::file_prefix};
use pb::Message;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub const TARGET: Target = Target {
    name: "regionserver",
    run,
    seeds,
    words: names,
    form: Form::Proto(HEAD),
    max_len: 8 << 10,
    // Log and memstore chunks, patterns of filters, limits of answers; actions of two bytes make objects of hundreds.
    budget: Budget { fixed_bytes: 128 << 20, per_byte: 4096 },
    smoke: 1_500,
};

/// Method and length of the message.
const HEAD: usize = 3;
/// Calls of one server.
const MOST_CALLS: u32 = 2_000;
const PATIENCE: Duration = Duration::from_secs(8);
const ROOT: &str = "/hbase";

const METHODS: [(&str, &str); 16] = [
    ("ClientService", "Get"),
    ("ClientService", "Mutate"),
    ("ClientService", "Multi"),
    ("ClientService", "Scan"),
    ("ClientService", "ExecService"),
    ("ClientService", "BulkLoadHFile"),
    ("AdminService", "GetRegionInfo"),
    ("AdminService", "GetStoreFile"),
    ("AdminService", "FlushRegion"),
    ("AdminService", "CompactRegion"),
    ("AdminService", "RollWALWriter"),
    ("AdminService", "GetRegionLoad"),
    ("AdminService", "GetLogEntries"),
    ("AdminService", "ClearRegionBlockCache"),
    ("AdminService", "GetServerInfo"),
    ("ClientMetaService", "GetMetaRegionLocations"),
];

const CODECS: [Option<&str>; 4] = [
    Some("org.apache.hadoop.hbase.codec.KeyValueCodec"),
    Some("org.apache.hadoop.hbase.codec.KeyValueCodecWithTags"),
    Some("org.apache.hadoop.hbase.codec.CellCodecWithTags"),
    None,
];

/// Nobody to ask: a cluster of one server without a master.
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
    fn meta_location(&self) -> Option<martite_regionserver::MetaLocation> {
        Some(martite_regionserver::MetaLocation { server: server_name(), open_seq_num: 5, replicas: 1 })
    }
}

impl MasterLink for Alone {
    fn request_split(&self, _encoded: &str) {}
    fn abort(&self, reason: &str) {
        panic!("the server gives up: {reason}");
    }
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

fn table() -> TableDescriptor {
    let name = TableName::new("default", "t").unwrap_or_else(|_| TableName::meta());
    ["f", "g"].iter().fold(TableDescriptor::new(name), |table, family| {
        table.with_family(FamilyDescriptor::new(family).with("VERSIONS", "3"))
    })
}

fn region_info() -> RegionInfo {
    RegionInfo::new(table().name().clone(), "", "", 1)
}

/// A server and its clients, one for each codec and service.
struct Rig {
    regions: Arc<RegionServer>,
    wal: Arc<Wal>,
    server: Server,
    runtime: tokio::runtime::Runtime,
    clients: Vec<((usize, &'static str), Client)>,
    calls: u32,
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn context(background: &Arc<Background>) -> Result<Arc<RegionContext>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let fs = Arc::new(MemFs::with_clock(clock.clone()));
    let layout = Layout::new(ROOT);
    let server = server_name();
    let wal = Wal::create(WalContext {
        fs: fs.clone(),
        clock: clock.clone(),
        dir: layout.server_wals_dir(&server),
        archive_dir: layout.old_wals_dir(),
        prefix: file_prefix(&server.to_string()),
        suffix: String::new(),
        options: WalOptions::default(),
    })?;
    let stores = StoreContext {
        files: Files::new(fs.clone(), Arc::new(BlockCache::new(4 << 20, Block::heap_size))),
        fs: fs.clone(),
        random: Arc::new(SeededRandom::new(1)),
        root: ROOT.into(),
        config: StoreConfig::default(),
    };
    Ok(Arc::new(RegionContext {
        fs,
        nonces: Nonces::new(clock.clone(), GRACE_MS),
        clock,
        wal,
        root: ROOT.into(),
        stores: Arc::new(stores),
        config: Arc::new(RegionConfig::default()),
        memstore_size: Arc::default(),
        server,
        events: Some(Arc::new(Events(background.clone()))),
    }))
}

impl Rig {
    fn start() -> Result<Rig> {
        let background = Arc::new(Background::default());
        let ctx = context(&background)?;
        let wal = ctx.wal.clone();
        let (info, table) = (region_info(), Arc::new(table()));
        Region::create(&ctx, &info, &table)?;
        let pool = Pool::new(PoolOptions::new(2))?;
        let alone = Arc::new(Alone);
        let options = Options { max_result_bytes: 4 << 20, ..Options::default() };
        let regions = RegionServer::start(server_name(), ctx, options, background, pool, alone.clone(), alone)?;
        regions.open_region(&info, &table)?;
        let shards = Shards::start(1)?;
        let addr = SocketAddr::from(([127, 0, 0, 1], 0));
        let options = ServerOptions { shutdown_grace: Duration::from_millis(200), ..ServerOptions::default() };
        let server = Server::bind(addr, Arc::new(Service(regions.clone())), options, shards)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Rig { regions, wal, server, runtime, clients: Vec::new(), calls: 0 })
    }

    fn client(&mut self, codec: usize, service: &'static str) -> std::result::Result<usize, ClientError> {
        if let Some(at) = self.clients.iter().position(|(of, client)| *of == (codec, service) && !client.is_closed()) {
            return Ok(at);
        }
        let options = ClientOptions { codec: CODECS[codec].map(str::to_owned), ..ClientOptions::new(service) };
        let client = self.runtime.block_on(Client::connect(self.server.local_addr(), &options))?;
        self.clients.push(((codec, service), client));
        Ok(self.clients.len() - 1)
    }

    /// The answer, or the server's exception.
    fn call(
        &mut self,
        method: usize,
        codec: usize,
        message: &[u8],
        cells: &[u8],
    ) -> std::result::Result<usize, ClientError> {
        let (service, name) = METHODS[method];
        let at = self.client(codec, service)?;
        let client = &self.clients[at].1;
        let options = CallOptions { timeout_ms: Some(2_000), ..CallOptions::default() };
        self.calls += 1;
        let answer = self
            .runtime
            .block_on(async { tokio::time::timeout(PATIENCE, client.call_with(name, message, cells, options)).await });
        let answer = answer.unwrap_or_else(|_| panic!("{name} is not answered"))?;
        Ok(answer.message.len() + answer.cells.len())
    }

    fn stop(self) {
        drop(self.clients);
        self.runtime.block_on(self.server.shutdown());
        self.regions.stop();
        let _ = self.wal.close();
    }
}

fn run(input: &[u8]) {
    static RIG: Mutex<Option<Rig>> = Mutex::new(None);
    let Some(([method, high, low], rest)) = input.split_first_chunk::<HEAD>() else { return };
    let (message, cells) = rest.split_at((u16::from_be_bytes([*high, *low]) as usize).min(rest.len()));
    let mut rig = RIG.lock().unwrap_or_else(|e| e.into_inner());
    if let Some(old) = rig.take_if(|rig| rig.calls >= MOST_CALLS) {
        old.stop();
    }
    let rig = match &mut *rig {
        Some(rig) => rig,
        none => none.insert(Rig::start().unwrap_or_else(|e| panic!("no server: {e}"))),
    };
    let (method, codec) = ((*method & 15) as usize, (*method >> 4 & 3) as usize);
    match rig.call(method, codec, message, if CODECS[codec].is_some() { cells } else { &[] }) {
        Ok(_) | Err(ClientError::Remote { .. }) => {}
        Err(e) => panic!("{} is not answered: {e}", METHODS[method].1),
    }
}

fn specifier() -> pb::RegionSpecifier {
    pb::RegionSpecifier { r#type: 1, value: region_info().name().clone() }
}

fn mutation(kind: i32, row: &'static str) -> pb::MutationProto {
    let value = |qualifier: &'static str| pb::mutation_proto::column_value::QualifierValue {
        qualifier: Some(qualifier.into()),
        value: Some(vec![0, 0, 0, 0, 0, 0, 0, 1].into()),
        delete_type: (kind == 3).then_some(1),
        ..Default::default()
    };
    pb::MutationProto {
        row: Some(row.into()),
        mutate_type: Some(kind),
        column_value: vec![pb::mutation_proto::ColumnValue {
            family: "f".into(),
            qualifier_value: vec![value("a"), value("b")],
        }],
        ..Default::default()
    }
}

fn get(row: &'static str) -> pb::Get {
    pb::Get { row: row.into(), max_versions: Some(3), ..Default::default() }
}

fn condition() -> pb::Condition {
    let comparator = crate::targets::filter::comparators().into_iter().next();
    pb::Condition {
        row: "row-1".into(),
        family: Some("f".into()),
        qualifier: Some("q".into()),
        compare_type: Some(2),
        comparator,
        ..Default::default()
    }
}

fn multi() -> pb::MultiRequest {
    let action = |index, mutation| pb::Action { index: Some(index), mutation: Some(mutation), ..Default::default() };
    let counted =
        |count| pb::MutationProto { associated_cell_count: Some(count), column_value: vec![], ..mutation(2, "row-1") };
    let actions = vec![
        action(0, mutation(2, "row-1")),
        action(1, counted(1)),
        pb::Action { index: Some(2), get: Some(get("row-1")), ..Default::default() },
        action(3, mutation(1, "row-2")),
        action(4, mutation(0, "row-2")),
        action(5, mutation(3, "row-2")),
    ];
    let atomic = pb::RegionAction {
        region: specifier(),
        atomic: Some(true),
        action: vec![action(0, mutation(2, "row-1")), action(1, mutation(3, "row-1"))],
        condition: Some(condition()),
    };
    let plain = pb::RegionAction { region: specifier(), action: actions, ..Default::default() };
    pb::MultiRequest { region_action: vec![plain, atomic], ..Default::default() }
}

fn scans() -> Vec<pb::ScanRequest> {
    let scan = |reversed, filter| pb::Scan {
        max_versions: Some(2),
        reversed: Some(reversed),
        filter,
        column: vec![pb::Column { family: "f".into(), qualifier: vec!["a".into(), "q".into()] }],
        ..Default::default()
    };
    let open = |scan| pb::ScanRequest {
        region: Some(specifier()),
        scan: Some(scan),
        number_of_rows: Some(10),
        client_handles_partials: Some(true),
        client_handles_heartbeats: Some(true),
        ..Default::default()
    };
    let closing = |scan| pb::ScanRequest { close_scanner: Some(true), ..open(scan) };
    let mut all = vec![open(scan(false, None)), closing(scan(true, None))];
    all.extend(sample_filters().into_iter().step_by(5).map(|filter| closing(scan(false, Some(filter)))));
    let next =
        pb::ScanRequest { scanner_id: Some(1), number_of_rows: Some(1), next_call_seq: Some(0), ..Default::default() };
    all.push(next);
    all
}

fn seed(method: u8, message: &impl Message, cells: &[u8]) -> Vec<u8> {
    let message = message.encode_to_vec();
    [&[method], &(message.len() as u16).to_be_bytes()[..], &message, cells].concat()
}

fn seeds() -> Vec<Vec<u8>> {
    let put =
        |count| pb::MutationProto { associated_cell_count: Some(count), column_value: vec![], ..mutation(2, "row-1") };
    let mutate =
        |mutation, condition| pb::MutateRequest { region: specifier(), mutation, condition, ..Default::default() };
    let mut seeds = vec![
        seed(0x01, &mutate(put(2), None), &sample_block(Codec::KeyValue)),
        seed(0x21, &mutate(put(1), None), &sample_block(Codec::CellWithTags)),
        seed(0x02, &multi(), &sample_block(Codec::KeyValue)),
        seed(0x32, &multi(), b""),
    ];
    for kind in 0..4 {
        seeds.push(seed(0x31, &mutate(mutation(kind, "row-1"), None), b""));
        seeds.push(seed(0x01, &mutate(mutation(kind, "row-1"), Some(condition())), b""));
    }
    seeds.push(seed(0x00, &pb::GetRequest { region: specifier(), get: get("row-1") }, b""));
    for (i, filter) in (0u8..).zip(sample_filters().into_iter().step_by(9)) {
        let get = pb::Get { filter: Some(filter), ..get("row-1") };
        seeds.push(seed((i & 3) << 4, &pb::GetRequest { region: specifier(), get }, b""));
    }
    seeds.extend((0u8..).zip(scans()).map(|(i, scan)| seed(3 | (i & 3) << 4, &scan, b"")));
    seeds.push(seed(6, &pb::GetRegionInfoRequest { region: specifier(), ..Default::default() }, b""));
    seeds.push(seed(7, &pb::GetStoreFileRequest { region: specifier(), family: vec!["f".into()] }, b""));
    seeds.push(seed(8, &pb::FlushRegionRequest { region: specifier(), ..Default::default() }, b""));
    seeds.push(seed(9, &pb::CompactRegionRequest { region: specifier(), ..Default::default() }, b""));
    seeds.extend([10, 11, 12, 14, 15].map(|method| vec![method, 0, 0]));
    seeds
}

fn names() -> Vec<Vec<u8>> {
    let mut names = crate::targets::filter::names();
    names.extend(words(&["f", "g", "row-1", "row-2", "_raw_", "_ttl", "_rr_", "_isolationlevel_", "\x01"]));
    names.push(region_info().name().to_vec());
    names.push(region_info().encoded_name().as_bytes().to_vec());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_seeds_are_served() {
        let mut rig = Rig::start().expect("a server");
        let mut served = 0;
        let seeds = seeds();
        for seed in &seeds {
            let (method, len) = (seed[0] as usize, u16::from_be_bytes([seed[1], seed[2]]) as usize);
            let (message, cells) = seed[HEAD..].split_at(len);
            match rig.call(method & 15, method >> 4, message, cells) {
                Ok(_) => served += 1,
                Err(ClientError::Remote { class, text, .. }) => eprintln!("{:?}: {class} {text}", METHODS[method & 15]),
                Err(e) => panic!("{e}"),
            }
        }
        rig.stop();
        assert!(served + 10 > seeds.len(), "{served} of {}", seeds.len());
    }
}
