//! Namespaces: create, modify, delete, describe, list, and list what is in them.

use super::Call;
use crate::MasterError;
use crate::procedure::{CreateNamespace, DeleteNamespace, ModifyNamespace};
use martite_catalog::NamespaceDescriptor;
use martite_proto as pb;

pub fn create_namespace(
    call: &Call<'_>,
    req: pb::CreateNamespaceRequest,
) -> Result<pb::CreateNamespaceResponse, MasterError> {
    let answer = |id| Ok(pb::CreateNamespaceResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let namespace = NamespaceDescriptor::from_proto(&req.namespace_descriptor)?;
    CreateNamespace::check(call.services, &namespace)?;
    answer(call.submit(Box::new(CreateNamespace::new(&namespace)), req.nonce_group, req.nonce)?)
}

pub fn modify_namespace(
    call: &Call<'_>,
    req: pb::ModifyNamespaceRequest,
) -> Result<pb::ModifyNamespaceResponse, MasterError> {
    let answer = |id| Ok(pb::ModifyNamespaceResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let namespace = NamespaceDescriptor::from_proto(&req.namespace_descriptor)?;
    ModifyNamespace::check(call.services, &namespace)?;
    answer(call.submit(Box::new(ModifyNamespace::new(&namespace)), req.nonce_group, req.nonce)?)
}

pub fn delete_namespace(
    call: &Call<'_>,
    req: pb::DeleteNamespaceRequest,
) -> Result<pb::DeleteNamespaceResponse, MasterError> {
    let answer = |id| Ok(pb::DeleteNamespaceResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    DeleteNamespace::check(call.services, &req.namespace_name)?;
    answer(call.submit(Box::new(DeleteNamespace::new(&req.namespace_name)), req.nonce_group, req.nonce)?)
}

pub fn get_namespace_descriptor(
    call: &Call<'_>,
    req: pb::GetNamespaceDescriptorRequest,
) -> Result<pb::GetNamespaceDescriptorResponse, MasterError> {
    let namespace = call.services.namespaces.existing(&req.namespace_name)?;
    Ok(pb::GetNamespaceDescriptorResponse { namespace_descriptor: namespace.to_proto() })
}

pub fn list_namespace_descriptors(
    call: &Call<'_>,
    _: pb::ListNamespaceDescriptorsRequest,
) -> Result<pb::ListNamespaceDescriptorsResponse, MasterError> {
    let namespace_descriptor = call.services.namespaces.list().iter().map(NamespaceDescriptor::to_proto).collect();
    Ok(pb::ListNamespaceDescriptorsResponse { namespace_descriptor })
}

pub fn list_namespaces(
    call: &Call<'_>,
    _: pb::ListNamespacesRequest,
) -> Result<pb::ListNamespacesResponse, MasterError> {
    let namespace_name = call.services.namespaces.list().iter().map(|n| n.name().to_string()).collect();
    Ok(pb::ListNamespacesResponse { namespace_name })
}

pub fn list_table_descriptors(
    call: &Call<'_>,
    req: pb::ListTableDescriptorsByNamespaceRequest,
) -> Result<pb::ListTableDescriptorsByNamespaceResponse, MasterError> {
    call.services.namespaces.existing(&req.namespace_name)?;
    let tables = call.services.catalog.tables().into_iter();
    let inside = tables.filter(|t| t.name().namespace() == req.namespace_name);
    Ok(pb::ListTableDescriptorsByNamespaceResponse { table_schema: inside.map(|t| t.descriptor.to_proto()).collect() })
}

pub fn list_table_names(
    call: &Call<'_>,
    req: pb::ListTableNamesByNamespaceRequest,
) -> Result<pb::ListTableNamesByNamespaceResponse, MasterError> {
    call.services.namespaces.existing(&req.namespace_name)?;
    let tables = call.services.catalog.tables().into_iter();
    let inside = tables.filter(|t| t.name().namespace() == req.namespace_name);
    Ok(pb::ListTableNamesByNamespaceResponse { table_name: inside.map(|t| t.name().to_proto()).collect() })
}
