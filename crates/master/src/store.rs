//! The master's own store: region `master:store` below `MasterData`, with its own log (HBase 2.6: MasterRegion).
//!
//! | Row | Column | Value |
//! |---|---|---|
//! | procedure id, 8 bytes | `proc:m` | our procedures: the Procedure message |
//! | procedure id, 8 bytes | `proc:d` | HBase's procedures; ours would be unreadable there, so they have their own column |
//! | name of a switch | `state:d` | `PBUF` and the switch's message, as HBase |
//! | `hbase:meta,,1` | `info:…` | where hbase:meta is, as HBase |
//! | `host,port,startcode` | `rs:state` | ONLINE: a region server, whose regions HBase must recover if it starts here next |

use crate::rows::{RegionRows, Row, Rows, value};
use crate::{MasterContext, MasterError};
use martite_blockcache::BlockCache;
use martite_catalog::meta_row::MetaEdit;
use martite_catalog::{Layout, RegionInfo, RegionState, ServerName, files, system};
use martite_config::keys;
use martite_env::{Clock, FileSystem};
use martite_proto::{self as pb, Message};
use martite_region::{Nonces, Region, RegionConfig, RegionContext};
use martite_store::{Files, StoreConfig, StoreContext};
use martite_wal::{Wal, WalContext, WalOptions};
use std::path::PathBuf;
use std::sync::Arc;

const PROC_FAMILY: &[u8] = b"proc";
const STATE_FAMILY: &[u8] = b"state";
const SERVER_FAMILY: &[u8] = b"rs";
/// Our procedures; HBase reads only `d`.
const OUR_PROCEDURE: &[u8] = b"m";
const HBASE: &[u8] = b"d";
const BLOCK_CACHE_BYTES: u64 = 4 << 20;
const FLUSH_SIZE_BYTES: u64 = 16 << 20;
/// A server crash is recovered at our start as at any other.
const SUPERSEDED: [&str; 6] = [
    "ServerCrashProcedure",
    "TransitRegionStateProcedure",
    "OpenRegionProcedure",
    "CloseRegionProcedure",
    "SplitWALProcedure",
    "SplitWALRemoteProcedure",
];

/// What must outlive the master.
pub(crate) struct MasterStore {
    rows: Box<dyn Rows>,
    region: Option<(Arc<Region>, Arc<Wal>)>,
}

impl MasterStore {
    /// Makes the region, or recovers and opens it.
    pub fn open(ctx: &MasterContext) -> Result<MasterStore, MasterError> {
        let layout = ctx.layout.master_data();
        let table = Arc::new(system::master_store_table());
        let info = RegionInfo::master_store();
        files::write_table_descriptor(&*ctx.fs, &layout.table_dir(table.name()), &table)?;
        files::create_region_dir(&*ctx.fs, &layout.region_dir(&info), &info)?;
        split_dead_logs(&*ctx.fs, &layout, None)?;
        let (context, wal) = region_context(ctx, &layout)?;
        let region = Region::open(context, info, table)?;
        Ok(MasterStore { rows: Box::new(RegionRows(region.clone())), region: Some((region, wal)) })
    }

    pub fn put_procedure(&self, procedure: &pb::Procedure, now_ms: u64) -> Result<(), MasterError> {
        let edit = MetaEdit::new(procedure.proc_id.to_be_bytes().to_vec(), now_ms);
        self.rows.apply(&[edit.cell(PROC_FAMILY, OUR_PROCEDURE, &procedure.encode_to_vec())])
    }

    pub fn delete_procedures(&self, ids: &[u64], now_ms: u64) -> Result<(), MasterError> {
        let edit =
            |id: &u64| MetaEdit::new(id.to_be_bytes().to_vec(), now_ms).delete_column(PROC_FAMILY, OUR_PROCEDURE);
        self.rows.apply(&ids.iter().map(edit).collect::<Vec<_>>())
    }

    /// Our procedures, and the highest procedure id that was ever given. Unfinished procedures of HBase are refused,
    /// except those that every start makes unnecessary: these are deleted, in HBase's way, for HBase would go on with them.
    pub fn procedures(&self, now_ms: u64) -> Result<(Vec<pb::Procedure>, u64), MasterError> {
        let (mut ours, mut deleted) = (Vec::new(), Vec::new());
        let mut highest = 0;
        for row in self.rows.scan(Some(PROC_FAMILY))? {
            let Some(first) = row.first() else { continue };
            let id = first.as_ref().row().try_into().map(u64::from_be_bytes).unwrap_or(0);
            highest = highest.max(id);
            if let Some(bytes) = value(&row, PROC_FAMILY, OUR_PROCEDURE) {
                ours.push(decode_procedure(id, bytes)?);
            }
            if let Some(bytes) = value(&row, PROC_FAMILY, HBASE).filter(|v| !v.is_empty()) {
                let procedure = decode_procedure(id, bytes)?;
                if !check_foreign(&procedure)? {
                    tracing::info!(pid = id, class = procedure.class_name, "HBase's procedure has no work left");
                    deleted.push(MetaEdit::new(id.to_be_bytes().to_vec(), now_ms).cell(PROC_FAMILY, HBASE, b""));
                }
            }
        }
        self.rows.apply(&deleted)?;
        Ok((ours, highest))
    }

    pub fn newest_ms(&self) -> Result<u64, MasterError> {
        self.rows.newest_ms()
    }

    /// The message of a switch that somebody has set.
    pub fn state(&self, name: &str) -> Result<Option<Vec<u8>>, MasterError> {
        let rows = self.rows.scan(Some(STATE_FAMILY))?;
        let row = rows.iter().find(|row: &&Row| row.first().is_some_and(|c| c.as_ref().row() == name.as_bytes()));
        Ok(row.and_then(|row| value(row, STATE_FAMILY, HBASE)).map(<[u8]>::to_vec))
    }

    pub fn set_state(&self, name: &str, bytes: &[u8], now_ms: u64) -> Result<(), MasterError> {
        self.rows.apply(&[MetaEdit::new(name.as_bytes().to_vec(), now_ms).cell(STATE_FAMILY, HBASE, bytes)])
    }

    /// Notes where hbase:meta is open.
    pub fn put_meta_location(&self, server: &ServerName, open_seq_num: u64, now_ms: u64) -> Result<(), MasterError> {
        let meta = RegionInfo::meta();
        let edit = MetaEdit::region(&meta, now_ms)
            .region_info(&meta)
            .location(server, open_seq_num, 0)
            .target(server, 0)
            .state(RegionState::Open, 0);
        self.rows.apply(&[edit])
    }

    /// Notes the region server that lives, and forgets those before it, whose logs are split.
    pub fn put_server(&self, server: &ServerName, now_ms: u64) -> Result<(), MasterError> {
        let name = server.to_string();
        let known = self.rows.scan(Some(SERVER_FAMILY))?;
        let rows = known.iter().filter_map(|row| row.first().map(|cell| cell.as_ref().row().to_vec()));
        let gone = rows.filter(|row| row != name.as_bytes());
        let mut edits: Vec<MetaEdit> =
            gone.map(|row| MetaEdit::new(row, now_ms).delete_family(SERVER_FAMILY)).collect();
        edits.push(MetaEdit::new(name.into_bytes(), now_ms).cell(SERVER_FAMILY, b"state", b"ONLINE"));
        self.rows.apply(&edits)
    }

    /// HBase's unfinished procedure of a class, as HBase saves it.
    #[cfg(test)]
    pub fn put_foreign(&self, id: u64, class: &str) -> Result<(), MasterError> {
        let state = pb::ProcedureState::Runnable as i32;
        let class_name = format!("org.apache.hadoop.hbase.master.procedure.{class}");
        let procedure = pb::Procedure { class_name, proc_id: id, state, ..Default::default() };
        let edit = MetaEdit::new(id.to_be_bytes().to_vec(), 1);
        self.rows.apply(&[edit.cell(PROC_FAMILY, HBASE, &procedure.encode_to_vec())])
    }

    /// What HBase would find of a procedure.
    #[cfg(test)]
    pub fn foreign(&self, id: u64) -> Result<Option<Vec<u8>>, MasterError> {
        let rows = self.rows.scan(Some(PROC_FAMILY))?;
        let row = rows.iter().find(|row| row[0].as_ref().row() == id.to_be_bytes());
        Ok(row.and_then(|row| value(row, PROC_FAMILY, HBASE)).map(<[u8]>::to_vec))
    }

    #[cfg(test)]
    pub fn servers(&self) -> Result<Vec<String>, MasterError> {
        let rows = self.rows.scan(Some(SERVER_FAMILY))?;
        Ok(rows.iter().map(|row| String::from_utf8_lossy(row[0].as_ref().row()).into_owned()).collect())
    }

    /// Writes what is in memory to a file, so that the log can shrink.
    pub fn flush(&self) -> Result<(), MasterError> {
        let Some((region, wal)) = &self.region else { return Ok(()) };
        region.flush(None, "the master's store")?;
        region.compact(None, false, &martite_store::Unthrottled)?;
        wal.roll()?;
        Ok(())
    }

    pub fn close(&self) {
        let Some((region, wal)) = &self.region else { return };
        let closed = region.close(false).map_err(MasterError::from).and_then(|()| Ok(wal.close()?));
        if let Err(error) = closed {
            tracing::error!(%error, "the master's store did not close well; its log has everything");
        }
    }
}

fn decode_procedure(id: u64, bytes: &[u8]) -> Result<pb::Procedure, MasterError> {
    pb::Procedure::decode(bytes).map_err(|e| MasterError::io(format!("master:store, procedure {id}: {e}")))
}

/// Whether a procedure of HBase is done; one that no start of ours makes unnecessary is refused.
fn check_foreign(procedure: &pb::Procedure) -> Result<bool, MasterError> {
    use pb::ProcedureState::{Failed, Rolledback, Success};
    let simple = procedure.class_name.rsplit('.').next().unwrap_or_default();
    let finished = [Success, Rolledback, Failed].iter().any(|s| *s as i32 == procedure.state);
    if finished || SUPERSEDED.contains(&simple) {
        return Ok(finished);
    }
    Err(MasterError::io(format!(
        "the root directory has an unfinished procedure of HBase, {simple} pid={}: let HBase finish it first",
        procedure.proc_id
    )))
}

/// Turns the logs of servers that are gone into recovered edits of their regions.
pub(crate) fn split_dead_logs(
    fs: &dyn FileSystem,
    layout: &Layout,
    alive: Option<&ServerName>,
) -> Result<(), MasterError> {
    let alive = alive.map(ServerName::to_string);
    let entries = match fs.list(&layout.wals_dir()) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(MasterError::io(format!("{}: {e}", layout.wals_dir().display()))),
    };
    let dead: Vec<PathBuf> = entries
        .into_iter()
        .filter(|e| e.is_dir && Some(&e.name) != alive.as_ref())
        .map(|e| layout.wals_dir().join(e.name))
        .collect();
    if !dead.is_empty() {
        let report = martite_wal::split_logs(fs, layout.root(), &dead, &|_| None)?;
        tracing::info!(logs = report.logs, entries = report.entries, "split the logs of servers that are gone");
    }
    Ok(())
}

fn region_context(ctx: &MasterContext, layout: &Layout) -> Result<(Arc<RegionContext>, Arc<Wal>), MasterError> {
    let config = RegionConfig { flush_size_bytes: FLUSH_SIZE_BYTES, ..RegionConfig::default() };
    let name = ctx.server_name.to_string();
    let wal = Wal::create(WalContext {
        fs: ctx.fs.clone(),
        clock: ctx.clock.clone(),
        dir: layout.server_wals_dir(&ctx.server_name),
        archive_dir: layout.old_wals_dir(),
        prefix: martite_wal::format::file_prefix(&name),
        suffix: String::new(),
        options: WalOptions { hsync: ctx.config.get(keys::WAL_HSYNC), ..WalOptions::default() },
    })?;
    let cache = Arc::new(BlockCache::new(BLOCK_CACHE_BYTES, martite_hfile::Block::heap_size));
    let stores = Arc::new(StoreContext {
        fs: ctx.fs.clone(),
        files: Files::new(ctx.fs.clone(), cache),
        random: ctx.random.clone(),
        root: layout.root().to_owned(),
        config: StoreConfig::with_flush_size(FLUSH_SIZE_BYTES),
    });
    let clock: Arc<dyn Clock> = ctx.clock.clone();
    let context = RegionContext {
        fs: ctx.fs.clone(),
        nonces: Nonces::new(clock.clone(), ctx.config.get(keys::NONCE_GRACE)),
        clock,
        wal: wal.clone(),
        root: layout.root().to_owned(),
        stores,
        config: Arc::new(config),
        memstore_size: Arc::default(),
        server: ctx.server_name.clone(),
        events: None,
    };
    Ok((Arc::new(context), wal))
}
