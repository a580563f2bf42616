//! Permissions of users, and what the cluster can do for security.

use super::Admin;
use crate::Error;
use bytes::Bytes;
use martite_catalog::TableName;
use martite_proto as pb;
use pb::permission::{Action, Type};

pub use pb::security_capabilities_response::Capability;

/// What a permission is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    Global,
    Namespace(String),
    /// A table, a family of it, a column of that.
    Table {
        table: TableName,
        family: Option<Bytes>,
        qualifier: Option<Bytes>,
    },
}

impl Scope {
    pub fn table(table: TableName) -> Scope {
        Scope::Table { table, family: None, qualifier: None }
    }

    /// The permission of these actions here.
    pub fn permission(&self, actions: &[Action]) -> pb::Permission {
        let action: Vec<i32> = actions.iter().map(|&action| action as i32).collect();
        let none = pb::Permission {
            r#type: Type::Global as i32,
            global_permission: None,
            namespace_permission: None,
            table_permission: None,
        };
        match self {
            Scope::Global => pb::Permission { global_permission: Some(pb::GlobalPermission { action }), ..none },
            Scope::Namespace(name) => {
                let namespace_name = Some(name.clone().into_bytes().into());
                let namespace_permission = Some(pb::NamespacePermission { namespace_name, action });
                pb::Permission { r#type: Type::Namespace as i32, namespace_permission, ..none }
            }
            Scope::Table { table, family, qualifier } => {
                let table_permission = Some(pb::TablePermission {
                    table_name: Some(table.to_proto()),
                    family: family.clone(),
                    qualifier: qualifier.clone(),
                    action,
                });
                pb::Permission { r#type: Type::Table as i32, table_permission, ..none }
            }
        }
    }
}

impl Admin {
    /// Gives a user permissions; `merge`: beside those that the user has.
    pub async fn grant(&self, user: &str, scope: &Scope, actions: &[Action], merge: bool) -> Result<(), Error> {
        let user_permission = user_permission(user, scope, actions);
        let request = pb::GrantRequest { user_permission, merge_existing_permissions: Some(merge) };
        let _: pb::GrantResponse = self.master("Grant", &request).await?;
        Ok(())
    }

    /// Takes actions from a user; all if none is named.
    pub async fn revoke(&self, user: &str, scope: &Scope, actions: &[Action]) -> Result<(), Error> {
        let request = pb::RevokeRequest { user_permission: user_permission(user, scope, actions) };
        let _: pb::RevokeResponse = self.master("Revoke", &request).await?;
        Ok(())
    }

    /// The permissions here, of one user or of all.
    pub async fn user_permissions(&self, user: Option<&str>, scope: &Scope) -> Result<Vec<pb::UserPermission>, Error> {
        let user_name = user.map(|user| user.as_bytes().to_vec().into());
        let mut request = pb::GetUserPermissionsRequest { user_name, ..Default::default() };
        match scope {
            Scope::Global => request.r#type = Some(Type::Global as i32),
            Scope::Namespace(name) => {
                request.r#type = Some(Type::Namespace as i32);
                request.namespace_name = Some(name.clone().into_bytes().into());
            }
            Scope::Table { table, family, qualifier } => {
                request.r#type = Some(Type::Table as i32);
                request.table_name = Some(table.to_proto());
                request.column_family = family.clone();
                request.column_qualifier = qualifier.clone();
            }
        }
        let answer: pb::GetUserPermissionsResponse = self.master("GetUserPermissions", &request).await?;
        Ok(answer.user_permission)
    }

    /// Whether a user, or who asks, has each of the permissions.
    pub async fn has_permissions(
        &self,
        user: Option<&str>,
        permissions: &[pb::Permission],
    ) -> Result<Vec<bool>, Error> {
        let user_name = user.map(|user| user.as_bytes().to_vec().into());
        let request = pb::HasUserPermissionsRequest { user_name, permission: permissions.to_vec() };
        let answer: pb::HasUserPermissionsResponse = self.master("HasUserPermissions", &request).await?;
        Ok(answer.has_user_permission)
    }

    pub async fn security_capabilities(&self) -> Result<Vec<Capability>, Error> {
        let answer: pb::SecurityCapabilitiesResponse =
            self.master("getSecurityCapabilities", &pb::SecurityCapabilitiesRequest {}).await?;
        let known = |code: &i32| Capability::try_from(*code).ok();
        Ok(answer.capabilities.iter().filter_map(known).collect())
    }
}

fn user_permission(user: &str, scope: &Scope, actions: &[Action]) -> pb::UserPermission {
    pb::UserPermission { user: user.as_bytes().to_vec().into(), permission: scope.permission(actions) }
}
