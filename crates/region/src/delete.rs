//! Delete: what its markers' timestamps mean.
//!
//! A marker for one version with the timestamp "latest" deletes the newest version that there is: its timestamp is read
//! under the row lock. The n-th such marker of a column in one Delete takes the n-th newest version. All other markers
//! with "latest" take the time of the write.

use crate::{FamilyColumns, GetSpec, Region, RegionError, request::Mutation};
use bytes::Bytes;
use martite_cell::{CellBuf, CellRef, CellType, LATEST_TIMESTAMP, key};
use martite_hfile::{BlockSource, Step};

/// The markers that delete every family of a row.
pub(crate) fn whole_row<'a>(row: &[u8], ts: u64, families: impl Iterator<Item = &'a Bytes>) -> CellBuf {
    let mut cells = CellBuf::new(true);
    for family in families {
        let key = key::flat_key(row, family, &[], ts, CellType::DeleteFamily as u8);
        cells.push(&CellRef { key: &key, value: &[], tags: &[], seq_id: 0 });
    }
    cells
}

/// A cell of a mutation and the timestamp that it gets.
pub(crate) type Stamp = (usize, u64);

impl Region {
    /// The timestamps of a Delete's markers that must be read. The caller holds the row's lock.
    pub(crate) fn read_delete_stamps(
        &self,
        m: &Mutation,
        now_ms: u64,
        src: &dyn BlockSource,
    ) -> Result<Step<Vec<Stamp>>, RegionError> {
        let mut stamps = Vec::new();
        for (index, cell) in m.cells.iter().enumerate() {
            if cell.type_code() != CellType::Delete as u8 || cell.timestamp() != LATEST_TIMESTAMP {
                continue;
            }
            let same = |c: &CellRef<'_>| {
                c.type_code() == CellType::Delete as u8
                    && c.timestamp() == LATEST_TIMESTAMP
                    && key::column(c.key) == key::column(cell.key)
            };
            let nth = m.cells.iter().take(index + 1).filter(same).count();
            let get = GetSpec {
                families: [FamilyColumns {
                    columns: [Bytes::copy_from_slice(cell.qualifier())].into(),
                    ..FamilyColumns::whole(Bytes::copy_from_slice(cell.family()))
                }]
                .into(),
                max_versions: nth as u32,
                ..self.current_row(&m.row)
            };
            let mut versions = CellBuf::new(false);
            ready_or_need!(self.get(&get, src, &mut versions));
            stamps.push((index, versions.get(nth - 1).map_or(now_ms, |old| old.timestamp())));
        }
        Ok(Step::Ready(stamps))
    }
}
