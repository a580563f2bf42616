//! CreateNamespace: a directory and a row of hbase:namespace.

use super::{Flow, Lock, Procedure, Resource};
use crate::services::Services;
use crate::{MasterError, checks, class};
use martite_catalog::NamespaceDescriptor;
use martite_proto as pb;
use prost::Message;

const PREPARE: u32 = 0;
const CREATE: u32 = 1;

/// The saved state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct CreateNamespace {
    #[prost(uint32, tag = "1")]
    step: u32,
    #[prost(message, required, tag = "2")]
    namespace: pb::NamespaceDescriptor,
}

impl CreateNamespace {
    pub fn new(namespace: &NamespaceDescriptor) -> CreateNamespace {
        CreateNamespace { step: PREPARE, namespace: namespace.to_proto() }
    }

    /// NamespaceExistException, ConstraintException.
    pub fn check(services: &Services, namespace: &NamespaceDescriptor) -> Result<(), MasterError> {
        if services.namespaces.get(namespace.name()).is_some() {
            return Err(MasterError::new(
                class::NAMESPACE_EXISTS,
                format!("Namespace {} already exists", namespace.name()),
            ));
        }
        checks::namespace_limits(namespace)
    }
}

pub(super) fn namespace_locks(name: &[u8]) -> Vec<Lock> {
    vec![Lock::exclusive(Resource::Namespace(String::from_utf8_lossy(name).into_owned()))]
}

impl Procedure for CreateNamespace {
    fn class(&self) -> &'static str {
        "CreateNamespaceProcedure"
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        namespace_locks(&self.namespace.name)
    }
    fn can_roll_back(&self) -> bool {
        self.step == PREPARE
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        let namespace = NamespaceDescriptor::from_proto(&self.namespace)?;
        match self.step {
            PREPARE => {
                CreateNamespace::check(services, &namespace)?;
                self.step = CREATE;
                Ok(Flow::More)
            }
            _ => {
                let dir = services.layout.namespace_dir(namespace.name());
                let made = services.fs.create_dir_all(&dir);
                made.map_err(|e| MasterError::io(format!("make {}: {e}", dir.display())))?;
                services.namespaces.put(services, namespace)?;
                Ok(Flow::done())
            }
        }
    }
}
