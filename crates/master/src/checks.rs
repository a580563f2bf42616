//! Whether a descriptor makes sense (HBase 2.6: TableDescriptorChecker), and whether a namespace has room.

use crate::services::Services;
use crate::{MasterError, class, quotas};
use martite_catalog::coprocessor::CoprocessorSpec;
use martite_catalog::{FamilyDescriptor, NamespaceDescriptor, RegionInfo, TableDescriptor, TableName, family};
use martite_compress::Algorithm;
use martite_config::{Config, keys};

/// Coprocessors that are built in.
const BUILT_IN: [&str; 2] = [
    "org.apache.hadoop.hbase.coprocessor.AggregateImplementation",
    "org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint",
];
const SPLIT_POLICIES: [&str; 8] = [
    "BusyRegionSplitPolicy",
    "ConstantSizeRegionSplitPolicy",
    "DelimitedKeyPrefixRegionSplitPolicy",
    "DisabledRegionSplitPolicy",
    "IncreasingToUpperBoundRegionSplitPolicy",
    "KeyPrefixRegionSplitPolicy",
    "SteppingAllStoresSizeSplitPolicy",
    "SteppingSplitPolicy",
];
const SERVER_PACKAGE: &str = "org.apache.hadoop.hbase.regionserver.";
const FIFO: &str = "org.apache.hadoop.hbase.regionserver.compactions.FIFOCompactionPolicy";
const DATE_TIERED: &str = "org.apache.hadoop.hbase.regionserver.DateTieredStoreEngine";
const MAX_REGION_REPLICATION: i32 = 0x10000;

type Check = Result<(), String>;

/// Refuses a descriptor that makes no sense, in HBase's words. `hbase.table.sanity.checks` = false, in the configuration
/// or the table, lets most pass with a warning.
pub(crate) fn table(config: &Config, table: &TableDescriptor) -> Result<(), MasterError> {
    let strict = config.get_for(keys::SANITY_CHECKS, |key| table.setting(key));
    let judge = |check: Check, strict: bool| match check {
        Ok(()) => Ok(()),
        Err(text) if strict => Err(MasterError::do_not_retry(format!(
            "{text} Set hbase.table.sanity.checks to false at conf or table descriptor if you want to bypass sanity checks"
        ))),
        Err(text) => {
            tracing::warn!(table = %table.name(), text, "a check of the table's descriptor failed");
            Ok(())
        }
    };
    // What this server cannot read or has not built in is refused in any case.
    table.check()?;
    judge(coprocessors(table), true)?;
    judge(sizes(config, table), strict)?;
    judge(split_policy(config, table), strict)?;
    if config.get_for(keys::CHECK_COMPRESSION, |key| table.setting(key)) {
        judge(compression(table), strict)?;
    }
    if config.get_for(keys::CHECK_ENCRYPTION, |key| table.setting(key)) {
        judge(encryption(table), strict)?;
    }
    judge(fifo_compaction(config, table), true)?;
    judge(data_tiering(table), true)?;
    judge(counts(table), strict)?;
    for family in table.families() {
        judge(one_family(family), strict)?;
    }
    if table.region_replication() > MAX_REGION_REPLICATION {
        let text = format!("Region Replication cannot exceed {MAX_REGION_REPLICATION}.");
        return Err(MasterError::do_not_retry(format!("java.lang.IllegalArgumentException: {text}")));
    }
    Ok(())
}

fn sizes(config: &Config, table: &TableDescriptor) -> Check {
    let set = |key: martite_config::Key<martite_config::Size>, floor: u64| {
        if config.is_set(key) { config.get(key) } else { floor }
    };
    let floor = config.get(keys::MIN_MAX_FILE_SIZE);
    let max_file_size = match table.attributes.parsed::<i64>("MAX_FILESIZE") {
        Some(size) => size,
        None => set(keys::MAX_FILE_SIZE, floor) as i64,
    };
    if max_file_size < floor as i64 {
        return Err(format!(
            "MAX_FILESIZE for table descriptor or \"hbase.hregion.max.filesize\" ({max_file_size}) is too small, which \
             might cause over splitting into unmanageable number of regions."
        ));
    }
    let floor = config.get(keys::MIN_FLUSH_SIZE);
    let flush_size = match table.attributes.parsed::<i64>("MEMSTORE_FLUSHSIZE") {
        Some(size) => size,
        None => set(keys::MEMSTORE_FLUSH_SIZE, floor) as i64,
    };
    if flush_size < floor as i64 {
        return Err(format!(
            "MEMSTORE_FLUSHSIZE for table descriptor or \"hbase.hregion.memstore.flush.size\" ({flush_size}) is too \
             small, which might cause very frequent flushing."
        ));
    }
    Ok(())
}

fn split_policy(config: &Config, table: &TableDescriptor) -> Check {
    let configured = config.get(keys::SPLIT_POLICY);
    let class = table.split_policy().unwrap_or(&configured);
    let known = class.strip_prefix(SERVER_PACKAGE).is_some_and(|simple| SPLIT_POLICIES.contains(&simple));
    if known {
        return Ok(());
    }
    Err(format!("Unable to load configured region split policy '{class}' for table '{}'", table.name()))
}

/// Whether a coprocessor's class is one of those that are built in.
pub fn is_built_in(class: &str) -> bool {
    BUILT_IN.contains(&class)
}

/// Coprocessors of a table that is there already, from before it was ours, which cannot be run.
pub(crate) fn foreign_coprocessors(table: &TableDescriptor) -> Vec<String> {
    let specs = table.coprocessors().into_iter().filter_map(|(.., spec)| spec);
    specs.map(|spec| spec.class).filter(|class| !is_built_in(class)).collect()
}

fn coprocessors(table: &TableDescriptor) -> Check {
    for (key, text, spec) in table.coprocessors() {
        let Some(CoprocessorSpec { path, class, priority, .. }) = spec else {
            return Err(format!("{key} is {text}, which is no coprocessor specification"));
        };
        if priority < 0 {
            return Err(format!("Priority for coprocessor {class} cannot be less than 0"));
        }
        if path.is_some() || !is_built_in(&class) {
            return Err(format!("Class {class} cannot be loaded"));
        }
    }
    Ok(())
}

fn compression(table: &TableDescriptor) -> Check {
    for family in table.families() {
        for name in [family.compression(), family.compaction_compression(true), family.compaction_compression(false)] {
            if !Algorithm::from_name(&name).is_some_and(Algorithm::supported) {
                return Err(format!("Compression algorithm '{}' previously failed test.", name.to_lowercase()));
            }
        }
    }
    Ok(())
}

fn encryption(table: &TableDescriptor) -> Check {
    match table.families().find_map(FamilyDescriptor::encryption) {
        Some(cipher) => Err(format!("Cipher {cipher} is not supported by this server")),
        None => Ok(()),
    }
}

fn fifo_compaction(config: &Config, table: &TableDescriptor) -> Check {
    for family in table.families() {
        let setting = |key: &str| family.configuration.get(key).map(String::as_str).or_else(|| table.setting(key));
        if config.get_for(keys::COMPACTION_POLICY, setting) != FIFO {
            continue;
        }
        if family.ttl_s() == family::FOREVER_S {
            return Err("Default TTL is not supported for FIFO compaction".into());
        }
        if family.min_versions() > 0 {
            return Err("MIN_VERSION > 0 is not supported for FIFO compaction".into());
        }
        let files = config.get_for(keys::BLOCKING_STORE_FILES, setting);
        if files < 1000 {
            return Err(format!(
                "Blocking file count '{}' {files} is below recommended minimum of 1000 for column family {}",
                keys::BLOCKING_STORE_FILES.name(),
                family.name_string()
            ));
        }
    }
    Ok(())
}

/// Tiers by age need files by age. For the table alone, and for each family.
fn data_tiering(table: &TableDescriptor) -> Check {
    let levels = std::iter::once(None).chain(table.families().map(Some));
    for family in levels {
        let setting = |key: &str| family.and_then(|f| f.setting(key)).or_else(|| table.setting(key));
        let by_age = setting("hbase.hstore.datatiering.type") == Some("TIME_RANGE");
        if by_age && setting("hbase.hstore.engine.class") != Some(DATE_TIERED) {
            return Err("Time Range Data Tiering should be enabled with Date Tiered Compaction.".into());
        }
    }
    Ok(())
}

fn counts(table: &TableDescriptor) -> Check {
    if table.family_count() == 0 {
        return Err("Table should have at least one column family.".into());
    }
    if table.region_replication() < 1 {
        return Err("Table region replication should be at least one.".into());
    }
    if let Some(family) = table.families().find(|f| !(0..=1).contains(&f.replication_scope())) {
        return Err(format!(
            "Replication scope for column family {} is {} which is invalid.",
            family.name_string(),
            family.replication_scope()
        ));
    }
    Ok(())
}

fn one_family(family: &FamilyDescriptor) -> Check {
    let name = family.name_string();
    if family.bloom_filter() == "ROWPREFIX_FIXED_LENGTH" {
        match family.bloom_prefix_length() {
            Some(length) if (1..=32767).contains(&length) => {}
            _ => return Err("Failed to get bloom filter param".into()),
        }
    }
    let min_versions: i64 = family.attributes.parsed("MIN_VERSIONS").unwrap_or(0);
    let max_versions: i64 = family.attributes.parsed("VERSIONS").unwrap_or(1);
    if family.ttl_s() <= 0 {
        return Err(format!("TTL for column family {name} must be positive."));
    }
    let block_size: i64 = family.attributes.parsed("BLOCKSIZE").unwrap_or(65536);
    if !(1024..=16 << 20).contains(&block_size) {
        return Err(format!("Block size for column family {name}  must be between 1K and 16MB."));
    }
    if min_versions < 0 {
        return Err(format!("Min versions for column family {name}  must be positive."));
    }
    if max_versions <= 0 {
        return Err("Maximum versions must be positive".into());
    }
    if min_versions > max_versions {
        return Err(format!("Min versions for column family {name} must be less than the Max versions."));
    }
    if family.dfs_replication() < 0 {
        return Err(format!("HFile Replication for column family {name}  must be greater than zero."));
    }
    Ok(())
}

/// A limit of a namespace; None: no limit.
fn limit(namespace: &NamespaceDescriptor, key: &str, what: &str) -> Result<Option<i64>, MasterError> {
    let Some(text) = namespace.configuration.get(key) else { return Ok(None) };
    let bad = |_| MasterError::do_not_retry(format!("NumberFormatException while getting max {what}."));
    text.trim().parse().map(Some).map_err(bad)
}

/// Refuses limits that leave no room at all.
pub(crate) fn namespace_limits(namespace: &NamespaceDescriptor) -> Result<(), MasterError> {
    for (key, what, text) in
        [(NamespaceDescriptor::MAX_REGIONS, "regions", "region"), (NamespaceDescriptor::MAX_TABLES, "tables", "tables")]
    {
        if limit(namespace, key, what)?.is_some_and(|limit| limit <= 0) {
            return Err(MasterError::new(
                class::CONSTRAINT,
                format!("The max {text} quota for {} is less than or equal to zero.", namespace.name()),
            ));
        }
    }
    Ok(())
}

/// Refuses a new table of `regions` regions that its namespace has no room for.
pub(crate) fn namespace_quota(services: &Services, table: &TableName, regions: usize) -> Result<(), MasterError> {
    if !quotas::are_enabled(services) {
        return Ok(());
    }
    let namespace = services.namespaces.existing(table.namespace())?;
    let exceeded = |text: String| Err(MasterError::new(class::QUOTA_EXCEEDED, text));
    let tables: Vec<TableName> = services.catalog.tables().iter().map(|t| t.name().clone()).collect();
    let tables: Vec<&TableName> = tables.iter().filter(|t| t.namespace() == namespace.name()).collect();
    if let Some(limit) = limit(&namespace, NamespaceDescriptor::MAX_TABLES, "tables")?
        && tables.len() as i64 >= limit
    {
        return exceeded(format!(
            "The table {table} cannot be created as it would exceed maximum number of tables allowed  in the \
             namespace.  The total number of tables permitted is {limit}"
        ));
    }
    namespace_regions(services, table, regions)
}

/// Refuses so many more regions of a table if its namespace may not have them.
pub(crate) fn namespace_regions(services: &Services, table: &TableName, more: usize) -> Result<(), MasterError> {
    if !quotas::are_enabled(services) || more == 0 {
        return Ok(());
    }
    let namespace = services.namespaces.existing(table.namespace())?;
    let Some(limit) = limit(&namespace, NamespaceDescriptor::MAX_REGIONS, "regions")? else { return Ok(()) };
    let tables = services.catalog.tables();
    let tables = tables.iter().map(|t| t.name()).filter(|t| t.namespace() == namespace.name());
    let count: usize = tables.map(|t| services.catalog.live_regions(t).len()).sum();
    if (count + more) as i64 > limit {
        let text = format!(
            "The table {table} is not allowed to have {more} regions. The total number of regions permitted is only \
             {limit}, while current region count is {count}. This may be transient, please retry later if there are any \
             ongoing split operations in the namespace."
        );
        return Err(MasterError::new(class::QUOTA_EXCEEDED, text));
    }
    Ok(())
}

/// Refuses a split that gives a namespace more regions than it may have.
pub(crate) fn namespace_split(services: &Services, region: &RegionInfo) -> Result<(), MasterError> {
    let table = region.table();
    if !quotas::are_enabled(services) || table.is_system() {
        return Ok(());
    }
    let namespace = services.namespaces.existing(table.namespace())?;
    let Some(limit) = limit(&namespace, NamespaceDescriptor::MAX_REGIONS, "regions")? else { return Ok(()) };
    let tables = services.catalog.tables();
    let tables = tables.iter().map(|t| t.name()).filter(|t| t.namespace() == namespace.name());
    let count: usize = tables.map(|t| services.catalog.live_regions(t).len()).sum();
    if count as i64 >= limit {
        let name = region.encoded_name();
        let text = format!("Region split not possible for :{name} as quota limits are exceeded ");
        return Err(MasterError::new(class::QUOTA_EXCEEDED, text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(change: impl Fn(TableDescriptor) -> TableDescriptor) -> String {
        let plain = TableDescriptor::new(TableName::parse("t").unwrap()).with_family(FamilyDescriptor::new("f"));
        match table(&Config::default(), &change(plain)) {
            Ok(()) => "ok".into(),
            Err(e) => e.message.trim_end_matches(
                " Set hbase.table.sanity.checks to false at conf or table descriptor if you want to bypass sanity checks",
            ).into(),
        }
    }

    fn family(key: &str, value: &str) -> String {
        text(|t| t.with_family(FamilyDescriptor::new("f").with(key, value)))
    }

    #[test]
    fn senseless_descriptors_are_refused_in_hbases_words() {
        assert_eq!(text(|t| t), "ok");
        assert!(
            text(|t| t.with("MAX_FILESIZE", "1000")).contains("(1000) is too small, which might cause over splitting")
        );
        assert!(
            text(|t| t.with("MEMSTORE_FLUSHSIZE", "10")).contains("(10) is too small, which might cause very frequent")
        );
        assert_eq!(family("TTL", "0"), "TTL for column family f must be positive.");
        assert_eq!(family("BLOCKSIZE", "100"), "Block size for column family f  must be between 1K and 16MB.");
        assert_eq!(family("MIN_VERSIONS", "-1"), "Min versions for column family f  must be positive.");
        assert_eq!(family("MIN_VERSIONS", "2"), "Min versions for column family f must be less than the Max versions.");
        assert_eq!(
            family("DFS_REPLICATION", "-1"),
            "HFile Replication for column family f  must be greater than zero."
        );
        assert_eq!(family("REPLICATION_SCOPE", "5"), "Replication scope for column family f is 5 which is invalid.");
        assert_eq!(family("COMPRESSION", "LZO"), "Compression algorithm 'lzo' previously failed test.");
        assert_eq!(family("BLOOMFILTER", "ROWPREFIX_FIXED_LENGTH"), "Failed to get bloom filter param");
        let tiered = |t: TableDescriptor| t.with("hbase.hstore.datatiering.type", "TIME_RANGE");
        assert_eq!(text(tiered), "Time Range Data Tiering should be enabled with Date Tiered Compaction.");
        assert_eq!(text(|t| tiered(t).with("hbase.hstore.engine.class", DATE_TIERED)), "ok");
        assert_eq!(text(|t| t.with("REGION_REPLICATION", "0")), "Table region replication should be at least one.");
        assert_eq!(text(|t| t.with("coprocessor$1", "|org.example.C|1|")), "Class org.example.C cannot be loaded");
        assert_eq!(
            text(|t| t.with("SPLIT_POLICY", "org.example.P")),
            "Unable to load configured region split policy 'org.example.P' for table 't'"
        );
        let none = table(&Config::default(), &TableDescriptor::new(TableName::parse("t").unwrap())).unwrap_err();
        assert!(
            none.message.starts_with("Table should have at least one column family. Set hbase.table.sanity.checks")
        );
        assert_eq!((none.class.as_str(), none.do_not_retry), (class::DO_NOT_RETRY, true));
    }

    #[test]
    fn a_table_may_ask_for_mercy() {
        assert_eq!(text(|t| t.with("hbase.table.sanity.checks", "false").with("MAX_FILESIZE", "10")), "ok");
    }

    #[test]
    fn fifo_compaction_needs_a_ttl_and_room() {
        let fifo = |ttl: &'static str| {
            text(move |t| {
                t.with("hbase.hstore.defaultengine.compactionpolicy.class", FIFO)
                    .with_family(FamilyDescriptor::new("f").with("TTL", ttl))
            })
        };
        assert_eq!(fifo("FOREVER"), "Default TTL is not supported for FIFO compaction");
        assert_eq!(
            fifo("60"),
            "Blocking file count 'hbase.hstore.blockingStoreFiles' 16 is below recommended minimum of 1000 for column \
             family f"
        );
    }

    #[test]
    fn namespaces_must_have_room() {
        let mut namespace = NamespaceDescriptor::new("ns").unwrap();
        namespace_limits(&namespace).unwrap();
        namespace.configuration.insert(NamespaceDescriptor::MAX_TABLES.into(), "0".into());
        let error = namespace_limits(&namespace).unwrap_err();
        assert_eq!(error.message, "The max tables quota for ns is less than or equal to zero.");
        namespace.configuration.insert(NamespaceDescriptor::MAX_TABLES.into(), "x".into());
        assert!(namespace_limits(&namespace).unwrap_err().message.starts_with("NumberFormatException"));
    }
}
