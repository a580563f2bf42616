//! `create`: a table.

use super::{family, settings, splits};
use crate::commands::{Arguments, Arity, Command, Options};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_catalog::{TableDescriptor, TableName};

pub const COMMAND: Command = Command {
    name: "create",
    aliases: &[],
    summary: "make a table",
    help: "\
Makes a table: its name, then its families by name or as hashes with NAME, then settings of the table.

  hbase> create 't1', 'f1', 'f2'
  hbase> create 'ns1:t1', {NAME => 'f1', VERSIONS => 5, TTL => '30 DAYS', COMPRESSION => 'ZSTD', BLOCKCACHE => true}
  hbase> create 't1', {NAME => 'f1', CONFIGURATION => {'hbase.hstore.blockingStoreFiles' => '10'}}
  hbase> create 't1', {NAME => 'f1', IS_MOB => true, MOB_THRESHOLD => 1000000}
  hbase> create 't1', 'f1', MAX_FILESIZE => '10 GB', METADATA => {'mykey' => 'myvalue'}
  hbase> create 't1', 'f1', {SPLIT_ENABLED => false, MERGE_ENABLED => false}

Families: VERSIONS, MIN_VERSIONS, TTL, KEEP_DELETED_CELLS, COMPRESSION, DATA_BLOCK_ENCODING, BLOOMFILTER, BLOCKSIZE, BLOCKCACHE,
IN_MEMORY, IN_MEMORY_COMPACTION, CACHE_DATA_ON_WRITE, CACHE_INDEX_ON_WRITE, CACHE_BLOOMS_ON_WRITE, EVICT_BLOCKS_ON_CLOSE,
PREFETCH_BLOCKS_ON_OPEN, COMPRESSION_COMPACT(_MAJOR, _MINOR), COMPRESS_TAGS, NEW_VERSION_BEHAVIOR, REPLICATION_SCOPE, IS_MOB,
MOB_THRESHOLD, MOB_COMPACT_PARTITION_POLICY, DFS_REPLICATION, STORAGE_POLICY, ENCRYPTION, CONFIGURATION, METADATA.
Tables: MAX_FILESIZE, MEMSTORE_FLUSHSIZE, READONLY, DURABILITY, REGION_REPLICATION, PRIORITY, SPLIT_POLICY, FLUSH_POLICY,
SPLIT_ENABLED, MERGE_ENABLED, COMPACTION_ENABLED, NORMALIZATION_ENABLED, NORMALIZER_TARGET_REGION_COUNT,
NORMALIZER_TARGET_REGION_SIZE_MB, REGION_MEMSTORE_REPLICATION, ERASURE_CODING_POLICY, CONFIGURATION, METADATA.

A table may begin with several regions:

  hbase> create 't1', 'f1', SPLITS => ['10', '20', '30', '40']
  hbase> create 't1', 'f1', SPLITS_FILE => 'splits.txt'
  hbase> create 't1', 'f1', {NUMREGIONS => 15, SPLITALGO => 'HexStringSplit'}

The value is a reference to the table:

  hbase> t1 = create 't1', 'f1'
",
    arity: Arity::at_least(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let text = arguments.string(0, "Table name")?;
    let mut table = TableDescriptor::new(TableName::parse(&text)?);
    let mut keys = None;
    for value in arguments.flattened(1) {
        let is_family = match &value {
            Value::Text(_) => true,
            Value::Hash(_) => value.entry("NAME").is_some(),
            other => {
                let message = format!("{} of {} is not of Hash or String type", other.class(), other.inspect());
                return Err(Failure::argument(message));
            }
        };
        if is_family {
            let family = family::of(session, &value, &table)?;
            if table.family(family.name()).is_some() {
                let name = family.name_string();
                session.print.puts(format!("Family '{name}' already exists, the old one will be replaced"));
            }
            table.set_family(family);
        } else if let Some(more) = of_table(session, &mut table, &value)? {
            keys = Some(more);
        }
    }
    if table.family_count() == 0 {
        return Err(Failure::argument("Table must have at least one column family"));
    }
    let keys: Vec<Vec<u8>> = keys.unwrap_or_default();
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let admin = session.admin()?;
    session.wait(async { admin.create_table(&table, &keys).await })?;
    session.stop_clock();
    session.print.puts(format!("Created table {text}"));
    Ok(Value::Table(table.name().to_string().into()))
}

/// Settings of the table; the keys at which it is split.
fn of_table(session: &mut Session, table: &mut TableDescriptor, value: &Value) -> Run<Option<Vec<Vec<u8>>>> {
    let mut options = Options::of(value)?;
    if options.take_text("METHOD").is_some_and(|method| method != "table_att") {
        return Err(Failure::argument("table_att is currently the only supported method"));
    }
    let keys = splits::of(&mut options, table)?;
    settings::apply(session, table, &mut options)?;
    for key in options.keys() {
        session.print.puts(format!("An argument ignored (unknown or overridden): {key}"));
    }
    Ok(keys)
}
