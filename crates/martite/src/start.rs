//! `martite start`: a standalone server from its folder to the line `ready`, and to its end.

use crate::dispatch::Dispatch;
use crate::host::{End, Host, Link};
use crate::info::{Listeners, Sampler, Shown};
use crate::memory::Keeper;
use crate::nodes::Nodes;
use crate::reads::TimedFs;
use crate::{Failure, allocator, args, exit, lock, logging, machine, settings, ssd_tier};
use martite_blockcache::BlockCache;
use martite_blockcache::tier::TierContext;
use martite_catalog::{Layout, ServerName};
use martite_config::{Config, keys};
use martite_env::{Clock, FileSystem, LocalFs, OsRandom, SystemClock};
use martite_hfile::Block;
use martite_master::{Master, MasterContext};
use martite_metrics::Histogram;
use martite_region::{Nonces, RegionContext};
use martite_regionserver::{Background, Events, RegionServer};
use martite_rpc::{Pool, Server, Shards};
use martite_store::{Files, StoreContext};
use martite_wal::{Wal, WalContext};
use martite_web::InfoServer;
use martite_zk::{Tree, ZkOptions, ZkServer};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Instant;
use tokio::signal::unix::{SignalKind, signal};

/// The version of HBase that clients are told: they act on it.
pub const HBASE_VERSION: &str = "2.6.4";

/// The parts of a running server, in the order in which they started.
struct Running {
    wal: Arc<Wal>,
    cache: Arc<BlockCache<Block>>,
    keeper: Keeper,
    regions: Arc<RegionServer>,
    master: Arc<Master>,
    nodes: Arc<Nodes>,
    ports: Ports,
    info: Option<InfoServer>,
    /// Of master and region server; 0: none.
    info_ports: [u16; 2],
    shards: Shards,
}

/// What listens.
struct Ports {
    zookeeper: ZkServer,
    master: Server,
    regionserver: Server,
}

pub fn run(args: &args::Start) -> Result<(), Failure> {
    let began = Instant::now();
    logging::start(&args.log)?;
    let config = settings::load(args)?;
    for (key, value) in config.unknown() {
        tracing::warn!(key, value, "unknown setting");
    }
    for line in config.ignored() {
        tracing::warn!("{line}");
    }
    let idle: Vec<&str> = config.idle().into_iter().map(|(key, _)| key).collect();
    if !idle.is_empty() {
        tracing::warn!(keys = idle.join(" "), "settings without effect yet");
    }
    let root = settings::root(args, &config)?;
    std::fs::create_dir_all(&root).map_err(|e| Failure::of(&root.display().to_string(), e))?;
    let root = root.canonicalize().map_err(|e| Failure::of(&root.display().to_string(), e))?;
    let _lock = lock::take(&root)?;
    let (ends, end) = mpsc::channel();
    let listeners = Listeners::bind(args, &config)?;
    let running = start(config, &root, &ends, listeners)?;
    watch_signals(&running.shards, ends)?;
    print_ready(&running)?;
    tracing::info!(elapsed_ms = began.elapsed().as_millis() as u64, "ready");
    let end = end.recv().unwrap_or(End::Stop("nobody is left who could ask for it".to_owned()));
    stop(running, end)
}

fn start(config: Config, root: &Path, ends: &mpsc::Sender<End>, listeners: Listeners) -> Result<Running, Failure> {
    let config = Arc::new(config);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let fs: Arc<dyn FileSystem> = Arc::new(LocalFs);
    let threads = match config.get(keys::RPC_THREADS) {
        0 => machine::cores(),
        n => n as usize,
    };
    let shards = Shards::start(threads).map_err(|e| Failure::of("network threads", e))?;
    let pool = Pool::new(settings::pool(&config)).map_err(|e| Failure::of("worker threads", e))?;
    let dispatch = Dispatch::new(pool.clone());
    let tree = Tree::new(clock.clone());
    let nodes = Nodes::new(tree.clone(), &config.get(keys::ZNODE_PARENT), clock.clone());
    let ports = bind(&config, &dispatch, tree, &shards)?;

    let start_code = clock.now_ms() as i64;
    let host = or_else(config.get(keys::REGIONSERVER_HOSTNAME), machine::hostname);
    let name = ServerName::new(&host, ports.regionserver.local_addr().port(), start_code);
    recover_logs(fs.as_ref(), root)?;
    let wal = open_log(&config, fs.clone(), clock.clone(), root, &name)?;
    let master_cell = Arc::new(OnceLock::new());
    let link = Arc::new(Link { master: master_cell.clone(), ends: ends.clone() });
    let cache = block_cache(&config, fs.clone(), clock.clone())?;
    let keeper = Keeper::start(settings::memory(&config), cache.clone()).map_err(|e| Failure::of("memory", e))?;
    let info_ports = listeners.ports();
    let reads = Arc::new(Histogram::default());
    let stores = store_context(&config, &fs, cache.clone(), root, &reads);
    let options = settings::region_server(&config, &settings::memory(&config), info_ports[1]);
    let background = Arc::new(Background::default());
    let ctx = region_context(&config, stores, clock.clone(), &wal, &name, background.clone());
    let regions = RegionServer::start(name.clone(), ctx, options, background, pool.clone(), nodes.clone(), link)
        .map_err(|e| Failure::of("region server", e))?;
    nodes.publish_server(&name, info_ports[1].into());
    let _ = dispatch.regions.set(regions.clone());

    let master_host = or_else(config.get(keys::MASTER_HOSTNAME), || host);
    let master = Master::start(MasterContext {
        fs,
        layout: Layout::new(root),
        clock,
        random: Arc::new(OsRandom),
        config: config.clone(),
        host: Arc::new(Host { regions: regions.clone(), ends: ends.clone() }),
        registry: nodes.clone(),
        server_name: ServerName::new(&master_host, ports.master.local_addr().port(), start_code),
        info_port: info_ports[0],
        version: HBASE_VERSION.to_owned(),
        threads: true,
    })
    .map_err(|e| Failure::of("master", e))?;
    let _ = dispatch.cluster_id.set(master.cluster_id().to_owned());
    let _ = master_cell.set(master.clone());
    let _ = dispatch.master.set(master.clone());
    let info = listeners.serve(Shown {
        regions: regions.clone(),
        regionserver: ports.regionserver.watch(),
        master_rpc: ports.master.watch(),
        master: master.clone(),
        pool,
        reads,
        memory: settings::memory(&config),
        config,
        urls: info_ports.map(|port| (port > 0).then(|| format!("http://{}:{port}/", name.host))),
        zookeeper: format!("{}:{}", name.host, ports.zookeeper.local_addr().port()),
        sampler: Sampler::default(),
    })?;
    Ok(Running { wal, cache, keeper, regions, master, nodes, ports, info, info_ports, shards })
}

/// A name that is set, or another.
fn or_else(name: String, other: impl FnOnce() -> String) -> String {
    if name.is_empty() { other() } else { name }
}

/// Where to listen: the setting `host`, or everywhere.
pub fn address(
    config: &Config,
    host: martite_config::Key<martite_config::Text>,
    port: u16,
) -> Result<SocketAddr, Failure> {
    let text = config.get(host);
    let text = if text.is_empty() { "0.0.0.0".to_owned() } else { text };
    let ip =
        text.parse().map_err(|_| Failure::new(exit::USAGE, format!("{}: {text} is not an IP address", host.name())))?;
    Ok(SocketAddr::new(ip, port))
}

fn bind(config: &Config, dispatch: &Arc<Dispatch>, tree: Arc<Tree>, shards: &Shards) -> Result<Ports, Failure> {
    let port = |key| config.get(key);
    let rpc = |address: SocketAddr| {
        Server::bind(address, dispatch.clone(), settings::rpc(config), shards.clone())
            .map_err(|e| Failure::of(&format!("listening on {address}"), e))
    };
    let master = rpc(address(config, keys::MASTER_BIND_ADDRESS, port(keys::MASTER_PORT))?)?;
    let regionserver = rpc(address(config, keys::REGIONSERVER_BIND_ADDRESS, port(keys::REGIONSERVER_PORT))?)?;
    let zk = address(config, keys::ZOOKEEPER_CLIENT_ADDRESS, port(keys::ZOOKEEPER_CLIENT_PORT))?;
    let zookeeper = shards
        .runtime()
        .block_on(ZkServer::bind(zk, tree, ZkOptions::default()))
        .map_err(|e| Failure::of(&format!("listening on {zk}"), e))?;
    Ok(Ports { zookeeper, master, regionserver })
}

/// Splits what a crash left in `WALs` into the regions' recovered.edits.
fn recover_logs(fs: &dyn FileSystem, root: &Path) -> Result<(), Failure> {
    let parent = root.join("WALs");
    let dirs: Vec<PathBuf> = match fs.list(&parent) {
        Ok(entries) => entries.into_iter().filter(|e| e.is_dir).map(|e| parent.join(e.name)).collect(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(Failure::of(&parent.display().to_string(), e)),
    };
    if dirs.is_empty() {
        return Ok(());
    }
    let report = martite_wal::split_logs(fs, root, &dirs, &|_| None).map_err(|e| Failure::of("recovery", e))?;
    tracing::info!(
        logs = report.logs,
        entries = report.entries,
        regions = report.outputs.len(),
        torn_tails = report.torn.len(),
        "logs of the last run were split for replay"
    );
    Ok(())
}

fn open_log(
    config: &Config,
    fs: Arc<dyn FileSystem>,
    clock: Arc<dyn Clock>,
    root: &Path,
    name: &ServerName,
) -> Result<Arc<Wal>, Failure> {
    Wal::create(WalContext {
        fs,
        clock,
        dir: root.join("WALs").join(name.to_string()),
        archive_dir: root.join("oldWALs"),
        prefix: martite_wal::format::file_prefix(&name.to_string()),
        suffix: String::new(),
        options: settings::wal(config),
    })
    .map_err(|e| Failure::of("write-ahead log", e))
}

/// The cache of all regions, above files on an SSD if there are any.
fn block_cache(
    config: &Config,
    fs: Arc<dyn FileSystem>,
    clock: Arc<dyn Clock>,
) -> Result<Arc<BlockCache<Block>>, Failure> {
    let memory_bytes = settings::memory(config).block_cache;
    let tier = ssd_tier::start(config, TierContext { fs, clock, random: Arc::new(OsRandom) }, memory_bytes)?;
    Ok(Arc::new(BlockCache::above(tier, memory_bytes, allocator::weigh)))
}

fn store_context(
    config: &Config,
    fs: &Arc<dyn FileSystem>,
    cache: Arc<BlockCache<Block>>,
    root: &Path,
    reads: &Arc<Histogram>,
) -> Arc<StoreContext> {
    let timed = Arc::new(TimedFs { inner: fs.clone(), reads: reads.clone() });
    Arc::new(StoreContext {
        fs: fs.clone(),
        files: Files::below(root, timed, cache),
        random: Arc::new(OsRandom),
        root: root.to_owned(),
        config: settings::store(config),
    })
}

fn region_context(
    config: &Config,
    stores: Arc<StoreContext>,
    clock: Arc<dyn Clock>,
    wal: &Arc<Wal>,
    name: &ServerName,
    background: Arc<Background>,
) -> Arc<RegionContext> {
    Arc::new(RegionContext {
        fs: stores.fs.clone(),
        clock: clock.clone(),
        wal: wal.clone(),
        root: stores.root.clone(),
        stores,
        config: Arc::new(settings::region(config)),
        memstore_size: Arc::new(AtomicU64::new(0)),
        nonces: Nonces::new(clock, config.get(keys::NONCE_GRACE)),
        server: name.clone(),
        events: Some(Arc::new(Events(background))),
    })
}

/// SIGTERM and SIGINT stop the server.
fn watch_signals(shards: &Shards, ends: mpsc::Sender<End>) -> Result<(), Failure> {
    let runtime = shards.runtime();
    let _entered = runtime.enter();
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let mut signals = signal(kind).map_err(|e| Failure::of("signals", e))?;
        let ends = ends.clone();
        runtime.spawn(async move {
            if signals.recv().await.is_some() {
                let _ = ends.send(End::Stop("signal".to_owned()));
            }
        });
    }
    Ok(())
}

/// Tells whoever started the server that clients can connect.
fn print_ready(running: &Running) -> Result<(), Failure> {
    let host = &running.regions.name.host;
    let mut out = std::io::stdout().lock();
    let info = ["masterinfo", "regionserverinfo"].iter().zip(running.info_ports);
    let info: String = info.filter(|(_, p)| *p > 0).map(|(name, port)| format!(" {name}={host}:{port}")).collect();
    writeln!(
        out,
        "ready zookeeper={host}:{} master={host}:{} regionserver={host}:{}{info}",
        running.ports.zookeeper.local_addr().port(),
        running.ports.master.local_addr().port(),
        running.ports.regionserver.local_addr().port()
    )
    .and_then(|()| out.flush())
    .map_err(|e| Failure::of("standard output", e))
}

fn stop(running: Running, end: End) -> Result<(), Failure> {
    if let (End::Abort(reason), Some(code)) = (&end, end.exit_code()) {
        return Err(Failure::new(code, format!("gave up: {reason}")));
    }
    tracing::info!(?end, "stopping");
    drop(running.info);
    running.nodes.withdraw();
    running.master.stop();
    let Ports { zookeeper, master, regionserver } = running.ports;
    zookeeper.shutdown();
    running.shards.runtime().block_on(async {
        tokio::join!(master.shutdown(), regionserver.shutdown());
    });
    running.cache.hand_down();
    running.regions.stop();
    running.keeper.stop();
    if let Some(tier) = running.cache.tier() {
        tier.stop();
    }
    running.wal.close().map_err(|e| Failure::of("closing the log", e))?;
    tracing::info!("stopped");
    Ok(())
}
