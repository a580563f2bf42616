//! What a family's descriptor means for its store.

use crate::RegionError;
use martite_catalog::{FamilyDescriptor, KeepDeletedCells, TableDescriptor};
use martite_hfile::{BloomType, Compression, Encoding};
use martite_store::{FamilyOptions, FileTracker, KeepDeleted, StoreOverrides};

/// The store's options of a family. An attribute that this build cannot honour is an error that names it.
pub fn family_options(family: &FamilyDescriptor, table: &TableDescriptor) -> Result<FamilyOptions, RegionError> {
    if let Some(encryption) = family.encryption() {
        return Err(unknown(family, "ENCRYPTION", encryption));
    }
    Ok(FamilyOptions {
        name: family.name().clone(),
        max_versions: family.max_versions().max(1),
        min_versions: family.min_versions(),
        ttl_ms: family.ttl_ms(),
        keep_deleted: match family.keep_deleted_cells() {
            KeepDeletedCells::False => KeepDeleted::False,
            KeepDeletedCells::True => KeepDeleted::True,
            KeepDeletedCells::Ttl => KeepDeleted::Ttl,
        },
        new_version_behavior: family.is_new_version_behavior(),
        order: table.order(),
        bloom: bloom(family)?,
        block_size: family.block_size_bytes() as usize,
        compression: algorithm(family, "COMPRESSION", &family.compression())?,
        compression_major: algorithm(family, "COMPRESSION_COMPACT_MAJOR", &family.compaction_compression(true))?,
        compression_minor: algorithm(family, "COMPRESSION_COMPACT", &family.compaction_compression(false))?,
        encoding: encoding(family)?,
        compress_tags: family.is_compress_tags(),
        cache_data: family.is_block_cache(),
        in_memory: family.is_in_memory(),
        cache_data_on_write: family.is_cache_data_on_write(),
        prefetch_on_open: family.is_prefetch_blocks_on_open(),
        time_to_purge_deletes_ms: setting(family, table, "hbase.hstore.time.to.purge.deletes").unwrap_or(0),
        delete_expired_files: setting(family, table, "hbase.store.delete.expired.storefile").unwrap_or(true),
        tracker: tracker(family, table)?,
        overrides: overrides(family, table),
    })
}

fn tracker(family: &FamilyDescriptor, table: &TableDescriptor) -> Result<FileTracker, RegionError> {
    use martite_catalog::file_tracker::{FileTracker::*, TrackerKind, of_family};
    let tracker = of_family(table, family).map_err(RegionError::DoNotRetry)?;
    Ok(match tracker {
        Plain(TrackerKind::Default) => FileTracker::Directory,
        Plain(TrackerKind::File) => FileTracker::List,
        Migration { to: TrackerKind::File, .. } => FileTracker::ToList,
        Migration { to: TrackerKind::Default, .. } => FileTracker::ToDirectory,
    })
}

/// Keys of the configuration that the table or the family sets for itself, the family's before the table's.
fn overrides(family: &FamilyDescriptor, table: &TableDescriptor) -> StoreOverrides {
    StoreOverrides {
        flush_size_bytes: table.memstore_flush_size_bytes().filter(|&n| n > 0),
        blocking_files: setting(family, table, "hbase.hstore.blockingStoreFiles"),
        min_files: setting(family, table, "hbase.hstore.compaction.min"),
        max_files: setting(family, table, "hbase.hstore.compaction.max"),
        min_size_bytes: setting(family, table, "hbase.hstore.compaction.min.size"),
        max_size_bytes: setting(family, table, "hbase.hstore.compaction.max.size"),
        max_size_off_peak_bytes: setting(family, table, "hbase.hstore.compaction.max.size.offpeak"),
        ratio: setting(family, table, "hbase.hstore.compaction.ratio"),
        ratio_off_peak: setting(family, table, "hbase.hstore.compaction.ratio.offpeak"),
        major_period_ms: setting(family, table, "hbase.hregion.majorcompaction"),
        major_jitter: setting(family, table, "hbase.hregion.majorcompaction.jitter"),
        index_block_bytes: setting(family, table, "hfile.index.block.max.size").filter(|&n| n > 0),
        bloom_block_bytes: setting(family, table, "io.storefile.bloom.block.size").filter(|&n| n > 0),
    }
}

fn setting<T: std::str::FromStr>(family: &FamilyDescriptor, table: &TableDescriptor, key: &str) -> Option<T> {
    family.setting(key).or_else(|| table.setting(key))?.trim().parse().ok()
}

fn algorithm(family: &FamilyDescriptor, key: &str, name: &str) -> Result<Compression, RegionError> {
    Compression::from_name(name).filter(|a| a.supported()).ok_or_else(|| unknown(family, key, name))
}

fn bloom(family: &FamilyDescriptor) -> Result<BloomType, RegionError> {
    let name = family.bloom_filter();
    Ok(match name.as_str() {
        "NONE" => BloomType::None,
        "ROW" => BloomType::Row,
        "ROWCOL" => BloomType::RowCol,
        "ROWPREFIX_FIXED_LENGTH" => BloomType::RowPrefix(
            family
                .bloom_prefix_length()
                .filter(|&n| n > 0)
                .ok_or_else(|| unknown(family, "RowPrefixBloomFilter.prefix_length", "absent"))?,
        ),
        _ => return Err(unknown(family, "BLOOMFILTER", &name)),
    })
}

fn encoding(family: &FamilyDescriptor) -> Result<Encoding, RegionError> {
    let name = family.data_block_encoding();
    Ok(match name.as_str() {
        "NONE" => Encoding::None,
        "PREFIX" => Encoding::Prefix,
        "DIFF" => Encoding::Diff,
        "FAST_DIFF" => Encoding::FastDiff,
        "ROW_INDEX_V1" => Encoding::RowIndexV1,
        _ => return Err(unknown(family, "DATA_BLOCK_ENCODING", &name)),
    })
}

fn unknown(family: &FamilyDescriptor, key: &str, value: &str) -> RegionError {
    RegionError::DoNotRetry(format!("Column family {}: {key} '{value}' is not supported", family.name_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_catalog::TableName;

    #[test]
    fn attributes_become_options_and_unknown_ones_are_named() {
        let table =
            TableDescriptor::new(TableName::parse("t").unwrap()).with("hbase.store.delete.expired.storefile", "false");
        let family = FamilyDescriptor::new("f")
            .with("VERSIONS", "3")
            .with("TTL", "7")
            .with("KEEP_DELETED_CELLS", "TTL")
            .with("BLOOMFILTER", "ROWPREFIX_FIXED_LENGTH")
            .with("RowPrefixBloomFilter.prefix_length", "4");
        let options = family_options(&family, &table).unwrap();
        assert_eq!((options.max_versions, options.ttl_ms, options.keep_deleted), (3, Some(7000), KeepDeleted::Ttl));
        assert_eq!((options.bloom, options.delete_expired_files), (BloomType::RowPrefix(4), false));
        let table = table.with("hbase.hstore.compaction.min", "5").with("hbase.hstore.blockingStoreFiles", "7");
        let options = family_options(&family.clone().with("hbase.hstore.compaction.min", "2"), &table).unwrap();
        assert_eq!((options.overrides.min_files, options.overrides.blocking_files), (Some(2), Some(7)));
        let error = family_options(&family.with("COMPRESSION", "RAR"), &table).unwrap_err();
        assert_eq!(error.to_string(), "Column family f: COMPRESSION 'RAR' is not supported");
    }
}
