//! Tables before they are measured: made, loaded, in one file each, and in the cache.

use crate::drive::{Load, Timing, drive};
use crate::op::put::Put;
use crate::op::scan::{Passing, Scan};
use crate::op::{Op, Step};
use crate::process::Process;
use crate::results::{Numbers, TableResults};
use crate::rows::{self, FAMILY, Shape};
use crate::server::Server;
use crate::target::Target;
use crate::{Error, answer};
use martite_catalog::{FamilyDescriptor, TableDescriptor, TableName};
use martite_client::{Admin, Cluster, Location};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// How long a server may take to come up, to compact, to become quiet: ten minutes, looked at twice a second.
const LOOK: Duration = Duration::from_millis(500);
const LOOKS: usize = 1200;
/// A server that uses less than this share of a core is quiet.
const QUIET: f64 = 0.05;

/// How a table is made.
#[derive(Debug, Clone, Copy)]
pub struct Making {
    pub rows: u64,
    pub regions: u64,
    /// Connections that load it.
    pub load_threads: u64,
    pub client_threads: u64,
}

/// Makes a table and fills it and the cache.
pub async fn prepare(server: &Server, shape: Shape, options: Making) -> Result<(Arc<Target>, TableResults), Error> {
    let cluster = Cluster::connect(&server.registry).await?;
    let name = TableName::parse(shape.table).map_err(martite_client::Error::from)?;
    let table = TableDescriptor::new(name.clone()).with_family(FamilyDescriptor::new(FAMILY));
    let regions = options.regions.min(options.rows);
    let splits: Vec<rows::Key> = (1..regions).map(|i| rows::key(options.rows / regions * i)).collect();
    let splits: Vec<&[u8]> = splits.iter().map(|key| &key[..]).collect();
    let admin = create(&cluster, &table, &splits).await?;
    let target = Arc::new(Target::new(shape, options.rows, cluster.regions(&name).await?).await?);

    let next = Arc::new(AtomicU64::new(0));
    let make = |_| Box::new(Put::new(target.clone(), next.clone())) as Box<dyn Op>;
    let threads = options.load_threads as usize;
    let load = Load::closed(target.address, threads, 1, Box::new(make));
    let load = once(load, server.process, options).await?;
    check_rows(&load, options.rows)?;

    settle(&cluster, &admin, &name).await?;
    quiet(server.process).await?;
    let make = |_| {
        let scan = Scan::new(target.clone(), Passing::All, target.rows, 0).checking_all();
        Box::new(Once::new(scan)) as Box<dyn Op>
    };
    let load_all = Load::closed(target.address, 1, 1, Box::new(make));
    let first_read = once(load_all, server.process, options).await?;
    check_rows(&first_read, options.rows)?;
    Ok((target, TableResults { table: shape.table, threads: options.load_threads, load, first_read }))
}

fn check_rows(numbers: &Numbers, rows: u64) -> Result<(), Error> {
    if numbers.rows == rows { Ok(()) } else { Err(Error::wrong(format!("{} of {rows} rows", numbers.rows))) }
}

/// A load that ends by itself.
async fn once(load: Load<'_>, server: Option<Process>, options: Making) -> Result<Numbers, Error> {
    let client_threads = options.client_threads as usize;
    let timing = Timing { warmup: Duration::ZERO, length: None, client_threads, polls: false, rest: None };
    Ok(Numbers::of(&drive(&[load], timing, server).await?, 0))
}

/// The first operation of many.
pub struct Once<O> {
    op: O,
    begun: bool,
}

impl<O> Once<O> {
    pub fn new(op: O) -> Once<O> {
        Once { op, begun: false }
    }
}

impl<O: Op> Op for Once<O> {
    fn begin(&mut self, id: u32, out: &mut Vec<u8>) -> bool {
        !std::mem::replace(&mut self.begun, true) && self.op.begin(id, out)
    }
    fn reads_cells(&self) -> bool {
        self.op.reads_cells()
    }
    fn some_cells(&mut self, cells: &[u8]) -> Result<usize, Error> {
        self.op.some_cells(cells)
    }
    fn answer(&mut self, id: u32, answer: answer::Answer<'_>, out: &mut Vec<u8>) -> Result<Step, Error> {
        self.op.answer(id, answer, out)
    }
}

/// Makes the table; a server that has just come up may still refuse for a while.
pub async fn create(cluster: &Cluster, table: &TableDescriptor, splits: &[&[u8]]) -> Result<Admin, Error> {
    let name = table.name();
    let mut looks = 0;
    loop {
        let made = async {
            let admin = connect(cluster).await?;
            if admin.table_names().await?.contains(name) {
                return Err(Error::Setup(format!("the table {name} is there already")));
            }
            admin.create_table(table, splits).await?;
            Ok(admin)
        };
        match made.await {
            Err(Error::Client(e)) if e.is_transient() && looks < LOOKS => tokio::time::sleep(LOOK).await,
            made => return made,
        }
        looks += 1;
    }
}

/// To the active master and to the server that has hbase:meta.
async fn connect(cluster: &Cluster) -> Result<Admin, Error> {
    let master = martite_client::cluster::resolve(&cluster.master().await?.address()).await?;
    let regions = martite_client::cluster::resolve(&cluster.meta_server().await?.address()).await?;
    Ok(Admin::connect(master, regions).await?)
}

/// One file a store, and nothing in the memstore: so that servers are compared in the same state.
pub async fn settle(cluster: &Cluster, admin: &Admin, name: &TableName) -> Result<(), Error> {
    let regions = cluster.regions(name).await?;
    flush(admin, name, &regions).await?;
    compact(admin, &regions).await?;
    compacted(admin, name, &regions).await
}

async fn compact(admin: &Admin, regions: &[Location]) -> Result<(), Error> {
    for region in regions {
        admin.compact_region(&region.info, true).await?;
    }
    Ok(())
}

/// Waits until nothing of it is being compacted.
async fn compacted(admin: &Admin, name: &TableName, regions: &[Location]) -> Result<(), Error> {
    for region in regions {
        let mut looks = 0;
        while admin.is_compacting(&region.info).await? {
            looks += 1;
            if looks > LOOKS {
                return Err(Error::Setup(format!("{name} is still compacting")));
            }
            tokio::time::sleep(LOOK).await;
        }
    }
    Ok(())
}

/// A major compaction of a table that is under way.
pub struct Compaction {
    admin: Admin,
    name: TableName,
    regions: Vec<Location>,
}

impl Compaction {
    pub async fn start(server: &Server, shape: Shape) -> Result<Compaction, Error> {
        let cluster = Cluster::connect(&server.registry).await?;
        let name = TableName::parse(shape.table).map_err(martite_client::Error::from)?;
        let (admin, regions) = (connect(&cluster).await?, cluster.regions(&name).await?);
        compact(&admin, &regions).await?;
        Ok(Compaction { admin, name, regions })
    }

    pub async fn is_under_way(&self) -> Result<bool, Error> {
        for region in &self.regions {
            if self.admin.is_compacting(&region.info).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub async fn wait(&self) -> Result<(), Error> {
        compacted(&self.admin, &self.name, &self.regions).await
    }
}

/// Region by region, because the procedure that HBase 2.6.4 has for a whole table may never end when a region is being
/// flushed already. A server does not flush a region twice at a time, so it is asked until no region has a megabyte left,
/// and then once more.
async fn flush(admin: &Admin, name: &TableName, regions: &[Location]) -> Result<(), Error> {
    for _ in 0..LOOKS {
        let mut left = 0;
        for server in regions.iter().map(|region| &region.server).collect::<BTreeSet<_>>() {
            let loads = admin.region_loads(server, Some(name)).await?;
            left += loads.iter().map(|load| load.mem_store_size_mb()).sum::<u32>();
        }
        for region in regions {
            admin.flush_region(&region.info).await?;
        }
        if left == 0 {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
    Err(Error::Setup(format!("the memstores of {name} do not become empty")))
}

/// Waits until the server does nothing by itself.
pub async fn quiet(server: Option<Process>) -> Result<(), Error> {
    let Some(server) = server else { return Ok(()) };
    for _ in 0..LOOKS {
        let before = server.cpu()?;
        tokio::time::sleep(LOOK).await;
        if server.cpu()?.saturating_sub(before) < LOOK.mul_f64(QUIET) {
            return Ok(());
        }
    }
    Err(Error::Setup("the server does not become quiet".to_owned()))
}
