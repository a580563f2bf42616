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
        let to = |nth: usize, text: &str| shown.urls[nth].clone().map(|to| Link { to, text: text.to_owned() });
        let master = Port {
            shown: shown.clone(),
            pages: pages::OF_MASTER,
            other: to(1, "Region server"),
            records: of_master,
            // What a master does are procedures, which have a page.
            tasks: |_| Vec::new(),
        };
        let regions = Port {
            shown: shown.clone(),
            pages: pages::OF_REGION_SERVER,
            other: to(0, "Master"),
            records: of_region_server,
            tasks,
        };
        let ports = [(self.master, Arc::new(master) as Arc<dyn Source>), (self.regionserver, Arc::new(regions))];
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
    /// Addresses of the ports of master and region server, with a slash at the end; None: there is no port.
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
}

/// What one port shows of it.
struct Port {
    shown: Arc<Shown>,
    pages: pages::Pages,
    /// To the other port's pages.
    other: Option<Link>,
    records: fn(&Shown) -> Vec<Record>,
    tasks: fn(&Shown) -> Vec<Task>,
}

impl Source for Port {
    fn records(&self) -> Vec<Record> {
        (self.records)(&self.shown)
    }

    fn settings(&self) -> Vec<Setting> {
        self.shown.settings()
    }

    fn tabs(&self) -> Vec<Link> {
        pages::tabs(self.pages, self.other.clone())
    }

    fn view(&self, path: &str, asked: &Asked) -> Option<pages::Answer> {
        pages::find(self.pages, path, &self.shown, asked)
    }

    fn tasks(&self) -> Vec<Task> {
        (self.tasks)(&self.shown)
    }

    fn sample(&self) {
        self.shown.sampler.look(&self.shown);
    }
}

fn of_region_server(shown: &Shown) -> Vec<Record> {
    let Shown { regions, regionserver, pool, reads, .. } = shown;
    let record = |sub| Record::new("RegionServer", sub, &regions.name.host);
    let mut server = record("Server");
    regions::server(&mut server, regions);
    cache::put(&mut server, regions);
    cluster::put_tags(&mut server, shown, &regions.name.to_string());
    let mut wal = record("WAL");
    regions::log(&mut server, &mut wal, regions);
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

fn of_master(shown: &Shown) -> Vec<Record> {
    let record = |sub| Record::new("Master", sub, &shown.regions.name.host);
    let mut ipc = record("IPC");
    ipc::put(&mut ipc, &shown.master_rpc);
    let mut space = record("Quotas");
    quotas::put_space(&mut space, &shown.master.space_usage());
    let (mut server, mut assignment, mut snapshots) =
        (record("Server"), record("AssignmentManager"), record("Snapshots"));
    cluster::put(&mut server, shown);
    cluster::put_assignment(&mut assignment, shown, shown.regions.ctx.clock.now_ms());
    cluster::put_snapshots(&mut snapshots, shown);
    vec![server, assignment, snapshots, ipc, space]
}

fn tasks(shown: &Shown) -> Vec<Task> {
    let task = |task: martite_proto::ServerTask| {
        let started_ms = task.start_time();
        Task { description: task.description, status: task.status, started_ms }
    };
    shown.regions.tasks().into_iter().map(task).collect()
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
