//! DeleteNamespace: only empty ones, and not the reserved ones.

use super::create_namespace::namespace_locks;
use super::{Flow, Lock, Procedure};
use crate::services::Services;
use crate::{MasterError, class};
use martite_catalog::NamespaceDescriptor;
use prost::Message;

const PREPARE: u32 = 0;
const DELETE: u32 = 1;

/// The saved state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct DeleteNamespace {
    #[prost(uint32, tag = "1")]
    step: u32,
    #[prost(string, tag = "2")]
    name: String,
}

impl DeleteNamespace {
    pub fn new(name: &str) -> DeleteNamespace {
        DeleteNamespace { step: PREPARE, name: name.to_string() }
    }

    /// NamespaceNotFoundException, ConstraintException.
    pub fn check(services: &Services, name: &str) -> Result<(), MasterError> {
        services.namespaces.existing(name)?;
        if NamespaceDescriptor::is_reserved(name) {
            return Err(MasterError::new(class::CONSTRAINT, format!("Reserved namespace {name} cannot be removed.")));
        }
        let tables = services.catalog.tables().iter().filter(|t| t.name().namespace() == name).count();
        if tables > 0 {
            return Err(MasterError::new(
                class::CONSTRAINT,
                format!("Only empty namespaces can be removed. Namespace {name} has {tables} tables"),
            ));
        }
        Ok(())
    }
}

impl Procedure for DeleteNamespace {
    fn class(&self) -> &'static str {
        "DeleteNamespaceProcedure"
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        namespace_locks(self.name.as_bytes())
    }
    fn can_roll_back(&self) -> bool {
        self.step == PREPARE
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        match self.step {
            PREPARE => {
                DeleteNamespace::check(services, &self.name)?;
                self.step = DELETE;
                Ok(Flow::More)
            }
            _ => {
                services.remove_dir(&services.layout.namespace_dir(&self.name))?;
                services.quotas.remove_namespace(services, &self.name);
                services.namespaces.remove(services, &self.name)?;
                Ok(Flow::done())
            }
        }
    }
}
