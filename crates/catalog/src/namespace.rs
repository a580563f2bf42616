//! [`NamespaceDescriptor`]: a namespace's name and properties.

use crate::table_name::{DEFAULT_NAMESPACE, SYSTEM_NAMESPACE, check_namespace, utf8};
use crate::{CatalogError, attributes};
use martite_proto::{self as pb, Message};
use std::collections::BTreeMap;

/// A namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceDescriptor {
    name: String,
    pub configuration: BTreeMap<String, String>,
}

impl NamespaceDescriptor {
    /// The most tables and regions a namespace may have, when quotas are enabled.
    pub const MAX_TABLES: &str = "hbase.namespace.quota.maxtables";
    pub const MAX_REGIONS: &str = "hbase.namespace.quota.maxregions";

    pub fn new(name: &str) -> Result<NamespaceDescriptor, CatalogError> {
        check_namespace(name)?;
        Ok(NamespaceDescriptor { name: name.to_string(), configuration: BTreeMap::new() })
    }

    /// The namespaces that every cluster has: default and hbase.
    pub fn reserved() -> [NamespaceDescriptor; 2] {
        [DEFAULT_NAMESPACE, SYSTEM_NAMESPACE]
            .map(|name| NamespaceDescriptor { name: name.to_string(), configuration: BTreeMap::new() })
    }

    pub fn is_reserved(name: &str) -> bool {
        matches!(name, DEFAULT_NAMESPACE | SYSTEM_NAMESPACE)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn from_proto(descriptor: &pb::NamespaceDescriptor) -> Result<NamespaceDescriptor, CatalogError> {
        let mut namespace = NamespaceDescriptor::new(utf8(&descriptor.name)?)?;
        namespace.configuration = attributes::pairs_from_proto(&descriptor.configuration);
        Ok(namespace)
    }

    pub fn to_proto(&self) -> pb::NamespaceDescriptor {
        pb::NamespaceDescriptor {
            name: self.name.clone().into_bytes().into(),
            configuration: attributes::pairs_to_proto(&self.configuration),
        }
    }

    /// The value of info:d in hbase:namespace: the message without magic.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_proto().encode_to_vec()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<NamespaceDescriptor, CatalogError> {
        let descriptor =
            pb::NamespaceDescriptor::decode(bytes).map_err(|e| CatalogError::malformed("namespace descriptor", e))?;
        NamespaceDescriptor::from_proto(&descriptor)
    }
}

impl std::fmt::Display for NamespaceDescriptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{{NAME => '{}'", self.name)?;
        for (key, value) in &self.configuration {
            write!(f, ", {key} => '{value}'")?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip() {
        let mut namespace = NamespaceDescriptor::new("ns").unwrap();
        namespace.configuration.insert("k".into(), "v".into());
        assert_eq!(NamespaceDescriptor::from_bytes(&namespace.to_bytes()).unwrap(), namespace);
        assert_eq!(namespace.to_string(), "{NAME => 'ns', k => 'v'}");
        assert!(NamespaceDescriptor::new("a-b").is_err());
    }
}
