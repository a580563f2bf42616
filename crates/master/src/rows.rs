//! [`Rows`]: a small table that the master reads whole and changes row by row: hbase:meta, hbase:namespace, its own store.

use crate::{MasterError, RegionHost};
use bytes::Bytes;
use martite_catalog::meta_row::MetaEdit;
use martite_cell::{CellBuf, CellRef, OwnedCell};
use martite_hfile::Step;
use martite_region::{
    FamilyColumns, Mutation, MutationKind, Region, RegionError, ScanEnd, ScanLimits, ScanOutput, ScanSpec, WriteRequest,
};
use std::sync::Arc;

/// How often a write of the master waits for a region that is too busy.
const BUSY_RETRIES: u32 = 100;

/// The cells of one row, in order.
pub(crate) type Row = Vec<OwnedCell>;

pub(crate) trait Rows: Send + Sync {
    /// Applies all edits or none; durable when it returns.
    fn apply(&self, edits: &[MetaEdit]) -> Result<(), MasterError>;
    /// The newest cells of every row, of one family or of all.
    fn scan(&self, family: Option<&[u8]>) -> Result<Vec<Row>, MasterError>;
    /// The highest timestamp of any cell, delete markers included: later edits must be newer, whatever the clock says.
    fn newest_ms(&self) -> Result<u64, MasterError>;
}

/// Rows of a region.
pub(crate) struct RegionRows(pub Arc<Region>);

impl RegionRows {
    /// The newest cells of one row, or with `raw` all that are there, delete markers included.
    pub fn row(&self, row: &[u8], raw: bool) -> Result<Row, MasterError> {
        let at = Bytes::copy_from_slice(row);
        let max_versions = if raw { u32::MAX } else { 1 };
        let spec = ScanSpec {
            start_row: at.clone(),
            stop_row: at,
            include_stop: true,
            raw,
            max_versions,
            ..ScanSpec::default()
        };
        let mut cells = Vec::new();
        for_each_batch(&self.0, spec, |out| cells.extend(out.cells.iter().map(|c| c.to_owned_cell())))?;
        Ok(cells)
    }
}

impl Rows for RegionRows {
    fn apply(&self, edits: &[MetaEdit]) -> Result<(), MasterError> {
        let mut tries = 0;
        loop {
            match apply_once(&self.0, edits) {
                Err(RegionError::TooBusy(_) | RegionError::WouldBlock) if tries < BUSY_RETRIES => {
                    tries += 1;
                    std::thread::yield_now();
                }
                other => return other.map_err(MasterError::from),
            }
        }
    }

    fn scan(&self, family: Option<&[u8]>) -> Result<Vec<Row>, MasterError> {
        let families = family.map(|f| FamilyColumns::whole(f.to_vec())).into_iter().collect();
        let mut rows = Vec::new();
        for_each_batch(&self.0, ScanSpec { families, ..ScanSpec::default() }, |out| {
            let mut cells = out.cells.iter();
            for result in &out.results {
                rows.push(cells.by_ref().take(result.cells).map(|c| c.to_owned_cell()).collect());
            }
        })?;
        Ok(rows)
    }

    fn newest_ms(&self) -> Result<u64, MasterError> {
        let mut newest = 0;
        let everything = ScanSpec { raw: true, max_versions: u32::MAX, ..ScanSpec::default() };
        for_each_batch(&self.0, everything, |out| {
            newest = out.cells.iter().map(|c| c.timestamp()).max().unwrap_or(0).max(newest);
        })?;
        Ok(newest)
    }
}

fn for_each_batch(region: &Arc<Region>, spec: ScanSpec, mut each: impl FnMut(&ScanOutput)) -> Result<(), MasterError> {
    let mut scanner = region.scanner(spec)?;
    let src = region.context().stores.files.blocking();
    let limits = ScanLimits { results: 1000, ..ScanLimits::default() };
    loop {
        let mut out = ScanOutput::new(false);
        let state = loop {
            match scanner.next_batch(&limits, &mut || false, &src, &mut out)? {
                Step::Ready(state) if state.end == ScanEnd::Paused => {}
                Step::Ready(state) => break state,
                Step::Need(_) => return Err(MasterError::io("a blocking read asked for a block")),
            }
        };
        each(&out);
        if !state.more_in_region {
            return Ok(());
        }
    }
}

fn apply_once(region: &Arc<Region>, edits: &[MetaEdit]) -> Result<(), RegionError> {
    let mutations: Vec<Mutation> = edits.iter().flat_map(mutations).collect();
    if mutations.is_empty() {
        return Ok(());
    }
    let mut request = WriteRequest::atomic(mutations, None, 0);
    let src = region.context().stores.files.blocking();
    match region.write(&mut request, &src)? {
        Step::Ready(written) => written.pending.wait(),
        Step::Need(_) => Err(RegionError::Io("a blocking write asked for a block".into())),
    }
}

/// One edit as a Put and a Delete of its row.
fn mutations(edit: &MetaEdit) -> Vec<Mutation> {
    let of = |kind, deletes: bool| {
        let mut cells = CellBuf::new(false);
        for cell in edit.cells().iter().map(OwnedCell::as_ref).filter(|c| c.is_delete() == deletes) {
            cells.push(&cell);
        }
        (!cells.is_empty()).then(|| Mutation::new(kind, edit.row().clone(), cells))
    };
    [of(MutationKind::Delete, true), of(MutationKind::Put, false)].into_iter().flatten().collect()
}

/// Rows of a table of one region, wherever it is open now.
pub(crate) struct HostRows {
    pub host: Arc<dyn RegionHost>,
    pub encoded: String,
}

impl HostRows {
    /// As [`RegionRows::row`].
    pub fn row(&self, row: &[u8], raw: bool) -> Result<Row, MasterError> {
        self.region()?.row(row, raw)
    }

    fn region(&self) -> Result<RegionRows, MasterError> {
        let region = self.host.region(&self.encoded);
        region.map(RegionRows).ok_or_else(|| MasterError::io(format!("region {} is not open", self.encoded)))
    }
}

impl Rows for HostRows {
    fn apply(&self, edits: &[MetaEdit]) -> Result<(), MasterError> {
        self.region()?.apply(edits)
    }
    fn scan(&self, family: Option<&[u8]>) -> Result<Vec<Row>, MasterError> {
        self.region()?.scan(family)
    }
    fn newest_ms(&self) -> Result<u64, MasterError> {
        self.region()?.newest_ms()
    }
}

/// The newest value of a column in a row.
pub(crate) fn value<'a>(row: &'a Row, family: &[u8], qualifier: &[u8]) -> Option<&'a [u8]> {
    row.iter()
        .map(OwnedCell::as_ref)
        .find(|c| c.family() == family && c.qualifier() == qualifier)
        .map(|c: CellRef<'a>| c.value)
}
