//! Namespaces: the rows of hbase:namespace, in memory.

use crate::MasterError;
use crate::rows::{HostRows, Rows, value};
use crate::services::Services;
use martite_catalog::meta_row::MetaEdit;
use martite_catalog::system::CATALOG_FAMILY;
use martite_catalog::{NamespaceDescriptor, TableName};
use parking_lot::RwLock;
use std::collections::BTreeMap;

/// The qualifier of a descriptor in family info.
const DESCRIPTOR: &[u8] = b"d";

#[derive(Default)]
pub(crate) struct Namespaces(RwLock<BTreeMap<String, NamespaceDescriptor>>);

impl Namespaces {
    pub fn get(&self, name: &str) -> Option<NamespaceDescriptor> {
        self.0.read().get(name).cloned()
    }

    /// The namespace, or NamespaceNotFoundException.
    pub fn existing(&self, name: &str) -> Result<NamespaceDescriptor, MasterError> {
        self.get(name).ok_or_else(|| MasterError::namespace_not_found(name))
    }

    pub fn list(&self) -> Vec<NamespaceDescriptor> {
        self.0.read().values().cloned().collect()
    }

    /// Reads hbase:namespace.
    pub fn load(&self, services: &Services) -> Result<(), MasterError> {
        let mut namespaces = BTreeMap::new();
        let rows = rows(services)?;
        services.advance_past(rows.newest_ms()?);
        for row in rows.scan(Some(CATALOG_FAMILY))? {
            if let Some(bytes) = value(&row, CATALOG_FAMILY, DESCRIPTOR) {
                let namespace = NamespaceDescriptor::from_bytes(bytes)?;
                services.registry.publish_namespace(namespace.name(), bytes);
                namespaces.insert(namespace.name().to_string(), namespace);
            }
        }
        *self.0.write() = namespaces;
        Ok(())
    }

    /// Writes a row, and remembers it.
    pub fn put(&self, services: &Services, namespace: NamespaceDescriptor) -> Result<(), MasterError> {
        let edit = MetaEdit::new(namespace.name().as_bytes().to_vec(), services.now_ms());
        let bytes = namespace.to_bytes();
        rows(services)?.apply(&[edit.cell(CATALOG_FAMILY, DESCRIPTOR, &bytes)])?;
        services.registry.publish_namespace(namespace.name(), &bytes);
        self.0.write().insert(namespace.name().to_string(), namespace);
        Ok(())
    }

    pub fn remove(&self, services: &Services, name: &str) -> Result<(), MasterError> {
        let edit = MetaEdit::new(name.as_bytes().to_vec(), services.now_ms());
        rows(services)?.apply(&[edit.delete_family(CATALOG_FAMILY)])?;
        services.registry.withdraw_namespace(name);
        self.0.write().remove(name);
        Ok(())
    }
}

fn rows(services: &Services) -> Result<HostRows, MasterError> {
    let region = services.catalog.live_regions(&TableName::namespace_table()).into_iter().next();
    let region = region.ok_or_else(|| MasterError::io("hbase:namespace has no region"))?;
    Ok(HostRows { host: services.host.clone(), encoded: region.encoded_name().to_string() })
}
