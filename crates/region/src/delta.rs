//! Increment and Append: new cells from old ones.
//!
//! | | old value | new value | new timestamp |
//! |---|---|---|---|
//! | Increment | 8 bytes | old + amount, wrapping | max(now, old timestamp + 1) |
//! | Append | any | old, then the appended bytes | the same |
//! | either, no old value | | the mutation's cell as it is | its own, or now |
//!
//! Tags of the mutation's cell and of the old cell are carried on; a time to live of the mutation replaces older ones.
//! The old value is the newest one in the mutation's time range.

use crate::{FamilyColumns, GetSpec, MutationKind, Region, RegionError, append, increment, request::Mutation, ttl};
use bytes::Bytes;
use martite_cell::{CellBuf, CellRef, CellType, LATEST_TIMESTAMP, Order, key};
use martite_hfile::{BlockSource, Step};

impl Region {
    /// The cells that an Increment or Append writes. The caller holds the row's lock.
    pub(crate) fn apply_delta(
        &self,
        m: &Mutation,
        now_ms: u64,
        src: &dyn BlockSource,
    ) -> Result<Step<CellBuf>, RegionError> {
        let mut deltas: Vec<CellRef<'_>> = m.cells.iter().collect();
        deltas.sort_by(|a, b| Order::Default.keys(a.key, b.key));
        let mut old = CellBuf::new(true);
        ready_or_need!(self.get(&self.delta_columns(m, &deltas), src, &mut old));

        let mut out = CellBuf::new(true);
        let mut old_cells = old.iter().peekable();
        for delta in &deltas {
            let before = |c: &CellRef<'_>| key::column(c.key) < key::column(delta.key);
            while old_cells.next_if(|c| before(c)).is_some() {}
            let current = old_cells.peek().filter(|c| key::column(c.key) == key::column(delta.key));
            let cell = new_cell(m, delta, current, now_ms)?;
            self.check_cell_size(&cell.as_ref()).map_err(|(size, limit)| {
                RegionError::DoNotRetry(format!(
                    "Cell with size {size} exceeds limit of {limit} bytes in region {self:?}"
                ))
            })?;
            out.push(&cell.as_ref());
        }
        Ok(Step::Ready(out))
    }

    /// The Get that reads the columns of an Increment or Append.
    fn delta_columns(&self, m: &Mutation, deltas: &[CellRef<'_>]) -> GetSpec {
        let of_family = |deltas: &[CellRef<'_>]| {
            let mut columns: Vec<_> = deltas.iter().map(|delta| Bytes::copy_from_slice(delta.qualifier())).collect();
            columns.dedup();
            let family = deltas.first().map(CellRef::family).unwrap_or_default();
            FamilyColumns { columns: columns.into(), ..FamilyColumns::whole(Bytes::copy_from_slice(family)) }
        };
        let families = deltas.chunk_by(|a, b| a.family() == b.family()).map(of_family).collect();
        GetSpec { families, time_range: m.time_range, ..self.current_row(&m.row) }
    }

    /// What the columns of an Increment or Append hold, for a client that sent it twice.
    pub(crate) fn read_delta_columns(
        &self,
        m: &Mutation,
        src: &dyn BlockSource,
        out: &mut CellBuf,
    ) -> Result<Step<()>, RegionError> {
        let mut deltas: Vec<CellRef<'_>> = m.cells.iter().collect();
        deltas.sort_by(|a, b| Order::Default.keys(a.key, b.key));
        let get = GetSpec { read_point: None, ..self.delta_columns(m, &deltas) };
        ready_or_need!(self.get(&get, src, out));
        Ok(Step::Ready(()))
    }
}

fn new_cell(
    m: &Mutation,
    delta: &CellRef<'_>,
    current: Option<&CellRef<'_>>,
    now_ms: u64,
) -> Result<martite_cell::OwnedCell, RegionError> {
    let value = match m.kind {
        MutationKind::Increment => increment::new_value(delta, current)?,
        _ => append::new_value(delta, current),
    };
    let (timestamp, type_code) = match current {
        Some(old) => (now_ms.max(old.timestamp() + 1), CellType::Put as u8),
        None if delta.timestamp() == LATEST_TIMESTAMP => (now_ms, delta.type_code()),
        None => (delta.timestamp(), delta.type_code()),
    };
    let mut tags = delta.tags.to_vec();
    tags.extend_from_slice(current.map_or(&[], |old| old.tags));
    if let Some(ttl_ms) = m.ttl_ms {
        ttl::set_ttl(&mut tags, ttl_ms);
    }
    let key = key::flat_key(&m.row, delta.family(), delta.qualifier(), timestamp, type_code);
    Ok(martite_cell::OwnedCell::new(&key, &value, &tags, 0))
}
