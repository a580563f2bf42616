//! A family as `create` and `alter` describe it: `{NAME => 'f', VERSIONS => 3, …}`.

use super::pretty;
use crate::commands::Options;
use crate::commands::arguments::{integer, is_java_true};
use crate::failure::{Failure, Run};
use crate::language::{Raise, Value};
use crate::session::Session;
use martite_catalog::{FamilyDescriptor, TableDescriptor, family};

const BOOLEANS: &[&str] = &[
    "BLOCKCACHE",
    "CACHE_DATA_ON_WRITE",
    "CACHE_INDEX_ON_WRITE",
    "CACHE_BLOOMS_ON_WRITE",
    "EVICT_BLOCKS_ON_CLOSE",
    "IN_MEMORY",
    "COMPRESS_TAGS",
    "PREFETCH_BLOCKS_ON_OPEN",
    "IS_MOB",
    "NEW_VERSION_BEHAVIOR",
];

const COMPRESSIONS: &[&str] = &["LZO", "GZ", "NONE", "SNAPPY", "LZ4", "BZIP2", "ZSTD", "LZMA", "BROTLI"];

/// Enums: the key, Java's class of it, its values.
const ENUMS: &[(&str, &str, &[&str])] = &[
    ("DATA_BLOCK_ENCODING", "io.encoding.DataBlockEncoding", &["NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"]),
    ("INDEX_BLOCK_ENCODING", "io.encoding.IndexBlockEncoding", &["NONE", "PREFIX_TREE"]),
    ("KEEP_DELETED_CELLS", "KeepDeletedCells", &["FALSE", "TRUE", "TTL"]),
    ("IN_MEMORY_COMPACTION", "MemoryCompactionPolicy", &["NONE", "BASIC", "EAGER", "ADAPTIVE"]),
];

/// The family that a value describes: one of the table's, changed, or a new one. What is not known is named and ignored.
pub fn of(session: &mut Session, value: &Value, table: &TableDescriptor) -> Run<FamilyDescriptor> {
    let mut options = match value {
        Value::Text(_) => Options::default(),
        value => Options::of(value)?,
    };
    let name = match value {
        Value::Text(name) => name.clone(),
        _ => options
            .take_bytes("NAME")
            .ok_or_else(|| Failure::argument(format!("Column family {} must have a name", value.inspect())))?,
    };
    family::check_family_name(&name)?;
    let text = String::from_utf8_lossy(&name).into_owned();
    let mut family = table.family(&name).cloned().unwrap_or_else(|| FamilyDescriptor::new(&text));
    booleans_and_enums(&mut family, &mut options)?;
    numbers(&mut family, &mut options)?;
    names(&mut family, &mut options)?;
    if let Some(value) = options.take("METADATA") {
        for (key, value) in pairs("METADATA", &value)? {
            match value {
                Some(value) => family.attributes.set(&key, value.into_bytes()),
                None => _ = family.attributes.remove(&key),
            }
        }
    }
    if let Some(value) = options.take("CONFIGURATION") {
        for (key, value) in pairs("CONFIGURATION", &value)? {
            match value {
                Some(value) => _ = family.configuration.insert(key, value),
                None => _ = family.configuration.remove(&key),
            }
        }
    }
    for key in options.keys() {
        session.print.puts(format!("Unknown argument ignored for column family {text}: {key}"));
    }
    Ok(family)
}

/// A hash of texts; nil and empty values remove.
pub fn pairs(name: &str, value: &Value) -> Run<Vec<(String, Option<String>)>> {
    let Value::Hash(pairs) = value else { return Err(Failure::argument(format!("{name} must be a Hash type"))) };
    let text = |value: &Value| Some(value.to_text()).filter(|text| !text.is_empty());
    Ok(pairs.borrow().iter().map(|(key, value)| (key.to_text(), text(value))).collect())
}

fn booleans_and_enums(family: &mut FamilyDescriptor, options: &mut Options) -> Run<()> {
    for key in BOOLEANS {
        if let Some(value) = options.take_any(key) {
            family.attributes.set(key, is_java_true(&value).to_string().into_bytes());
        }
    }
    for (key, class, values) in ENUMS {
        if let Some(value) = options.take_any(key) {
            let name = value.to_text();
            let name = if *key == "KEEP_DELETED_CELLS" { name.to_uppercase() } else { name };
            if !values.contains(&name.as_str()) {
                let message = format!("No enum constant org.apache.hadoop.hbase.{class}.{name}");
                return Err(Raise::new("Java::JavaLang::IllegalArgumentException", message).into());
            }
            family.attributes.set(key, name.into_bytes());
        }
    }
    Ok(())
}

/// Java's Integer.valueOf, with its words.
pub fn java_integer(value: &Value) -> Run<i64> {
    integer("", value).map_err(|_| {
        let message = format!("For input string: {:?}", value.to_text());
        Raise::new("Java::JavaLang::NumberFormatException", message).into()
    })
}

fn numbers(family: &mut FamilyDescriptor, options: &mut Options) -> Run<()> {
    let set = |family: &mut FamilyDescriptor, key: &str, number: i64| {
        family.attributes.set(key, number.to_string().into_bytes());
    };
    if let Some(value) = options.take_any("REPLICATION_SCOPE") {
        set(family, "REPLICATION_SCOPE", java_integer(&value)?);
    }
    if let Some(value) = options.take_any("TTL") {
        set(family, "TTL", pretty::parse_time(&value)?);
    }
    if let Some(value) = options.take_any("BLOCKSIZE") {
        set(family, "BLOCKSIZE", pretty::parse_size(&value)?);
    }
    if let Some(value) = options.take_any("VERSIONS") {
        let versions = java_integer(&value)?;
        if versions <= 0 {
            return Err(Failure::argument("Maximum versions must be positive"));
        }
        let least = i64::from(family.min_versions());
        if versions < least {
            return Err(Failure::argument(format!(
                "Set MaxVersion to {versions} while minVersion is {least}. Maximum versions must be >= minimum versions "
            )));
        }
        set(family, "VERSIONS", versions);
    }
    if let Some(value) = options.take_any("MIN_VERSIONS") {
        set(family, "MIN_VERSIONS", java_integer(&value)?);
    }
    if let Some(value) = options.take_any("MOB_THRESHOLD") {
        set(family, "MOB_THRESHOLD", java_integer(&value)?);
    }
    if let Some(value) = options.take_any("DFS_REPLICATION") {
        let copies = java_integer(&value)?;
        if copies < 0 {
            return Err(Failure::argument("DFS replication factor cannot be less than 1 if explicitly set."));
        }
        set(family, "DFS_REPLICATION", copies);
    }
    Ok(())
}

fn names(family: &mut FamilyDescriptor, options: &mut Options) -> Run<()> {
    let mut one_of = |key: &str, what: &str, values: &[&str]| -> Run<()> {
        let Some(value) = options.take_any(key) else { return Ok(()) };
        let name = value.to_text().to_uppercase();
        if !values.contains(&name.as_str()) {
            return Err(Failure::argument(format!("{what} {name} is not supported. Use one of {}", values.join(" "))));
        }
        family.attributes.set(key, name.into_bytes());
        Ok(())
    };
    one_of("BLOOMFILTER", "BloomFilter type", &family::BLOOMS)?;
    for key in ["COMPRESSION", "COMPRESSION_COMPACT", "COMPRESSION_COMPACT_MAJOR", "COMPRESSION_COMPACT_MINOR"] {
        one_of(key, "Compression", COMPRESSIONS)?;
    }
    one_of("MOB_COMPACT_PARTITION_POLICY", "MOB_COMPACT_PARTITION_POLICY", &["DAILY", "WEEKLY", "MONTHLY"])?;
    for key in ["ENCRYPTION", "STORAGE_POLICY"] {
        if let Some(value) = options.take_text(key) {
            family.attributes.set(key, value.to_uppercase().into_bytes());
        }
    }
    if options.take_any("ENCRYPTION_KEY").is_some() {
        return Err(Failure::argument("ENCRYPTION_KEY: this shell does not wrap keys; leave it to the servers"));
    }
    Ok(())
}
