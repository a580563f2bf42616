//! Namespaces.

use super::Admin;
use crate::Error;
use martite_catalog::NamespaceDescriptor;
use martite_proto as pb;

impl Admin {
    pub async fn create_namespace(&self, namespace: &NamespaceDescriptor) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let namespace_descriptor = namespace.to_proto();
        let request = pb::CreateNamespaceRequest { namespace_descriptor, nonce_group, nonce };
        let answer: pb::CreateNamespaceResponse = self.master("CreateNamespace", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    /// Replaces a namespace's properties.
    pub async fn modify_namespace(&self, namespace: &NamespaceDescriptor) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let namespace_descriptor = namespace.to_proto();
        let request = pb::ModifyNamespaceRequest { namespace_descriptor, nonce_group, nonce };
        let answer: pb::ModifyNamespaceResponse = self.master("ModifyNamespace", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    /// Deletes a namespace that has no tables.
    pub async fn delete_namespace(&self, namespace: &str) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let request = pb::DeleteNamespaceRequest { namespace_name: namespace.to_owned(), nonce_group, nonce };
        let answer: pb::DeleteNamespaceResponse = self.master("DeleteNamespace", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    pub async fn namespace_descriptor(&self, namespace: &str) -> Result<NamespaceDescriptor, Error> {
        let request = pb::GetNamespaceDescriptorRequest { namespace_name: namespace.to_owned() };
        let answer: pb::GetNamespaceDescriptorResponse = self.master("GetNamespaceDescriptor", &request).await?;
        Ok(NamespaceDescriptor::from_proto(&answer.namespace_descriptor)?)
    }

    pub async fn namespace_descriptors(&self) -> Result<Vec<NamespaceDescriptor>, Error> {
        let answer: pb::ListNamespaceDescriptorsResponse =
            self.master("ListNamespaceDescriptors", &pb::ListNamespaceDescriptorsRequest {}).await?;
        let descriptors = &answer.namespace_descriptor;
        descriptors.iter().map(|descriptor| Ok(NamespaceDescriptor::from_proto(descriptor)?)).collect()
    }

    pub async fn namespace_names(&self) -> Result<Vec<String>, Error> {
        let answer: pb::ListNamespacesResponse = self.master("ListNamespaces", &pb::ListNamespacesRequest {}).await?;
        Ok(answer.namespace_name)
    }
}
