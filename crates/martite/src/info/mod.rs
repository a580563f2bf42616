//! The info ports: where they listen, and what they show.

mod cache;
mod cluster;
mod ipc;
mod pages;
mod quotas;
mod regions;
mod sampler;

use crate::settings::Memory;
use crate::start::address;
use crate::{Failure, args};
use martite_config::{Config, Key, Signed, keys};
use martite_master::Master;
use martite_metrics::Histogram;
use martite_regionserver::RegionServer;
use martite_rpc::{Pool, Watch};
use martite_web::view::Link;
use martite_web::{Asked, InfoServer, Record, Setting, Source, Task};
pub use sampler::Sampler;
use std::net::TcpListener;
use std::sync::Arc;

/// The methods whose times are told apart.
pub const TIMED_METHODS: &[&str] = &["Get", "Multi", "Scan", "Mutate"];

/// The info ports, taken before anything is served on them.
#[derive(Default)]
pub struct Listeners {
    pub master: Option<TcpListener>,
    pub regionserver: Option<TcpListener>,
}

impl Listeners {
    pub fn bind(args: &args::Start, config: &Config) -> Result<Listeners, Failure> {
        let listen = |port: Option<u16>, host| -> Result<Option<TcpListener>, Failure> {
            let Some(port) = port else { return Ok(None) };
            let address = address(config, host, port)?;
            let listener = TcpListener::bind(address);
            listener.map(Some).map_err(|e| Failure::of(&format!("listening on {address} for the info port"), e))
        };
        let moved = |rpc: Option<u16>, default: u16| rpc.is_some_and(|port| port != default);
        let master = port(config, keys::MASTER_INFO_PORT, moved(args.master_port, 16000));
        let regions = port(config, keys::REGIONSERVER_INFO_PORT, moved(args.regionserver_port, 16020));
        Ok(Listeners {
            master: listen(master, keys::MASTER_INFO_BIND_ADDRESS)?,
            regionserver: listen(regions, keys::REGIONSERVER_INFO_BIND_ADDRESS)?,
        })
    }

    /// Port of master and region server; 0: none.
    pub fn ports(&self) -> [u16; 2] {
        let port = |listener: &Option<TcpListener>| {
            let address = listener.as_ref().and_then(|listener| listener.local_addr().ok());
            address.map_or(0, |address| address.port())
        };
        [port(&self.master), port(&self.regionserver)]
    }

    /// Answers from now on; None: nobody listens.
    pub fn serve(self, shown: Shown) -> Result<Option<InfoServer>, Failure> {
        let shown = Arc::new(shown);
        let master: Arc<dyn Source> = Arc::new(OfMaster(shown.clone()));
        let regions: Arc<dyn Source> = Arc::new(OfRegionServer(shown));
        let ports = [(self.master, master), (self.regionserver, regions)];
        let ports: Vec<_> = ports.into_iter().filter_map(|(port, source)| Some((port?, source))).collect();
        if ports.is_empty() {
            return Ok(None);
        }
        InfoServer::start(ports).map(Some).map_err(|e| Failure::of("info ports", e))
    }
}

/// None: off. A server whose RPC port the command line has moved is one of several on its machine: it has an info port
/// only if that was asked for.
fn port(config: &Config, key: Key<Signed>, moved: bool) -> Option<u16> {
    if moved && !config.is_set(key) {
        return None;
    }
    u16::try_from(config.get(key)).ok()
}

/// What the ports show.
pub struct Shown {
    pub regions: Arc<RegionServer>,
    pub regionserver: Watch,
    pub master_rpc: Watch,
    pub master: Arc<Master>,
    pub pool: Arc<Pool>,
    pub reads: Arc<Histogram>,
    pub config: Arc<Config>,
    pub memory: Memory,
    /// Where pages of the master and of the region server are; None: nowhere.
    pub urls: [Option<String>; 2],
    /// Host and port.
    pub zookeeper: String,
    pub sampler: Sampler,
}

impl Shown {
    fn settings(&self) -> Vec<Setting> {
        let setting = |(key, value, source, is_final): (&str, &str, &str, bool)| Setting {
            key: key.to_owned(),
            value: value.to_owned(),
            source: source.to_owned(),
            is_final,
        };
        self.config.effective().into_iter().map(setting).collect()
    }

    fn tabs(&self, pages: pages::Pages, other: (&Option<String>, &str)) -> Vec<Link> {
        let other = other.0.as_ref().map(|url| Link { to: url.clone(), text: other.1.to_owned() });
        pages::tabs(pages, other)
    }
}

struct OfRegionServer(Arc<Shown>);

impl Source for OfRegionServer {
    fn records(&self) -> Vec<Record> {
        let Shown { regions, regionserver, pool, reads, .. } = &*self.0;
        let record = |sub| Record::new("RegionServer", sub, &regions.name.host);
        let mut server = record("Server");
        regions::server(&mut server, regions);
        cache::put(&mut server, regions);
        cluster::put_tags(&mut server, &self.0, &regions.name.to_string());
        let mut wal = record("WAL");
        regions::wal(&mut server, &mut wal, regions);
        let mut ipc = record("IPC");
        ipc::put(&mut ipc, regionserver);
        ipc::put_pool(&mut ipc, pool);
        let mut io = record("IO");
        io.times("FsPReadTime", &reads.snapshot());
        let (mut tables, mut latencies, mut each) = (record("Tables"), record("TableLatencies"), record("Regions"));
        regions::tables(&mut tables, regions);
        cache::put_tables(&mut tables, regions);
        regions::latencies(&mut latencies, regions);
        regions::regions(&mut each, regions);
        let (mut quotas, mut refused) = (record("Quotas"), record("ThrottleExceptions"));
        quotas::put(&mut quotas, regions);
        quotas::put_refused(&mut refused, regions);
        vec![server, wal, ipc, io, tables, latencies, each, quotas, refused]
    }

    fn settings(&self) -> Vec<Setting> {
        self.0.settings()
    }

    fn tabs(&self) -> Vec<Link> {
        self.0.tabs(pages::OF_REGION_SERVER, (&self.0.urls[0], "Master"))
    }

    fn view(&self, path: &str, asked: &Asked) -> Option<pages::Answer> {
        pages::find(pages::OF_REGION_SERVER, path, &self.0, asked)
    }

    fn tasks(&self) -> Vec<Task> {
        let task = |task: martite_proto::ServerTask| {
            let started_ms = task.start_time();
            Task { description: task.description, status: task.status, started_ms }
        };
        self.0.regions.tasks().into_iter().map(task).collect()
    }

    fn sample(&self) {
        self.0.sampler.look(&self.0);
    }
}

struct OfMaster(Arc<Shown>);

impl Source for OfMaster {
    fn records(&self) -> Vec<Record> {
        let Shown { regions, master_rpc, master, .. } = &*self.0;
        let record = |sub| Record::new("Master", sub, &regions.name.host);
        let mut ipc = record("IPC");
        ipc::put(&mut ipc, master_rpc);
        let mut space = record("Quotas");
        quotas::put_space(&mut space, &master.space_usage());
        let (mut server, mut assignment) = (record("Server"), record("AssignmentManager"));
        cluster::put(&mut server, &self.0);
        cluster::put_assignment(&mut assignment, &self.0, regions.ctx.clock.now_ms());
        let mut snapshots = record("Snapshots");
        cluster::put_snapshots(&mut snapshots, &self.0);
        vec![server, assignment, snapshots, ipc, space]
    }

    fn settings(&self) -> Vec<Setting> {
        self.0.settings()
    }

    fn tabs(&self) -> Vec<Link> {
        self.0.tabs(pages::OF_MASTER, (&self.0.urls[1], "Region server"))
    }

    fn view(&self, path: &str, asked: &Asked) -> Option<pages::Answer> {
        pages::find(pages::OF_MASTER, path, &self.0, asked)
    }

    /// What the master does are procedures.
    fn tasks(&self) -> Vec<Task> {
        Vec::new()
    }

    fn sample(&self) {
        self.0.sampler.look(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_server_has_an_info_port_only_if_asked() {
        let key = keys::REGIONSERVER_INFO_PORT;
        let of = |settings: &[(&str, &str)], moved| port(&Config::of(settings).unwrap(), key, moved);
        assert_eq!((of(&[], false), of(&[], true)), (Some(16030), None));
        assert_eq!((of(&[(key.name(), "0")], true), of(&[(key.name(), "-1")], false)), (Some(0), None));
        assert_eq!(of(&[(key.name(), "9")], true), Some(9));
    }
}
