//! The region server: hosts regions, and answers ClientService and AdminService. One module per RPC method.
//!
//! ```text
//!   rpc::Call ── by service and method ──► client/get.rs … admin/flush_region.rs
//!                                             │ on the network thread while nothing blocks (cache only)
//!                                             └ on the pool from the first block that is not in memory
//! ```
//!
//! What is absent: decisions about where regions are (crate `master`), the configuration's keys (the binary).
#![forbid(unsafe_code)]

mod admin;
mod background;
mod cells;
mod client;
mod course;
mod delays;
mod error;
mod fields;
mod gather;
mod keep;
mod log_age;
mod mutation;
mod online;
mod options;
mod pace;
mod query;
mod registry;
mod result;
mod scanners;
mod space;
mod stats;
mod tasks;
mod throttle;
mod times;
mod usage;

pub use background::{Background, Events};
pub use error::Fault;
pub use online::Online;
pub use options::{Options, QuotaOptions};
pub use pace::CompactionBounds;
pub use registry::{ClusterView, MetaLocation};
pub use scanners::Scanners;
pub use stats::Stats;
pub use throttle::Throttles;
pub use usage::{OfOperation, OfUser, Usage};

use bytes::Bytes;
use martite_catalog::{RegionInfo, ServerName, TableDescriptor};
use martite_proto as pb;
use martite_region::{Region, RegionContext, RegionError};
use martite_rpc::{Call, Pool};
use pace::Pace;
use parking_lot::Mutex;
use space::Space;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Where the region server's wishes go.
pub trait MasterLink: Send + Sync + 'static {
    /// A region has grown too large.
    fn request_split(&self, encoded: &str);
    /// The server cannot go on and must be ended.
    fn abort(&self, reason: &str);
    /// AdminService.StopServer.
    fn stop(&self, reason: &str);
}

pub struct RegionServer {
    pub name: ServerName,
    pub ctx: Arc<RegionContext>,
    pub options: Options,
    pub online: Online,
    pub scanners: Scanners,
    pub stats: Stats,
    pub background: Arc<Background>,
    pub throttles: Arc<Throttles>,
    pub(crate) space: Space,
    /// Of compactions.
    pub(crate) pace: Pace,
    pub(crate) pool: Arc<Pool>,
    pub(crate) cluster: Arc<dyn ClusterView>,
    link: Arc<dyn MasterLink>,
    stopping: AtomicBool,
    /// How often [`RegionServer::run_chores`] has run.
    chore_rounds: AtomicU64,
    log_age: Mutex<log_age::LogAge>,
    started_ms: u64,
}

/// The answer to a method that HBase has and this server has not.
fn refuse(call: Call) {
    let fault = Fault::unsupported(&call.conn.service, &call.method);
    call.responder.fail(fault.into_exception());
}

impl RegionServer {
    pub fn start(
        name: ServerName,
        ctx: Arc<RegionContext>,
        options: Options,
        background: Arc<Background>,
        pool: Arc<Pool>,
        cluster: Arc<dyn ClusterView>,
        link: Arc<dyn MasterLink>,
    ) -> std::io::Result<Arc<RegionServer>> {
        let server = Arc::new(RegionServer {
            scanners: Scanners::new(name.start_code as u64, options.scanner_lease),
            started_ms: ctx.clock.now_ms(),
            throttles: Throttles::new(options.quotas.clone()),
            space: Space::default(),
            pace: Pace::new(options.compaction_bounds),
            name,
            ctx,
            options,
            online: Online::default(),
            stats: Stats::default(),
            background,
            pool,
            cluster,
            link,
            stopping: AtomicBool::new(false),
            chore_rounds: AtomicU64::new(0),
            log_age: Mutex::default(),
        });
        server.background.start(&server)?;
        Ok(server)
    }

    pub fn serves(service: &str) -> bool {
        matches!(service, "ClientService" | "AdminService" | "ClientMetaService" | "BootstrapNodeService")
    }

    /// The methods of a service that are answered; none: it is not one of the services above.
    pub fn methods(service: &str) -> Vec<&'static str> {
        fn names<T>(table: &[(&'static str, T)]) -> Vec<&'static str> {
            table.iter().map(|(name, _)| *name).collect()
        }
        match service {
            "ClientService" => names(client::METHODS),
            "AdminService" => names(admin::METHODS),
            "ClientMetaService" => names(registry::CLIENT_META),
            "BootstrapNodeService" => names(registry::BOOTSTRAP_NODE),
            _ => Vec::new(),
        }
    }

    /// Answers a call of one of the services above; on the network thread.
    pub fn call(self: &Arc<Self>, call: Call) {
        if self.stopping.load(Ordering::Acquire) {
            let fault = Fault::server_stopped(format!("Server {} stopping", self.name));
            return call.responder.fail(fault.into_exception());
        }
        match call.conn.service.as_str() {
            "ClientService" => self.client(call),
            "AdminService" => self.admin(call),
            "ClientMetaService" => self.registry(call, registry::CLIENT_META),
            "BootstrapNodeService" => self.registry(call, registry::BOOTSTRAP_NODE),
            _ => refuse(call),
        }
    }

    /// Whether a call is better taken together with its like, by [`RegionServer::calls`].
    pub fn gathers(call: &Call) -> bool {
        call.conn.service == "ClientService" && *call.method == *client::GET
    }

    /// Takes calls that are gathered, or leaves them to [`RegionServer::call`].
    pub fn calls(self: &Arc<Self>, calls: &mut Vec<Call>) {
        if calls.len() > 1 && !self.is_stopping() {
            self.gets(calls);
        }
    }

    /// What a network thread does between reads: calls whose turns have come go on.
    #[inline]
    pub fn between_reads(&self, now: Instant) {
        self.throttles.look_by_the_way(now);
    }

    /// The threads for what network threads do not do at once.
    #[inline]
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// The region that a request names, be it by a replica's name.
    pub(crate) fn region(&self, specifier: &pb::RegionSpecifier) -> Result<Arc<Region>, Fault> {
        self.readable(specifier).map(|(region, _)| region)
    }

    /// A region to read, and whether the answer counts as stale: a replica was asked.
    pub(crate) fn readable(&self, specifier: &pb::RegionSpecifier) -> Result<(Arc<Region>, bool), Fault> {
        self.readable_named(specifier.r#type, &specifier.value)
    }

    /// The same for the parts of a specifier.
    pub(crate) fn readable_named(&self, kind: i32, name: &[u8]) -> Result<(Arc<Region>, bool), Fault> {
        let named = self.online.find_named(kind, name, &self.name)?;
        Ok((named.region, named.replica_id != 0))
    }

    /// A region to write; replicas are read-only.
    pub(crate) fn writable(&self, specifier: &pb::RegionSpecifier) -> Result<Arc<Region>, Fault> {
        match self.readable(specifier)? {
            (region, false) => Ok(region),
            (_, true) => Err(RegionError::ReadOnly.into()),
        }
    }

    /// Opens a region and serves it. Blocking.
    pub fn open_region(&self, info: &RegionInfo, table: &Arc<TableDescriptor>) -> Result<u64, RegionError> {
        if let Some(open) = self.online.by_encoded(info.encoded_name()) {
            return Ok(open.open_seq_num());
        }
        let region = Region::open(self.ctx.clone(), info.clone(), table.clone())?;
        let seq = region.open_seq_num();
        // First, or the compaction would look for it in vain.
        self.online.insert(region.clone());
        self.compact_if_due(&region);
        if region.stores().iter().any(|(_, store)| store.wants_prefetch()) {
            self.background.want_prefetch(info.encoded_name());
        }
        Ok(seq)
    }

    /// A region with too many files, or with files of a parent that it should get rid of, is compacted.
    fn compact_if_due(&self, region: &Region) {
        if region.needs_compaction() || region.has_references() {
            self.background.want_compaction(background::Job::new(region.info().encoded_name()));
        }
    }

    /// Flushes and closes a region. Blocking; a region that is not here is closed already.
    pub fn close_region(&self, encoded: &str) -> Result<(), RegionError> {
        let Some(region) = self.online.by_encoded(encoded) else { return Ok(()) };
        region.close(false)?;
        self.online.remove(encoded);
        Ok(())
    }

    /// Closes everything: meta last. Blocking.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.throttles.stop();
        self.background.stop();
        let (meta, others): (Vec<_>, Vec<_>) = self.online.all().into_iter().partition(|r| r.info().is_meta());
        for region in others.into_iter().chain(meta) {
            if let Err(e) = region.close(false) {
                tracing::error!(region = %region.info().name_string(), error = %e, "closing failed; the log has its edits");
            }
            self.online.remove(region.info().encoded_name());
        }
    }

    /// The quotas that count from now on, also for calls that wait; `throttling` = whether limits count at all.
    pub fn apply_quotas(&self, settings: Arc<martite_quota::Settings>, throttling: bool) {
        self.throttles.change(settings, throttling);
    }

    /// What tables with a space quota hold; those that hold too much are written no more, as their policy says.
    pub fn apply_space(&self, in_force: Arc<BTreeMap<String, martite_quota::space::Usage>>) {
        self.space.change(in_force);
    }

    /// Tables with a space quota, as the master told of them last.
    pub fn space_usage(&self) -> Arc<BTreeMap<String, martite_quota::space::Usage>> {
        self.space.in_force()
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    pub(crate) fn abort(&self, reason: &str) {
        self.stopping.store(true, Ordering::Release);
        self.link.abort(reason);
    }

    pub(crate) fn abort_if_it_must(&self, error: &RegionError) {
        if error.must_stop() {
            self.abort(&error.to_string());
        }
    }

    /// Refuses writes while all memstores together are over their limit, and asks for flushes before it comes to that.
    pub(crate) fn check_memstore_room(&self, region: &Region) -> Result<(), Fault> {
        let used = self.ctx.memstore_size.load(Ordering::Relaxed);
        if used < self.options.memstore_low_bytes {
            return Ok(());
        }
        self.flush_largest();
        if used < self.options.memstore_limit_bytes || region.info().is_meta() {
            return Ok(());
        }
        Err(Fault::too_busy(format!(
            "Over global memstore limit={}, regionName={}, server={}",
            self.options.memstore_limit_bytes,
            region.info().name_string(),
            self.name
        )))
    }

    /// Rather of a region whose flush would not have to wait, unless another one has more than twice as much.
    fn flush_largest(&self) {
        let all = self.online.all();
        let largest = all.iter().max_by_key(|r| r.memstore_heap_bytes());
        let free = all.iter().filter(|r| !r.has_too_many_files()).max_by_key(|r| r.memstore_heap_bytes());
        let enough = |free: &&Arc<Region>| {
            largest.is_some_and(|largest| largest.memstore_heap_bytes() <= 2 * free.memstore_heap_bytes())
        };
        if let Some(region) = free.filter(enough).or(largest) {
            self.background.want_flush_now(region.info().encoded_name());
        }
    }

    /// The time now, and the longest that a flush waits for a compaction.
    pub(crate) fn flush_times(&self) -> (Duration, Duration) {
        (self.ctx.clock.monotonic(), self.options.blocking_wait)
    }

    pub(crate) fn split_if_wanted(&self, region: &Arc<Region>) {
        if self.online.len() >= self.options.region_split_limit || region.info().table().is_system() {
            return;
        }
        if !region.table().is_split_enabled() {
            return;
        }
        let siblings = self.online.all().iter().filter(|r| r.info().table() == region.info().table()).count();
        if region.needs_split(siblings) {
            self.link.request_split(region.info().encoded_name());
        }
    }

    /// What is done every few seconds.
    pub(crate) fn run_chores(&self) {
        self.scanners.sweep();
        let round = self.chore_rounds.fetch_add(1, Ordering::Relaxed) + 1;
        let looks_for_compactions = round.is_multiple_of(self.options.compaction_check_multiplier);
        let now_ms = self.ctx.clock.now_ms();
        let period = self.ctx.config.periodic_flush_ms;
        for region in self.online.all() {
            let overdue = |s: &martite_store::Store| {
                s.memstore().oldest_edit_ms().is_some_and(|at| now_ms.saturating_sub(at) > period)
            };
            if period > 0 && region.stores().iter().any(|(_, s)| overdue(s)) {
                self.background.want_flush(region.info().encoded_name());
            }
            if looks_for_compactions || region.has_references() {
                self.compact_if_due(&region);
            }
            let due = if looks_for_compactions { region.needs_major_compaction() } else { Vec::new() };
            for family in due {
                let mut job = background::Job::new(region.info().encoded_name());
                job.family = Some(family.to_vec());
                job.major = true;
                self.background.want_compaction(job);
            }
            for (family, store) in region.stores() {
                if let Err(e) = store.archive_compacted(now_ms) {
                    tracing::warn!(family = %family.escape_ascii(), error = %e, "archiving failed; tried again later");
                }
            }
        }
        self.roll_old_log();
        for candidate in self.ctx.wal.flush_candidates() {
            if let Ok(encoded) = std::str::from_utf8(&candidate.region) {
                self.background.want_flush(encoded);
            }
        }
    }

    fn roll_old_log(&self) {
        let (wal, now) = (&self.ctx.wal, self.ctx.clock.monotonic());
        if !self.log_age.lock().is_due(&wal.stats(), now, self.options.log_roll_period) {
            return;
        }
        if let Err(e) = wal.roll() {
            // A log that has failed stops the server by itself.
            tracing::warn!(error = %e, "the log was not rolled after its period");
        }
    }

    /// Client-side back-off reads this in every multi.
    pub(crate) fn load_stats(&self, region: &Region) -> pb::RegionLoadStats {
        let flush_size = self.ctx.config.flush_size_bytes.max(1);
        pb::RegionLoadStats {
            mem_store_load: Some((region.memstore_heap_bytes() * 100 / flush_size).min(100) as i32),
            heap_occupancy: Some(0),
            compaction_pressure: Some(0),
        }
    }

    /// What the master is told every few seconds.
    pub fn server_load(&self) -> pb::ServerLoad {
        let now_ms = self.ctx.clock.now_ms();
        pb::ServerLoad {
            total_number_of_requests: Some(self.stats.requests()),
            number_of_requests: Some(self.stats.requests()),
            used_heap_mb: Some((self.ctx.memstore_size.load(Ordering::Relaxed) >> 20) as u32),
            max_heap_mb: Some((self.options.memstore_limit_bytes >> 20) as u32),
            region_loads: self.online.loads(None),
            report_start_time: Some(self.started_ms),
            report_end_time: Some(now_ms),
            info_server_port: Some(self.options.info_port),
            tasks: self.tasks(),
            ..Default::default()
        }
    }

    /// Flushes a region and starts the compaction that this makes due.
    pub fn flush_region(
        &self,
        region: &Region,
        families: Option<&[Bytes]>,
    ) -> Result<martite_region::FlushOutcome, RegionError> {
        let outcome = region.flush(families, "requested")?;
        if outcome.compaction_needed {
            self.background.want_compaction(background::Job::new(region.info().encoded_name()));
        }
        Ok(outcome)
    }

    /// Waits for a flush to make room, at most until `deadline`.
    pub fn wait_for_memstore_room(&self, deadline: Instant) {
        let left = deadline.saturating_duration_since(Instant::now());
        self.background.wait_for_room(left.min(Duration::from_secs(1)));
    }
}
