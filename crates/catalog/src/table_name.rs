//! [`TableName`]: namespace and qualifier, and the rules for their characters.
//!
//! The default namespace does not show: `default:t` is written `t`. Everything else is `namespace:qualifier`.

use crate::CatalogError;
use bytes::Bytes;
use martite_proto as pb;
use std::sync::Arc;

pub const DEFAULT_NAMESPACE: &str = "default";
pub const SYSTEM_NAMESPACE: &str = "hbase";
/// The backup tool's namespace; its tables count as system tables.
pub const BACKUP_NAMESPACE: &str = "backup";

/// A table's name; cheap to clone. Ordered by the bytes of the full name.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableName {
    full: Arc<str>,
    /// Length of the namespace in `full`; None for the default namespace.
    namespace_len: Option<u32>,
}

impl TableName {
    /// Checks both parts as HBase does; an empty namespace is the default one.
    pub fn new(namespace: &str, qualifier: &str) -> Result<TableName, CatalogError> {
        let namespace = if namespace.is_empty() { DEFAULT_NAMESPACE } else { namespace };
        check_namespace(namespace)?;
        check_qualifier(qualifier, "User-space table", "Table")?;
        Ok(TableName::unchecked(namespace, qualifier))
    }

    fn unchecked(namespace: &str, qualifier: &str) -> TableName {
        if namespace == DEFAULT_NAMESPACE {
            TableName { full: qualifier.into(), namespace_len: None }
        } else {
            let full = format!("{namespace}:{qualifier}").into();
            TableName { full, namespace_len: Some(namespace.len() as u32) }
        }
    }

    /// Reads a full name, `qualifier` or `namespace:qualifier`.
    pub fn parse(full: &str) -> Result<TableName, CatalogError> {
        if full.is_empty() {
            return Err(CatalogError::Illegal("Name is null or empty".into()));
        }
        match full.split_once(':') {
            Some(("", qualifier)) => {
                check_namespace("")?;
                TableName::new("", qualifier)
            }
            Some((namespace, qualifier)) => TableName::new(namespace, qualifier),
            None => TableName::new(DEFAULT_NAMESPACE, full),
        }
    }

    /// Reads the bytes of a full name.
    pub fn parse_bytes(full: &[u8]) -> Result<TableName, CatalogError> {
        TableName::parse(utf8(full)?)
    }

    pub fn meta() -> TableName {
        TableName::unchecked(SYSTEM_NAMESPACE, "meta")
    }

    pub fn namespace_table() -> TableName {
        TableName::unchecked(SYSTEM_NAMESPACE, "namespace")
    }

    pub fn quota_table() -> TableName {
        TableName::unchecked(SYSTEM_NAMESPACE, "quota")
    }

    /// The table of the master's own region (HBase: master:store).
    pub fn master_store() -> TableName {
        TableName::unchecked("master", "store")
    }

    pub fn from_proto(name: &pb::TableName) -> Result<TableName, CatalogError> {
        TableName::new(utf8(&name.namespace)?, utf8(&name.qualifier)?)
    }

    pub fn to_proto(&self) -> pb::TableName {
        pb::TableName {
            namespace: Bytes::copy_from_slice(self.namespace().as_bytes()),
            qualifier: Bytes::copy_from_slice(self.qualifier().as_bytes()),
        }
    }

    pub fn namespace(&self) -> &str {
        match self.namespace_len {
            Some(len) => &self.full[..len as usize],
            None => DEFAULT_NAMESPACE,
        }
    }

    pub fn qualifier(&self) -> &str {
        match self.namespace_len {
            Some(len) => &self.full[len as usize + 1..],
            None => &self.full,
        }
    }

    /// The full name, without the default namespace.
    pub fn as_str(&self) -> &str {
        &self.full
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.full.as_bytes()
    }

    /// The full name with its namespace, even if that is the default one.
    pub fn with_namespace(&self) -> String {
        format!("{}:{}", self.namespace(), self.qualifier())
    }

    pub fn is_meta(&self) -> bool {
        &*self.full == "hbase:meta"
    }

    pub fn is_system(&self) -> bool {
        matches!(self.namespace(), SYSTEM_NAMESPACE | BACKUP_NAMESPACE)
    }
}

impl std::str::FromStr for TableName {
    type Err = CatalogError;

    fn from_str(full: &str) -> Result<TableName, CatalogError> {
        TableName::parse(full)
    }
}

impl std::fmt::Display for TableName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.full)
    }
}

impl std::fmt::Debug for TableName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.full)
    }
}

pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, CatalogError> {
    std::str::from_utf8(bytes)
        .map_err(|_| CatalogError::Illegal(format!("Name is not UTF-8: {}", crate::to_string_binary(bytes))))
}

/// Checks the name of a namespace.
pub fn check_namespace(name: &str) -> Result<(), CatalogError> {
    if name.is_empty() {
        return Err(CatalogError::Illegal("Namespace name must not be empty".into()));
    }
    check_not_zookeeper(name)?;
    match illegal_char(name, |c| c == '_') {
        None => Ok(()),
        Some((at, c)) => Err(CatalogError::Illegal(format!(
            "Illegal character <{c}> at {at}. Namespaces may only contain 'alphanumeric characters' from any \
             language and digits: {name}"
        ))),
    }
}

/// Checks the name of a snapshot, for which the rules of a qualifier hold.
pub fn check_snapshot_name(name: &str) -> Result<(), CatalogError> {
    check_qualifier(name, "Snapshot", "Snapshot")
}

fn check_qualifier(name: &str, long: &str, short: &str) -> Result<(), CatalogError> {
    let illegal = |text: String| Err(CatalogError::Illegal(text));
    let Some(&first) = name.as_bytes().first() else {
        return illegal(format!("{short} qualifier must not be empty"));
    };
    if matches!(first, b'.' | b'-') {
        return illegal(format!(
            "Illegal first character <{first}> at 0. {long} qualifiers can only start with 'alphanumeric \
             characters' from any language: {name}"
        ));
    }
    check_not_zookeeper(name)?;
    match illegal_char(name, |c| matches!(c, '_' | '-' | '.')) {
        None => Ok(()),
        Some((at, c)) => illegal(format!(
            "Illegal character code:{}, <{c}> at {at}. {long} qualifiers may only contain 'alphanumeric \
             characters' and digits: {name}",
            c as u32
        )),
    }
}

fn check_not_zookeeper(name: &str) -> Result<(), CatalogError> {
    match name {
        "zookeeper" => Err(CatalogError::Illegal("Tables may not be named 'zookeeper'".into())),
        _ => Ok(()),
    }
}

/// The first character that is neither a letter, nor a digit, nor one of `also`, with its place in UTF-16 units.
fn illegal_char(name: &str, also: impl Fn(char) -> bool) -> Option<(usize, char)> {
    let mut at = 0;
    for c in name.chars() {
        // HBase looks at UTF-16 units, so characters outside the basic plane are illegal.
        if (c as u32) > 0xffff || !(c.is_alphabetic() || is_digit(c) || also(c)) {
            return Some((at, c));
        }
        at += c.len_utf16();
    }
    None
}

/// Whether `c` is a decimal digit of any script (Unicode Nd in the basic plane).
fn is_digit(c: char) -> bool {
    /// The zeros of the scripts; their nine other digits follow.
    const ZEROS: [u32; 37] = [
        0x0030, 0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0de6,
        0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40,
        0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    ];
    ZEROS.iter().any(|&zero| (zero..zero + 10).contains(&(c as u32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_split_at_the_colon() {
        let t = TableName::parse("ns:t.1-x").unwrap();
        assert_eq!((t.namespace(), t.qualifier(), t.as_str()), ("ns", "t.1-x", "ns:t.1-x"));
        let t = TableName::parse("default:t").unwrap();
        assert_eq!((t.namespace(), t.qualifier(), t.as_str()), ("default", "t", "t"));
        assert_eq!(t.with_namespace(), "default:t");
        assert_eq!(t, TableName::parse("t").unwrap());
        assert_eq!(TableName::from_proto(&t.to_proto()).unwrap(), t);
        assert!(TableName::meta().is_meta() && TableName::meta().is_system());
        assert_eq!(TableName::parse("töbel٣").unwrap().qualifier(), "töbel٣");
    }

    #[test]
    fn illegal_names_are_refused_in_hbases_words() {
        let text = |name: &str| TableName::parse(name).unwrap_err().to_string();
        assert_eq!(text(""), "Name is null or empty");
        assert_eq!(text("zookeeper"), "Tables may not be named 'zookeeper'");
        assert_eq!(
            text("-t"),
            "Illegal first character <45> at 0. User-space table qualifiers can only start with 'alphanumeric \
             characters' from any language: -t"
        );
        assert_eq!(
            text("t$"),
            "Illegal character code:36, <$> at 1. User-space table qualifiers may only contain 'alphanumeric \
             characters' and digits: t$"
        );
        assert_eq!(
            text("n-s:t"),
            "Illegal character <-> at 1. Namespaces may only contain 'alphanumeric characters' from any language and \
             digits: n-s"
        );
        assert_eq!(text("ns:"), "Table qualifier must not be empty");
        assert_eq!(text(":t"), "Namespace name must not be empty");
        assert_eq!(check_snapshot_name("").unwrap_err().to_string(), "Snapshot qualifier must not be empty");
    }
}
