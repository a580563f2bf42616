//! Checks before a write: is it for this region, is it sound, is there room.

use crate::{MutationKind, Region, RegionError, delete, request::Mutation, ttl};
use martite_catalog::to_string_binary;
use martite_cell::key::MAX_ROW_LENGTH;
use martite_cell::{CellRef, CellType, LATEST_TIMESTAMP};
use std::sync::atomic::Ordering;

impl Region {
    /// Refuses writes to a table that is read only.
    pub(crate) fn check_writable(&self) -> Result<(), RegionError> {
        if self.settings.read_only { Err(RegionError::ReadOnly) } else { Ok(()) }
    }

    /// Refuses rows outside the region. `op` stands in the message.
    pub fn check_row(&self, row: &[u8], op: &str) -> Result<(), RegionError> {
        if self.info.contains_row(row) {
            return Ok(());
        }
        Err(RegionError::WrongRegion(format!(
            "Requested row out of range for {op} on HRegion {self:?}, startKey='{}', getEndKey()='{}', row='{}'",
            to_string_binary(self.info.start_key()),
            to_string_binary(self.info.end_key()),
            to_string_binary(row)
        )))
    }

    /// The index of a family's store.
    pub(crate) fn check_family(&self, family: &[u8]) -> Result<usize, RegionError> {
        self.store_index(family).ok_or_else(|| {
            RegionError::NoSuchFamily(format!(
                "Column family {} does not exist in region {self:?} in table {}",
                to_string_binary(family),
                self.table.name()
            ))
        })
    }

    /// Refuses writes while the memstores are over their limit, and asks for a flush. hbase:meta is never refused.
    pub(crate) fn check_resources(&self) -> Result<(), RegionError> {
        if self.info.is_meta() || self.memstore_heap_bytes() <= self.settings.blocking_size_bytes {
            return Ok(());
        }
        self.counters.blocked_requests.fetch_add(1, Ordering::Relaxed);
        self.want_flush();
        // The limit, not the size: clients group errors by their text.
        Err(RegionError::TooBusy(format!(
            "Over memstore limit={}, regionName={}, server={}",
            human_size(self.settings.blocking_size_bytes),
            self.info.encoded_name(),
            self.ctx.server
        )))
    }

    /// Asks the server for a flush, once until it comes.
    pub(crate) fn want_flush(&self) {
        if !self.flush_wanted.swap(true, Ordering::AcqRel)
            && let Some(events) = &self.ctx.events
        {
            events.flush_wanted(self);
        }
    }

    /// Checks one mutation, spells out a Delete of a whole row, and tags the cells with their time to live.
    /// To be called once per mutation, before locks are taken.
    pub(crate) fn check_mutation(&self, m: &mut Mutation, now_ms: u64) -> Result<(), RegionError> {
        check_row_length(&m.row)?;
        self.check_row(&m.row, "batchMutate")?;
        if m.kind == MutationKind::Delete && m.cells.is_empty() {
            m.cells = delete::whole_row(&m.row, m.delete_row_ts, self.stores.iter().map(|(name, _)| name));
        }
        let mut last_family: &[u8] = &[];
        for (index, cell) in m.cells.iter().enumerate() {
            if index == 0 || cell.family() != last_family {
                self.check_family(cell.family())?;
                last_family = cell.family();
            }
            self.check_cell(m, &cell, now_ms)?;
        }
        if matches!(m.kind, MutationKind::Put | MutationKind::Delete)
            && let Some(ttl_ms) = m.ttl_ms.take()
        {
            m.cells = ttl::with_ttl(&m.cells, ttl_ms);
        }
        Ok(())
    }

    fn check_cell(&self, m: &Mutation, cell: &CellRef<'_>, now_ms: u64) -> Result<(), RegionError> {
        if cell.row() != m.row {
            return Err(RegionError::DoNotRetry(format!(
                "The row in {cell:?} doesn't match the original one {}",
                to_string_binary(&m.row)
            )));
        }
        match CellType::from_code(cell.type_code()) {
            Some(t) if t.is_delete() => {}
            Some(CellType::Put) if m.kind != MutationKind::Delete => {}
            _ => {
                return Err(RegionError::DoNotRetry(format!("{cell:?} has a type that {:?} does not take", m.kind)));
            }
        }
        self.check_cell_size(cell).map_err(|(size, limit)| {
            RegionError::DoNotRetry(format!("Cell[{cell:?}] with size {size} exceeds limit of {limit} bytes"))
        })?;
        let Some(slop) = self.ctx.config.timestamp_slop_ms else { return Ok(()) };
        let ts = cell.timestamp();
        if m.kind == MutationKind::Put && ts != LATEST_TIMESTAMP && ts > now_ms.saturating_add(slop) {
            return Err(RegionError::FailedSanityCheck(format!(
                "Timestamp for KV out of range {cell:?} (too.new={slop})"
            )));
        }
        Ok(())
    }

    /// Size and limit, if the cell is too large.
    pub(crate) fn check_cell_size(&self, cell: &CellRef<'_>) -> Result<(), (u64, u64)> {
        let limit = self.settings.max_cell_size_bytes;
        let tags = if cell.tags.is_empty() { 0 } else { 2 + cell.tags.len() };
        // As HBase measures: with the length before the KeyValue.
        let size = (cell.key_value_len() + tags + 4) as u64;
        if limit > 0 && size > limit { Err((size, limit)) } else { Ok(()) }
    }
}

pub(crate) fn check_row_length(row: &[u8]) -> Result<(), RegionError> {
    match row.len() {
        0 => Err(RegionError::DoNotRetry("Row length is 0".into())),
        len if len > MAX_ROW_LENGTH => Err(RegionError::DoNotRetry(format!("Row length {len} is > {MAX_ROW_LENGTH}"))),
        _ => Ok(()),
    }
}

/// Bytes as HBase's messages have them: `512.0 M`.
fn human_size(bytes: u64) -> String {
    for (shift, unit) in [(40, "T"), (30, "G"), (20, "M"), (10, "K")] {
        if bytes >= 1 << shift {
            return format!("{:.1} {unit}", bytes as f64 / (1u64 << shift) as f64);
        }
    }
    bytes.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_hbases() {
        let sizes = [512 << 20, 1536, 17, 3 << 29, 1 << 40].map(human_size);
        assert_eq!(sizes, ["512.0 M", "1.5 K", "17", "1.5 G", "1.0 T"]);
    }

    #[test]
    fn rows_must_have_a_length_that_a_key_can_hold() {
        assert_eq!(check_row_length(b"").unwrap_err().to_string(), "Row length is 0");
        assert_eq!(check_row_length(&[0; 32768]).unwrap_err().to_string(), "Row length 32768 is > 32767");
        assert!(check_row_length(&[0; 32767]).is_ok());
    }
}
