//! Tables and families as `describe` prints them, in HBase's order.

use super::pretty;
use bytes::Bytes;
use martite_catalog::{FamilyDescriptor, TableDescriptor, family, to_string_binary};

/// Attributes of a table that stand for themselves; all others are METADATA.
const TABLE_ATTRIBUTES: [&str; 8] = [
    "DURABILITY",
    "ERASURE_CODING_POLICY",
    "IS_META",
    "MAX_FILESIZE",
    "MEMSTORE_FLUSHSIZE",
    "PRIORITY",
    "READONLY",
    "REGION_REPLICATION",
];

/// Attributes of a family that stand for themselves beside those with defaults.
const FAMILY_ATTRIBUTES: [&str; 5] =
    ["ENCRYPTION", "ENCRYPTION_KEY", "IS_MOB", "MOB_COMPACT_PARTITION_POLICY", "MOB_THRESHOLD"];

/// `, {TABLE_ATTRIBUTES => {…}}`, or nothing.
pub fn of_table(table: &TableDescriptor) -> String {
    let mut own = Vec::new();
    let mut metadata = Vec::new();
    for (key, value) in table.attributes.iter() {
        let (key, value) = (String::from_utf8_lossy(key).into_owned(), to_string_binary(value));
        if TABLE_ATTRIBUTES.contains(&key.as_str()) || key.starts_with("coprocessor$") {
            if key != "IS_META" || value.eq_ignore_ascii_case("true") {
                own.push(format!("{key} => '{}'", table_value(&key, &value)));
            }
        } else {
            metadata.push(format!("'{key}' => '{value}'"));
        }
    }
    if !metadata.is_empty() {
        own.push(format!("METADATA => {{{}}}", metadata.join(", ")));
    }
    if own.is_empty() { String::new() } else { format!(", {{TABLE_ATTRIBUTES => {{{}}}}}", own.join(", ")) }
}

fn table_value(key: &str, value: &str) -> String {
    match (key, value.parse()) {
        ("MAX_FILESIZE" | "MEMSTORE_FLUSHSIZE", Ok(bytes)) => pretty::size(bytes),
        _ => value.to_owned(),
    }
}

/// `{NAME => 'f', …}`
pub fn of_family(family: &FamilyDescriptor) -> String {
    let mut text = format!("{{NAME => '{}'", family.name_string());
    let mut metadata = Vec::new();
    let attributes: Vec<(&Bytes, &Bytes)> = family.attributes.iter().collect();
    for (key, value) in java_order(attributes, |(key, _)| bytes_hash(key)) {
        let (key, value) = (String::from_utf8_lossy(key).into_owned(), to_string_binary(value));
        let is_own = family::DEFAULTS.iter().any(|(name, _)| *name == key);
        if is_own || FAMILY_ATTRIBUTES.contains(&key.as_str()) {
            text.push_str(&format!(", {key} => '{}'", family_value(&key, &value)));
        } else {
            metadata.push(format!("'{key}' => '{value}'"));
        }
    }
    if !metadata.is_empty() {
        text.push_str(&format!(", METADATA => {{{}}}", metadata.join(", ")));
    }
    let configuration: Vec<(&String, &String)> = family.configuration.iter().collect();
    if !configuration.is_empty() {
        let pairs = java_order(configuration, |(key, _)| string_hash(key));
        let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("'{key}' => '{value}'")).collect();
        text.push_str(&format!(", CONFIGURATION => {{{}}}", pairs.join(", ")));
    }
    text.push('}');
    text
}

fn family_value(key: &str, value: &str) -> String {
    match (key, value.parse()) {
        ("TTL", Ok(seconds)) => pretty::time(seconds),
        ("BLOCKSIZE", Ok(bytes)) => pretty::size(bytes),
        _ => value.to_owned(),
    }
}

/// The order in which a java.util.HashMap goes through its entries: by their places in a table that is less than three
/// quarters full.
fn java_order<T>(mut entries: Vec<T>, hash: impl Fn(&T) -> i32) -> Vec<T> {
    let mut places = 16usize;
    while entries.len() * 4 >= places * 3 {
        places *= 2;
    }
    entries.sort_by_key(|entry| {
        let hash = hash(entry) as u32;
        (hash ^ (hash >> 16)) as usize & (places - 1)
    });
    entries
}

/// HBase's hash of bytes.
fn bytes_hash(bytes: &[u8]) -> i32 {
    bytes.iter().fold(1i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(*byte as i8)))
}

/// Java's hash of a string.
fn string_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_in_the_order_of_hbases_shell() {
        assert_eq!(
            of_family(&FamilyDescriptor::new("f")),
            "{NAME => 'f', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', \
             DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', \
             BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', \
             BLOCKSIZE => '65536 B (64KB)'}"
        );
    }

    #[test]
    fn settings_of_tables() {
        let table = TableDescriptor::new("t".parse().unwrap());
        assert_eq!(of_table(&table), "");
        let table = table.with("MAX_FILESIZE", "134217728").with("x", "y").with("SPLIT_POLICY", "P");
        assert_eq!(
            of_table(&table),
            ", {TABLE_ATTRIBUTES => {MAX_FILESIZE => '134217728 B (128MB)', METADATA => {'SPLIT_POLICY' => 'P', 'x' => 'y'}}}"
        );
    }
}
