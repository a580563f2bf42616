//! Tables: made, changed, enabled, disabled, truncated, deleted, described and listed.

use super::{Admin, Pending};
use crate::Error;
use bytes::Bytes;
use martite_catalog::{FamilyDescriptor, TableDescriptor, TableName, TableState};
use martite_proto as pb;

impl Admin {
    /// Makes a table of `splits.len() + 1` regions, and waits until it can be used.
    pub async fn create_table(&self, table: &TableDescriptor, splits: &[&[u8]]) -> Result<(), Error> {
        self.create_table_async(table, splits).await?.wait().await
    }

    /// As [`Admin::create_table`], without the waiting.
    pub async fn create_table_async(&self, table: &TableDescriptor, splits: &[&[u8]]) -> Result<Pending, Error> {
        let (nonce_group, nonce) = self.nonce();
        let request = pb::CreateTableRequest {
            table_schema: table.to_proto(),
            split_keys: splits.iter().map(|s| Bytes::copy_from_slice(s)).collect(),
            nonce_group,
            nonce,
        };
        let answer: pb::CreateTableResponse = self.master("CreateTable", &request).await?;
        Ok(self.pending(answer.proc_id))
    }

    /// Replaces a table's descriptor; its regions are opened anew, one after the other.
    pub async fn modify_table(&self, table: &TableDescriptor) -> Result<(), Error> {
        self.modify_table_async(table, true).await?.wait().await
    }

    /// `reopen_regions`: false leaves the change to the next time that a region opens; only for changes that need no
    /// more than that.
    pub async fn modify_table_async(&self, table: &TableDescriptor, reopen_regions: bool) -> Result<Pending, Error> {
        let (nonce_group, nonce) = self.nonce();
        let request = pb::ModifyTableRequest {
            table_name: table.name().to_proto(),
            table_schema: table.to_proto(),
            nonce_group,
            nonce,
            reopen_regions: Some(reopen_regions),
        };
        let answer: pb::ModifyTableResponse = self.master("ModifyTable", &request).await?;
        Ok(self.pending(answer.proc_id))
    }

    /// Deletes a table that is disabled, with all that is in it.
    pub async fn delete_table(&self, table: &TableName) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let request = pb::DeleteTableRequest { table_name: table.to_proto(), nonce_group, nonce };
        let answer: pb::DeleteTableResponse = self.master("DeleteTable", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    /// Empties a table that is disabled; `preserve_splits`: it keeps its regions' keys.
    pub async fn truncate_table(&self, table: &TableName, preserve_splits: bool) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let preserve_splits = Some(preserve_splits);
        let request = pb::TruncateTableRequest { table_name: table.to_proto(), preserve_splits, nonce_group, nonce };
        let answer: pb::TruncateTableResponse = self.master("truncateTable", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    pub async fn enable_table(&self, table: &TableName) -> Result<(), Error> {
        self.enable_table_async(table).await?.wait().await
    }

    pub async fn enable_table_async(&self, table: &TableName) -> Result<Pending, Error> {
        let (nonce_group, nonce) = self.nonce();
        let request = pb::EnableTableRequest { table_name: table.to_proto(), nonce_group, nonce };
        let answer: pb::EnableTableResponse = self.master("EnableTable", &request).await?;
        Ok(self.pending(answer.proc_id))
    }

    pub async fn disable_table(&self, table: &TableName) -> Result<(), Error> {
        self.disable_table_async(table).await?.wait().await
    }

    pub async fn disable_table_async(&self, table: &TableName) -> Result<Pending, Error> {
        let (nonce_group, nonce) = self.nonce();
        let request = pb::DisableTableRequest { table_name: table.to_proto(), nonce_group, nonce };
        let answer: pb::DisableTableResponse = self.master("DisableTable", &request).await?;
        Ok(self.pending(answer.proc_id))
    }

    pub async fn add_family(&self, table: &TableName, family: &FamilyDescriptor) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let (table_name, column_families) = (table.to_proto(), family.to_proto());
        let request = pb::AddColumnRequest { table_name, column_families, nonce_group, nonce };
        let answer: pb::AddColumnResponse = self.master("AddColumn", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    pub async fn modify_family(&self, table: &TableName, family: &FamilyDescriptor) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let (table_name, column_families) = (table.to_proto(), family.to_proto());
        let request = pb::ModifyColumnRequest { table_name, column_families, nonce_group, nonce };
        let answer: pb::ModifyColumnResponse = self.master("ModifyColumn", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    pub async fn delete_family(&self, table: &TableName, family: &[u8]) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let column_name = Bytes::copy_from_slice(family);
        let request = pb::DeleteColumnRequest { table_name: table.to_proto(), column_name, nonce_group, nonce };
        let answer: pb::DeleteColumnResponse = self.master("DeleteColumn", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    /// Changes how a table's store files are tracked: DEFAULT, FILE or MIGRATION.
    pub async fn modify_table_file_tracker(&self, table: &TableName, tracker: &str) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let (table_name, dst_sft) = (table.to_proto(), tracker.to_owned());
        let request = pb::ModifyTableStoreFileTrackerRequest { table_name, dst_sft, nonce_group, nonce };
        let answer: pb::ModifyTableStoreFileTrackerResponse =
            self.master("ModifyTableStoreFileTracker", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    /// The same of one family.
    pub async fn modify_family_file_tracker(
        &self,
        table: &TableName,
        family: &[u8],
        tracker: &str,
    ) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let request = pb::ModifyColumnStoreFileTrackerRequest {
            table_name: table.to_proto(),
            family: Bytes::copy_from_slice(family),
            dst_sft: tracker.to_owned(),
            nonce_group,
            nonce,
        };
        let answer: pb::ModifyColumnStoreFileTrackerResponse =
            self.master("ModifyColumnStoreFileTracker", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    /// Whether a table is there, enabled or not.
    pub async fn table_exists(&self, table: &TableName) -> Result<bool, Error> {
        match self.table_descriptor(table).await {
            Ok(_) => Ok(true),
            Err(Error::TableNotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub async fn table_state(&self, table: &TableName) -> Result<TableState, Error> {
        let request = pb::GetTableStateRequest { table_name: table.to_proto() };
        let answer: Result<pb::GetTableStateResponse, Error> = self.master("GetTableState", &request).await;
        let code = match answer {
            Ok(answer) => answer.table_state.state,
            Err(error) if error.is("TableNotFoundException") || error.is("TableStateNotFoundException") => {
                return Err(Error::TableNotFound(table.clone()));
            }
            Err(error) => return Err(error),
        };
        TableState::from_code(code).ok_or_else(|| Error::Malformed(format!("{table} has the unknown state {code}")))
    }

    pub async fn is_table_enabled(&self, table: &TableName) -> Result<bool, Error> {
        Ok(self.table_state(table).await? == TableState::Enabled)
    }

    pub async fn is_table_disabled(&self, table: &TableName) -> Result<bool, Error> {
        Ok(self.table_state(table).await? == TableState::Disabled)
    }

    /// [`Error::TableNotFound`]: there is no such table.
    pub async fn table_descriptor(&self, table: &TableName) -> Result<TableDescriptor, Error> {
        let request = pb::GetTableDescriptorsRequest {
            table_names: vec![table.to_proto()],
            include_sys_tables: Some(true),
            ..Default::default()
        };
        let found = self.descriptors(&request).await?;
        found.into_iter().next().ok_or_else(|| Error::TableNotFound(table.clone()))
    }

    /// The descriptors of those of `tables` that are there.
    pub async fn table_descriptors_of(&self, tables: &[TableName]) -> Result<Vec<TableDescriptor>, Error> {
        let table_names = tables.iter().map(TableName::to_proto).collect();
        let request =
            pb::GetTableDescriptorsRequest { table_names, include_sys_tables: Some(true), ..Default::default() };
        self.descriptors(&request).await
    }

    /// The descriptors of all users' tables.
    pub async fn table_descriptors(&self) -> Result<Vec<TableDescriptor>, Error> {
        self.descriptors(&pb::GetTableDescriptorsRequest::default()).await
    }

    /// The descriptors of tables whose names match a Java regular expression; `system`: also HBase's own.
    pub async fn table_descriptors_matching(&self, regex: &str, system: bool) -> Result<Vec<TableDescriptor>, Error> {
        let regex = Some(regex.to_owned());
        let request = pb::GetTableDescriptorsRequest { regex, include_sys_tables: Some(system), ..Default::default() };
        self.descriptors(&request).await
    }

    pub async fn table_descriptors_by_state(&self, enabled: bool) -> Result<Vec<TableDescriptor>, Error> {
        let request = pb::ListTableDescriptorsByStateRequest { is_enabled: enabled };
        let answer: pb::ListTableDescriptorsByStateResponse =
            self.master("ListTableDescriptorsByState", &request).await?;
        decoded(&answer.table_schema)
    }

    pub async fn table_descriptors_of_namespace(&self, namespace: &str) -> Result<Vec<TableDescriptor>, Error> {
        let request = pb::ListTableDescriptorsByNamespaceRequest { namespace_name: namespace.to_owned() };
        let answer: pb::ListTableDescriptorsByNamespaceResponse =
            self.master("ListTableDescriptorsByNamespace", &request).await?;
        decoded(&answer.table_schema)
    }

    async fn descriptors(&self, request: &pb::GetTableDescriptorsRequest) -> Result<Vec<TableDescriptor>, Error> {
        let answer: pb::GetTableDescriptorsResponse = self.master("GetTableDescriptors", request).await?;
        decoded(&answer.table_schema)
    }

    /// The names of all users' tables.
    pub async fn table_names(&self) -> Result<Vec<TableName>, Error> {
        self.names(&pb::GetTableNamesRequest::default()).await
    }

    /// The names that match a Java regular expression; `system`: also those of HBase's own tables.
    pub async fn table_names_matching(&self, regex: &str, system: bool) -> Result<Vec<TableName>, Error> {
        let regex = Some(regex.to_owned());
        let request = pb::GetTableNamesRequest { regex, include_sys_tables: Some(system), ..Default::default() };
        self.names(&request).await
    }

    pub async fn table_names_by_state(&self, enabled: bool) -> Result<Vec<TableName>, Error> {
        let request = pb::ListTableNamesByStateRequest { is_enabled: enabled };
        let answer: pb::ListTableNamesByStateResponse = self.master("ListTableNamesByState", &request).await?;
        names(&answer.table_names)
    }

    pub async fn table_names_of_namespace(&self, namespace: &str) -> Result<Vec<TableName>, Error> {
        let request = pb::ListTableNamesByNamespaceRequest { namespace_name: namespace.to_owned() };
        let answer: pb::ListTableNamesByNamespaceResponse = self.master("ListTableNamesByNamespace", &request).await?;
        names(&answer.table_name)
    }

    async fn names(&self, request: &pb::GetTableNamesRequest) -> Result<Vec<TableName>, Error> {
        let answer: pb::GetTableNamesResponse = self.master("GetTableNames", request).await?;
        names(&answer.table_names)
    }
}

fn decoded(schemas: &[pb::TableSchema]) -> Result<Vec<TableDescriptor>, Error> {
    schemas.iter().map(|schema| Ok(TableDescriptor::from_proto(schema)?)).collect()
}

pub(super) fn names(names: &[pb::TableName]) -> Result<Vec<TableName>, Error> {
    names.iter().map(|name| Ok(TableName::from_proto(name)?)).collect()
}
