//! Names, descriptors and places: what a table, a region and a server are called, how they are described, what
//! hbase:meta says about them, and where their files lie.
//!
//! | Module | Noun |
//! |---|---|
//! | [`table_name`], [`namespace`], [`server_name`] | names and their rules |
//! | [`region_info`] | a region: name, encoded name, keys |
//! | [`family`], [`table`] | descriptors: attributes kept as sent, with typed getters |
//! | [`system`] | the descriptors of hbase:meta, hbase:namespace and the master's own region |
//! | [`meta_row`] | the cells of a row of hbase:meta |
//! | [`layout`], [`files`] | paths below the root directory, and the small files in them |
//!
//! Never: network, configuration, decisions about regions.
#![forbid(unsafe_code)]

pub mod attributes;
pub mod coprocessor;
pub mod family;
pub mod file_tracker;
pub mod files;
mod jenkins;
pub mod layout;
pub mod meta_row;
pub mod namespace;
pub mod region_info;
pub mod server_name;
pub mod snapshot;
pub mod system;
pub mod table;
pub mod table_name;

pub use attributes::Attributes;
pub use coprocessor::CoprocessorSpec;
pub use family::{FamilyDescriptor, KeepDeletedCells};
pub use layout::Layout;
pub use meta_row::{MetaRegion, RegionState};
pub use namespace::NamespaceDescriptor;
pub use region_info::RegionInfo;
pub use server_name::ServerName;
pub use table::{TableDescriptor, TableState};
pub use table_name::TableName;

/// What can go wrong with names, descriptors and their files.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// A name or an attribute that HBase does not allow; the text is HBase's (an IllegalArgumentException there).
    #[error("{0}")]
    Illegal(String),
    /// Bytes that do not decode; `what` names the file, row or message.
    #[error("malformed {what}: {why}")]
    Malformed { what: String, why: String },
    /// The file system failed; `what` names the file.
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
}

impl CatalogError {
    pub(crate) fn malformed(what: impl Into<String>, why: impl std::fmt::Display) -> CatalogError {
        CatalogError::Malformed { what: what.into(), why: why.to_string() }
    }

    pub(crate) fn io(what: &std::path::Path, source: std::io::Error) -> CatalogError {
        CatalogError::Io { what: what.display().to_string(), source }
    }
}

/// Bytes as HBase prints them in messages (Bytes.toStringBinary): printable ASCII as it is, the rest as `\xNN`.
pub fn to_string_binary(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for &b in bytes {
        if (b' '..=b'~').contains(&b) && b != b'\\' {
            out.push(b as char);
        } else {
            out.push_str(&format!("\\x{b:02X}"));
        }
    }
    out
}

/// Strips the PBUF magic from file, znode and cell values.
pub(crate) fn without_magic<'a>(bytes: &'a [u8], what: &str) -> Result<&'a [u8], CatalogError> {
    bytes.strip_prefix(martite_proto::PBUF_MAGIC).ok_or_else(|| CatalogError::malformed(what, "no PBUF magic"))
}

/// A message with the PBUF magic before it.
pub fn with_magic<M: martite_proto::Message>(message: &M) -> Vec<u8> {
    let mut out = martite_proto::PBUF_MAGIC.to_vec();
    out.extend_from_slice(&message.encode_to_vec());
    out
}
