//! Settings of a table as `create` and `alter` name them.

use super::family::{java_integer, pairs};
use super::pretty;
use crate::commands::Options;
use crate::commands::arguments::is_java_true;
use crate::failure::Run;
use crate::language::Raise;
use crate::session::Session;
use martite_catalog::{TableDescriptor, table};

const BOOLEANS: &[&str] = &[
    "READONLY",
    "COMPACTION_ENABLED",
    "SPLIT_ENABLED",
    "MERGE_ENABLED",
    "NORMALIZATION_ENABLED",
    "REGION_MEMSTORE_REPLICATION",
];
const TEXTS: &[&str] = &["ERASURE_CODING_POLICY", "FLUSH_POLICY", "SPLIT_POLICY"];
const NUMBERS: &[&str] =
    &["NORMALIZER_TARGET_REGION_COUNT", "NORMALIZER_TARGET_REGION_SIZE_MB", "PRIORITY", "REGION_REPLICATION"];

/// Takes what is a table's setting out of the options and into the descriptor.
pub fn apply(session: &mut Session, table: &mut TableDescriptor, options: &mut Options) -> Run<()> {
    // Tables have no owners any more; the option is taken and means nothing, as in HBase.
    options.take_any("OWNER");
    for key in TEXTS {
        if let Some(value) = options.take_text(key) {
            table.attributes.set(key, value.into_bytes());
        }
    }
    for key in ["MAX_FILESIZE", "MEMSTORE_FLUSHSIZE"] {
        if let Some(value) = options.take_any(key) {
            table.attributes.set(key, pretty::parse_size(&value)?.to_string().into_bytes());
        }
    }
    for key in BOOLEANS {
        if let Some(value) = options.take_any(key) {
            table.attributes.set(key, is_java_true(&value).to_string().into_bytes());
        }
    }
    if let Some(value) = options.take_any("NORMALIZER_TARGET_REGION_SIZE") {
        session.print.puts("NORMALIZER_TARGET_REGION_SIZE is an old name of NORMALIZER_TARGET_REGION_SIZE_MB");
        let size = java_integer(&value)?.to_string();
        table.attributes.set("NORMALIZER_TARGET_REGION_SIZE_MB", size.into_bytes());
    }
    for key in NUMBERS {
        if let Some(value) = options.take_any(key) {
            table.attributes.set(key, java_integer(&value)?.to_string().into_bytes());
        }
    }
    if let Some(name) = options.take_text("DURABILITY") {
        if !table::DURABILITIES.contains(&name.as_str()) {
            let message = format!("No enum constant org.apache.hadoop.hbase.client.Durability.{name}");
            return Err(Raise::new("Java::JavaLang::IllegalArgumentException", message).into());
        }
        table.attributes.set("DURABILITY", name.into_bytes());
    }
    // A table's configuration is kept among its attributes.
    for key in ["METADATA", "CONFIGURATION"] {
        let Some(value) = options.take(key) else { continue };
        for (key, value) in pairs(key, &value)? {
            match value {
                Some(value) => table.attributes.set(&key, value.into_bytes()),
                None => _ = table.attributes.remove(&key),
            }
        }
    }
    Ok(())
}
