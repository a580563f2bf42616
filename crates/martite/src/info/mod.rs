//! The info ports: where they listen, and what they show.

mod cache;
mod ipc;
mod quotas;
mod regions;

use crate::start::address;
use crate::{Failure, args};
use martite_config::{Config, Key, Signed, keys};
use martite_master::Master;
use martite_metrics::Histogram;
use martite_regionserver::RegionServer;
use martite_rpc::{Pool, Watch};
use martite_web::{InfoServer, Record, Source};
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
        let host = shown.regions.name.host.to_string();
        let master: Arc<dyn Source> =
            Arc::new(MasterInfo { watch: shown.master_rpc.clone(), master: shown.master.clone(), host });
        let regions: Arc<dyn Source> = Arc::new(shown);
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

/// What the region server's port shows.
pub struct Shown {
    pub regions: Arc<RegionServer>,
    pub regionserver: Watch,
    pub master_rpc: Watch,
    pub master: Arc<Master>,
    pub pool: Arc<Pool>,
    pub reads: Arc<Histogram>,
}

impl Source for Shown {
    fn records(&self) -> Vec<Record> {
        let host = &self.regions.name.host;
        let record = |sub| Record::new("RegionServer", sub, host);
        let mut server = record("Server");
        regions::server(&mut server, &self.regions);
        cache::put(&mut server, &self.regions);
        let mut ipc = record("IPC");
        ipc::put(&mut ipc, &self.regionserver);
        ipc::put_pool(&mut ipc, &self.pool);
        let mut io = record("IO");
        io.times("FsPReadTime", &self.reads.snapshot());
        let (mut tables, mut latencies, mut each) = (record("Tables"), record("TableLatencies"), record("Regions"));
        regions::tables(&mut tables, &self.regions);
        cache::put_tables(&mut tables, &self.regions);
        regions::latencies(&mut latencies, &self.regions);
        regions::regions(&mut each, &self.regions);
        let (mut quotas, mut refused) = (record("Quotas"), record("ThrottleExceptions"));
        quotas::put(&mut quotas, &self.regions);
        quotas::put_refused(&mut refused, &self.regions);
        vec![server, ipc, io, tables, latencies, each, quotas, refused]
    }
}

struct MasterInfo {
    watch: Watch,
    master: Arc<Master>,
    host: String,
}

impl Source for MasterInfo {
    fn records(&self) -> Vec<Record> {
        let mut ipc = Record::new("Master", "IPC", &self.host);
        ipc::put(&mut ipc, &self.watch);
        let mut space = Record::new("Master", "Quotas", &self.host);
        quotas::put_space(&mut space, &self.master.space_usage());
        vec![ipc, space]
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
