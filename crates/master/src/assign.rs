//! Opening and closing regions, and saying so in hbase:meta.

use crate::MasterError;
use crate::services::Services;
use martite_catalog::meta_row::{MetaEdit, SEQNUM};
use martite_catalog::system::REPLICATION_BARRIER_FAMILY;
use martite_catalog::{RegionInfo, RegionState, TableDescriptor, TableState};
use parking_lot::Mutex;
use std::sync::Arc;

/// Rows that one write to hbase:meta changes at most.
const META_BATCH: usize = 500;

impl Services {
    /// Opens regions and writes where they are. Tries all; the first failure is the answer.
    pub fn open_regions(&self, regions: &[RegionInfo]) -> Result<(), MasterError> {
        let outcomes = self.for_each(regions, |info| {
            let table = self.catalog.existing(info.table())?.descriptor;
            let opened = self.host.open_region(info, &table).map_err(MasterError::io);
            Ok((table, opened?))
        });
        let server = self.host.server_name();
        let now = self.now_ms();
        let mut failure = None;
        let mut opened: Vec<(&RegionInfo, Arc<TableDescriptor>, u64)> = Vec::new();
        for (info, outcome) in regions.iter().zip(outcomes) {
            match outcome {
                Ok((table, seq)) => opened.push((info, table, seq)),
                Err(e) => {
                    tracing::warn!(region = %info, error = %e.message, "a region did not open");
                    self.catalog.update_region(info.encoded_name(), |r| r.state = RegionState::FailedOpen);
                    failure.get_or_insert(e);
                }
            }
        }
        for batch in opened.chunks(META_BATCH) {
            let edits: Vec<MetaEdit> =
                batch.iter().map(|(info, table, seq)| self.open_row(info, table, *seq, now)).collect();
            self.meta.apply(&edits)?;
            for (info, _, seq) in batch {
                self.catalog.update_region(info.encoded_name(), |r| {
                    r.state = RegionState::Open;
                    r.server = Some(server.clone());
                    r.open_seq_num = *seq as i64;
                    r.since_ms = now;
                });
            }
        }
        failure.map_or(Ok(()), Err)
    }

    fn open_row(&self, info: &RegionInfo, table: &TableDescriptor, seq: u64, now_ms: u64) -> MetaEdit {
        let server = self.host.server_name();
        // Replicas are other names of the same open region.
        let edit = (0..table.region_replication().max(1)).fold(
            MetaEdit::region(info, now_ms).region_info(info),
            |edit, replica| {
                edit.state(RegionState::Open, replica).target(&server, replica).location(&server, seq, replica)
            },
        );
        // Serial replication orders a region's edits by these barriers.
        let replicated = table.families().any(|f| f.replication_scope() != 0);
        if replicated { edit.cell(REPLICATION_BARRIER_FAMILY, SEQNUM.as_bytes(), &seq.to_be_bytes()) } else { edit }
    }

    /// Closes regions and writes that they are. Tries all; the first failure is the answer.
    pub fn close_regions(&self, regions: &[RegionInfo]) -> Result<(), MasterError> {
        let outcomes =
            self.for_each(regions, |info| self.host.close_region(info.encoded_name()).map_err(MasterError::io));
        let now = self.now_ms();
        let mut failure = None;
        let mut closed: Vec<&RegionInfo> = Vec::new();
        for (info, outcome) in regions.iter().zip(outcomes) {
            match outcome {
                Ok(()) => closed.push(info),
                Err(e) => {
                    failure.get_or_insert(e);
                }
            }
        }
        for batch in closed.chunks(META_BATCH) {
            let row = |info: &&RegionInfo| self.closed_row(info, now);
            self.meta.apply(&batch.iter().map(row).collect::<Vec<_>>())?;
            for info in batch {
                self.catalog.update_region(info.encoded_name(), |r| {
                    r.state = RegionState::Closed;
                    r.since_ms = now;
                });
            }
        }
        failure.map_or(Ok(()), Err)
    }

    fn closed_row(&self, info: &RegionInfo, now_ms: u64) -> MetaEdit {
        let replicas = self.catalog.table(info.table()).map_or(1, |t| t.descriptor.region_replication());
        let edit = MetaEdit::region(info, now_ms).region_info(info);
        (0..replicas.max(1)).fold(edit, |edit, replica| edit.state(RegionState::Closed, replica))
    }

    /// Closes and opens regions again, one after the other, so that they read a new descriptor.
    pub fn reopen_regions(&self, regions: &[RegionInfo]) -> Result<(), MasterError> {
        for region in regions {
            self.close_regions(std::slice::from_ref(region))?;
            self.open_regions(std::slice::from_ref(region))?;
        }
        Ok(())
    }

    /// Regions that should be open and are not.
    pub fn unassigned(&self, skip: impl Fn(&RegionInfo) -> bool) -> Vec<RegionInfo> {
        let serving = |info: &RegionInfo| {
            let state = self.catalog.table(info.table()).map(|t| t.state);
            matches!(state, Some(TableState::Enabled | TableState::Enabling))
        };
        let all = self.catalog.all_regions().into_iter();
        all.filter(|r| r.is_live() && !r.info.is_meta() && serving(&r.info))
            .filter(|r| !skip(&r.info) && self.host.region(r.info.encoded_name()).is_none())
            .map(|r| r.info)
            .collect()
    }

    /// Does something for each region, several at once; the outcomes are in the regions' order.
    fn for_each<T: Send>(
        &self,
        regions: &[RegionInfo],
        work: impl Fn(&RegionInfo) -> Result<T, MasterError> + Sync,
    ) -> Vec<Result<T, MasterError>> {
        let threads = self.parallel.min(regions.len());
        if threads <= 1 {
            return regions.iter().map(work).collect();
        }
        let next = std::sync::atomic::AtomicUsize::new(0);
        let outcomes: Mutex<Vec<Option<Result<T, MasterError>>>> = Mutex::new(regions.iter().map(|_| None).collect());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some(region) = regions.get(at) else { return };
                        let outcome = work(region);
                        outcomes.lock()[at] = Some(outcome);
                    }
                });
            }
        });
        let missing = || Err(MasterError::io("a thread that opens or closes regions ended early"));
        outcomes.into_inner().into_iter().map(|o| o.unwrap_or_else(missing)).collect()
    }
}
