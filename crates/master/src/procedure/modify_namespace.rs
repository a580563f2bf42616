//! ModifyNamespace: other properties.

use super::create_namespace::namespace_locks;
use super::{Flow, Lock, Procedure};
use crate::services::Services;
use crate::{MasterError, checks};
use martite_catalog::NamespaceDescriptor;
use martite_proto as pb;
use prost::Message;

/// The saved state; there is one step.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ModifyNamespace {
    #[prost(message, required, tag = "1")]
    namespace: pb::NamespaceDescriptor,
}

impl ModifyNamespace {
    pub fn new(namespace: &NamespaceDescriptor) -> ModifyNamespace {
        ModifyNamespace { namespace: namespace.to_proto() }
    }

    /// NamespaceNotFoundException, ConstraintException.
    pub fn check(services: &Services, namespace: &NamespaceDescriptor) -> Result<(), MasterError> {
        services.namespaces.existing(namespace.name())?;
        checks::namespace_limits(namespace)
    }
}

impl Procedure for ModifyNamespace {
    fn class(&self) -> &'static str {
        "ModifyNamespaceProcedure"
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        namespace_locks(&self.namespace.name)
    }
    fn can_roll_back(&self) -> bool {
        true
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        let namespace = NamespaceDescriptor::from_proto(&self.namespace)?;
        ModifyNamespace::check(services, &namespace)?;
        services.namespaces.put(services, namespace)?;
        Ok(Flow::done())
    }
}
