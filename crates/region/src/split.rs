//! Split and merge: where a region would be cut, and the files of the regions that follow it.
//!
//! Daughters and merged regions begin with references to their parents' files: nothing is copied. The parents are closed
//! (and so flushed) when the references are written; compactions of the new regions do away with them.

use crate::markers::dir_name;
use crate::open::write_region_info;
use crate::{Region, RegionError, family_options, seq_file};
use bytes::Bytes;
use martite_catalog::{Layout, RegionInfo, TableDescriptor, to_string_binary};
use martite_store::reference::{merge_files, split_files};
use martite_store::{Store, StoreContext};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The policy, by the simple name of its class, whose regions are never split.
const NO_SPLITS: &str = "DisabledRegionSplitPolicy";

impl Region {
    /// Whether files of another region are read here: the region can be split and merged only after a compaction.
    pub fn has_references(&self) -> bool {
        self.stores.iter().any(|(_, store)| store.has_references())
    }

    /// Whether the region can be cut at all, at whatever row: it has no references, and its policy does not forbid it.
    pub fn is_splittable(&self) -> bool {
        !self.info.is_meta() && self.settings.split_policy != NO_SPLITS && !self.has_references()
    }

    /// The row at which the region would be cut: the middle of its largest store, as far as the table lets rows be
    /// parted. None if it cannot be cut now: it has references or no data, or would be cut at its first row.
    pub fn split_point(&self) -> Result<Option<Bytes>, RegionError> {
        if !self.is_splittable() {
            return Ok(None);
        }
        let Some((_, largest)) = self.stores.iter().max_by_key(|(_, store)| store.size_bytes()) else {
            return Ok(None);
        };
        let Some(row) = largest.split_point()? else { return Ok(None) };
        let row = restrict(&self.table, &self.settings.split_policy, row);
        Ok(Some(row).filter(|row| self.can_split_at(row)))
    }

    fn can_split_at(&self, row: &[u8]) -> bool {
        row != self.info.start_key() && !row.is_empty() && self.info.contains_row(row)
    }

    /// Whether the region is larger than a region of its table may be. `regions_of_table`: how many regions of the table
    /// this server has; the first few split early, so that a new table spreads.
    pub fn needs_split(&self, regions_of_table: usize) -> bool {
        if !self.table.is_split_enabled() || !self.is_splittable() {
            return false;
        }
        let limit = self.split_limit(regions_of_table as u64);
        self.stores.iter().any(|(_, store)| store.size_bytes() > limit)
    }

    /// The size at which a store asks for a split.
    fn split_limit(&self, regions: u64) -> u64 {
        let (max, flush) = (self.settings.max_file_size_bytes, self.settings.flush_size_bytes);
        match self.settings.split_policy.as_str() {
            "ConstantSizeRegionSplitPolicy" => max,
            "IncreasingToUpperBoundRegionSplitPolicy" | "BusyRegionSplitPolicy" => match regions {
                0 | 101.. => max,
                n => max.min(flush.saturating_mul(2 * n * n * n)),
            },
            // SteppingSplitPolicy, the default, and those built on it.
            _ if regions == 1 => max.min(2 * flush),
            _ => max,
        }
    }

    /// Checks a split at `row` (or at the split point), and names the daughters, the lower one first.
    pub fn prepare_split(&self, row: Option<Bytes>, now_ms: u64) -> Result<(RegionInfo, RegionInfo), RegionError> {
        let row = match row {
            Some(row) => row,
            None => self.split_point()?.ok_or_else(|| {
                RegionError::DoNotRetry(format!("Region not splittable because bestSplitPoint = null, {self:?}"))
            })?,
        };
        if self.info.is_split_parent() || !self.is_splittable() {
            return Err(RegionError::DoNotRetry(format!("Region {self:?} is not splittable")));
        }
        if !self.can_split_at(&row) {
            return Err(RegionError::DoNotRetry(format!(
                "Split row is not inside region key range or is equal to startkey: {}",
                to_string_binary(&row)
            )));
        }
        // Daughters are younger than their parent, whatever the clock says.
        let id = now_ms.max(self.info.region_id() + 1);
        let table = self.info.table();
        Ok((
            RegionInfo::new(table.clone(), self.info.start_key().clone(), row.clone(), id),
            RegionInfo::new(table.clone(), row, self.info.end_key().clone(), id),
        ))
    }
}

/// The part of a row that a split may cut at, by the table's policy or restriction: a prefix, or all.
fn restrict(table: &TableDescriptor, policy: &str, row: Bytes) -> Bytes {
    let setting = |key: &str| table.setting(key);
    let restriction = setting("hbase.regionserver.region.split_restriction.type").unwrap_or_default();
    let prefix = |key: &str| setting(key).and_then(|v| v.trim().parse::<usize>().ok()).filter(|&n| n > 0);
    let delimiter = |key: &str| setting(key).filter(|d| !d.is_empty()).map(|d| d.as_bytes().to_vec());
    let (length, delimiter) = match (policy, restriction) {
        ("KeyPrefixRegionSplitPolicy", _) => (
            prefix("KeyPrefixRegionSplitPolicy.prefix_length").or(prefix("prefix_split_key_policy.prefix_length")),
            None,
        ),
        ("DelimitedKeyPrefixRegionSplitPolicy", _) => {
            (None, delimiter("DelimitedKeyPrefixRegionSplitPolicy.delimiter"))
        }
        (_, "KeyPrefix") => (prefix("hbase.regionserver.region.split_restriction.prefix_length"), None),
        (_, "DelimitedKeyPrefix") => (None, delimiter("hbase.regionserver.region.split_restriction.delimiter")),
        _ => (None, None),
    };
    let length = length.or_else(|| {
        let delimiter = delimiter?;
        row.windows(delimiter.len()).position(|window| window == delimiter)
    });
    match length {
        Some(length) if length > 0 && length < row.len() => row.slice(..length),
        _ => row,
    }
}

/// Makes the daughters' directories: .regioninfo, references to the files of the closed parent, and its sequence id.
/// Doing it twice is doing it once. `daughters`: the lower one first.
pub fn write_split(
    stores: &Arc<StoreContext>,
    table: &TableDescriptor,
    parent: &RegionInfo,
    daughters: [&RegionInfo; 2],
    now_ms: u64,
) -> Result<(), RegionError> {
    let layout = Layout::new(&stores.root);
    let dirs = daughters.map(|daughter| layout.region_dir(daughter));
    for (daughter, dir) in daughters.iter().zip(&dirs) {
        write_region_info(&*stores.fs, dir, daughter)?;
    }
    let parent_dir = layout.region_dir(parent);
    for family in table.families() {
        let store = open_closed(stores, table, &parent_dir, family, now_ms)?;
        let split_row = daughters[1].start_key();
        split_files(&*stores.fs, &store, parent.encoded_name(), split_row, &dirs[0], &dirs[1])?;
    }
    dirs.iter().try_for_each(|dir| inherit_seq(stores, std::slice::from_ref(&parent_dir), dir))
}

/// Makes the merged region's directory: .regioninfo, references to the files of all its closed parents, and the highest
/// of their sequence ids. Doing it twice is doing it once.
pub fn write_merge(
    stores: &Arc<StoreContext>,
    table: &TableDescriptor,
    parents: &[RegionInfo],
    merged: &RegionInfo,
    now_ms: u64,
) -> Result<(), RegionError> {
    let layout = Layout::new(&stores.root);
    let merged_dir = layout.region_dir(merged);
    write_region_info(&*stores.fs, &merged_dir, merged)?;
    let parent_dirs: Vec<_> = parents.iter().map(|parent| layout.region_dir(parent)).collect();
    for (parent, dir) in parents.iter().zip(&parent_dirs) {
        for family in table.families() {
            let store = open_closed(stores, table, dir, family, now_ms)?;
            merge_files(&*stores.fs, &store, parent.encoded_name(), parent.start_key(), &merged_dir)?;
        }
    }
    inherit_seq(stores, &parent_dirs, &merged_dir)
}

/// The store of a closed region.
pub(crate) fn open_closed(
    stores: &Arc<StoreContext>,
    table: &TableDescriptor,
    region_dir: &Path,
    family: &martite_catalog::FamilyDescriptor,
    now_ms: u64,
) -> Result<Store, RegionError> {
    let options = Arc::new(family_options(family, table)?);
    Ok(Store::open(stores.clone(), region_dir.join(dir_name(family.name())), options, now_ms)?)
}

/// The new region's numbers go on where its parents' ended: cells in the files that it refers to have theirs.
fn inherit_seq(stores: &StoreContext, parents: &[PathBuf], dir: &Path) -> Result<(), RegionError> {
    let mut highest = seq_file::read(&*stores.fs, dir)?.unwrap_or(0);
    for parent in parents {
        highest = highest.max(seq_file::read(&*stores.fs, parent)?.unwrap_or(0));
    }
    seq_file::write(&*stores.fs, dir, highest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_catalog::TableName;

    #[test]
    fn tables_can_keep_prefixes_together() {
        let table = || TableDescriptor::new(TableName::parse("t").unwrap());
        let cut = |table: TableDescriptor, row: &'static [u8]| {
            let policy = table.split_policy().and_then(|class| class.rsplit('.').next()).unwrap_or_default();
            restrict(&table, policy, Bytes::from_static(row))
        };
        assert_eq!(cut(table(), b"user1_x"), &b"user1_x"[..]);
        let by_length = table()
            .with("SPLIT_POLICY", "org.apache.hadoop.hbase.regionserver.KeyPrefixRegionSplitPolicy")
            .with("KeyPrefixRegionSplitPolicy.prefix_length", "4");
        assert_eq!(cut(by_length.clone(), b"user1_x"), &b"user"[..]);
        assert_eq!(cut(by_length, b"us"), &b"us"[..]);
        let by_delimiter = table()
            .with("hbase.regionserver.region.split_restriction.type", "DelimitedKeyPrefix")
            .with("hbase.regionserver.region.split_restriction.delimiter", "_");
        assert_eq!(cut(by_delimiter.clone(), b"user1_x_y"), &b"user1"[..]);
        assert_eq!(cut(by_delimiter, b"plain"), &b"plain"[..]);
    }
}
