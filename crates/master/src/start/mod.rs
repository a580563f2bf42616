//! Start: from a directory, empty or not, to a master that serves.
//!
//! ```text
//! hbase.version, hbase.id ─ master:store ─ logs of dead servers ─ hbase:meta ─ tables and regions
//!   ─ saved procedures ─ regions opened ─ procedures finished ─ hbase:namespace ─ published
//! ```

mod load;

use crate::catalog::Catalog;
use crate::namespaces::Namespaces;
use crate::procedure::{CreateTable, Executor, regions_of};
use crate::quotas::{self, Quotas};
use crate::rows::HostRows;
use crate::services::Services;
use crate::snapshots::{self, Snapshots};
use crate::store::{MasterStore, split_dead_logs};
use crate::switches::Switches;
use crate::{Caller, MasterContext, MasterError};
use martite_catalog::{NamespaceDescriptor, RegionInfo, TableDescriptor, TableName, files, system};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// Regions that are opened at once.
const PARALLEL: usize = 8;

pub(crate) fn start(ctx: MasterContext) -> Result<(Arc<Services>, Arc<Executor>), MasterError> {
    let (fs, layout) = (&*ctx.fs, &ctx.layout);
    files::check_version(fs, layout)?;
    let cluster_id = files::cluster_id(fs, layout, || new_cluster_id(&ctx))?;
    ctx.registry.publish_cluster_id(&cluster_id);
    let store = MasterStore::open(&ctx)?;
    split_dead_logs(fs, layout, Some(&ctx.host.server_name()))?;
    let meta = create_meta(&ctx)?;
    let open_seq_num = ctx.host.open_region(&RegionInfo::meta(), &meta).map_err(MasterError::io)?;
    let threads = ctx.threads;
    let services = Arc::new(services(ctx, store, cluster_id)?);
    services.store.put_meta_location(&services.host.server_name(), open_seq_num, services.now_ms())?;
    services.store.put_server(&services.host.server_name(), services.now_ms())?;
    services.registry.publish_meta(&services.host.server_name(), open_seq_num, meta.region_replication());
    load::load(&services, meta, open_seq_num)?;

    let procedures = Executor::load(services.clone(), threads)?;
    let unassigned = services.unassigned(|region| procedures.concerns(region));
    tolerate(services.open_regions(&unassigned));
    load_namespaces(&services)?;
    procedures.start();
    procedures.wait_idle();
    snapshots::clear_working(&services)?;
    // A procedure that had opened regions before the crash does not open them again.
    tolerate(services.open_regions(&services.unassigned(|_| false)));
    create_namespace_table(&services, &procedures)?;
    if quotas::are_enabled(&services) {
        create_system_table(&services, &procedures, &system::quota_table())?;
        if let Err(error) = services.quotas.load(&services) {
            tracing::error!(%error, "no quota counts until hbase:quota can be read");
        }
    }
    if procedures.is_broken() {
        return Err(MasterError::io("the master's own store cannot be written"));
    }
    services.registry.publish_master(&services.server_name);
    tracing::info!(
        cluster = services.cluster_id,
        tables = services.catalog.tables().len(),
        regions = services.catalog.all_regions().len(),
        "the master serves"
    );
    Ok((services, procedures))
}

/// A region that does not open keeps its rows from being read, not the others'.
fn tolerate(outcome: Result<(), MasterError>) {
    if let Err(error) = outcome {
        tracing::error!(%error, "some regions did not open");
    }
}

fn new_cluster_id(ctx: &MasterContext) -> String {
    let (high, low) = (ctx.random.u64(), ctx.random.u64());
    let bytes: [u8; 16] = ((u128::from(high) << 64) | u128::from(low)).to_be_bytes();
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

/// Makes hbase:meta's directories if they are not there; answers its descriptor.
fn create_meta(ctx: &MasterContext) -> Result<Arc<TableDescriptor>, MasterError> {
    let (fs, layout) = (&*ctx.fs, &ctx.layout);
    let dir = layout.table_dir(&TableName::meta());
    let table = match files::read_table_descriptor(fs, &dir)? {
        Some(table) => table,
        None => {
            let table = system::meta_table();
            files::write_table_descriptor(fs, &dir, &table)?;
            table
        }
    };
    let meta = RegionInfo::meta();
    files::create_region_dir(fs, &layout.region_dir(&meta), &meta)?;
    Ok(Arc::new(table))
}

fn services(ctx: MasterContext, store: MasterStore, cluster_id: String) -> Result<Services, MasterError> {
    let meta = HostRows { host: ctx.host.clone(), encoded: RegionInfo::meta().encoded_name().to_string() };
    Ok(Services {
        switches: Switches::load(&store)?,
        last_ms: AtomicU64::new(store.newest_ms()?),
        store,
        meta: Box::new(meta),
        fs: ctx.fs,
        layout: ctx.layout,
        clock: ctx.clock,
        config: ctx.config,
        host: ctx.host,
        registry: ctx.registry,
        server_name: ctx.server_name,
        info_port: ctx.info_port,
        version: ctx.version,
        cluster_id,
        parallel: if ctx.threads { PARALLEL } else { 1 },
        catalog: Catalog::default(),
        namespaces: Namespaces::default(),
        quotas: Quotas::default(),
        snapshots: Snapshots::default(),
        stopping: AtomicBool::new(false),
    })
}

/// Reads hbase:namespace before procedures go on; not if it is still being made.
fn load_namespaces(services: &Services) -> Result<(), MasterError> {
    let regions = services.catalog.live_regions(&TableName::namespace_table());
    let is_open = |region: &RegionInfo| services.host.region(region.encoded_name()).is_some();
    if regions.iter().any(is_open) { services.namespaces.load(services) } else { Ok(()) }
}

/// A new cluster gets hbase:namespace, with the namespaces that every cluster has.
fn create_namespace_table(services: &Services, procedures: &Executor) -> Result<(), MasterError> {
    create_system_table(services, procedures, &system::namespace_table())?;
    services.namespaces.load(services)?;
    for namespace in NamespaceDescriptor::reserved() {
        if services.namespaces.get(namespace.name()).is_none() {
            let dir = services.layout.namespace_dir(namespace.name());
            services.fs.create_dir_all(&dir).map_err(|e| MasterError::io(format!("make {}: {e}", dir.display())))?;
            services.namespaces.put(services, namespace)?;
        }
    }
    Ok(())
}

/// Makes a table of one region if it is not there.
fn create_system_table(services: &Services, procedures: &Executor, table: &TableDescriptor) -> Result<(), MasterError> {
    if services.catalog.table(table.name()).is_some() {
        return Ok(());
    }
    let regions = regions_of(table.name(), &[], services.now_ms());
    let body = Box::new(CreateTable::new(table, &regions));
    let id = procedures.submit(body, &Caller::default(), (0, 0))?;
    procedures.wait(id)?;
    Ok(())
}
