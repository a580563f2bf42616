//! [`Admin`]: DDL that waits for its procedure; flush, compact, split.

use crate::locations::specifier;
use crate::{Connection, Error, Exception, Options, Registry};
use bytes::Bytes;
use martite_catalog::{RegionInfo, ServerName, TableDescriptor, TableName};
use martite_proto as pb;
use martite_proto::Message;
use pb::get_procedure_result_response::State;
use std::net::SocketAddr;
use std::time::Duration;

pub use crate::locations::specifier as by_name;

/// What administrators do. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Admin {
    connection: Connection,
}

impl Admin {
    pub(crate) fn new(connection: Connection) -> Admin {
        Admin { connection }
    }

    /// For a cluster of these two servers; nothing is tried a second time.
    pub async fn connect(master: SocketAddr, regionserver: SocketAddr) -> Result<Admin, Error> {
        let registry = Registry::rpc(&format!("{master},{regionserver}"));
        Ok(Connection::connect(Options::new(registry).retries(0)).await?.admin())
    }

    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    async fn master<Q: Message, A: Message + Default>(&self, method: &'static str, request: &Q) -> Result<A, Error> {
        self.connection.master_call("MasterService", method, request).await
    }

    pub async fn create_table(&self, table: &TableDescriptor, splits: &[&[u8]]) -> Result<(), Error> {
        let request = pb::CreateTableRequest {
            table_schema: table.to_proto(),
            split_keys: splits.iter().map(|s| Bytes::copy_from_slice(s)).collect(),
            nonce_group: Some(self.connection.0.nonce_group),
            nonce: self.connection.nonce(),
        };
        let answer: pb::CreateTableResponse = self.master("CreateTable", &request).await?;
        self.wait(answer.proc_id).await
    }

    pub async fn disable_table(&self, table: &TableName) -> Result<(), Error> {
        let request = pb::DisableTableRequest {
            table_name: table.to_proto(),
            nonce_group: Some(self.connection.0.nonce_group),
            nonce: self.connection.nonce(),
        };
        let answer: pb::DisableTableResponse = self.master("DisableTable", &request).await?;
        self.wait(answer.proc_id).await
    }

    pub async fn delete_table(&self, table: &TableName) -> Result<(), Error> {
        let request = pb::DeleteTableRequest {
            table_name: table.to_proto(),
            nonce_group: Some(self.connection.0.nonce_group),
            nonce: self.connection.nonce(),
        };
        let answer: pb::DeleteTableResponse = self.master("DeleteTable", &request).await?;
        self.wait(answer.proc_id).await
    }

    pub async fn table_names(&self) -> Result<Vec<TableName>, Error> {
        let answer: pb::GetTableNamesResponse =
            self.master("GetTableNames", &pb::GetTableNamesRequest::default()).await?;
        answer.table_names.iter().map(|t| Ok(TableName::from_proto(t)?)).collect()
    }

    /// Flushes every region of a table.
    pub async fn flush_table(&self, table: &TableName) -> Result<(), Error> {
        let request = pb::FlushTableRequest {
            table_name: table.to_proto(),
            nonce_group: Some(self.connection.0.nonce_group),
            nonce: self.connection.nonce(),
            ..Default::default()
        };
        let answer: pb::FlushTableResponse = self.master("FlushTable", &request).await?;
        self.wait(answer.proc_id).await
    }

    pub async fn split_region(&self, info: &RegionInfo) -> Result<(), Error> {
        let request = pb::SplitTableRegionRequest {
            region_info: info.to_proto(),
            split_row: None,
            nonce_group: Some(self.connection.0.nonce_group),
            nonce: self.connection.nonce(),
        };
        let answer: pb::SplitTableRegionResponse = self.master("SplitRegion", &request).await?;
        self.wait(answer.proc_id).await
    }

    pub async fn flush_region(&self, info: &RegionInfo) -> Result<(), Error> {
        let request = pb::FlushRegionRequest { region: specifier(info), ..Default::default() };
        let _: pb::FlushRegionResponse = self.of_region(info, "FlushRegion", &request).await?;
        Ok(())
    }

    pub async fn compact_region(&self, info: &RegionInfo, major: bool) -> Result<(), Error> {
        let request = pb::CompactRegionRequest { region: specifier(info), major: Some(major), ..Default::default() };
        let _: pb::CompactRegionResponse = self.of_region(info, "CompactRegion", &request).await?;
        Ok(())
    }

    /// Whether a region is being compacted, or waits for it.
    pub async fn is_compacting(&self, info: &RegionInfo) -> Result<bool, Error> {
        let request =
            pb::GetRegionInfoRequest { region: specifier(info), compaction_state: Some(true), ..Default::default() };
        let answer: pb::GetRegionInfoResponse = self.of_region(info, "GetRegionInfo", &request).await?;
        Ok(answer.compaction_state() != pb::get_region_info_response::CompactionState::None)
    }

    /// Calls AdminService on the server that has a region.
    async fn of_region<Q: Message, A: Message + Default>(
        &self,
        info: &RegionInfo,
        method: &'static str,
        request: &Q,
    ) -> Result<A, Error> {
        let table = self.connection.table(info.table().clone());
        let server: ServerName = table.locate(info.start_key()).await?.server;
        let answer = self.connection.server_call(&server, "AdminService", method, request).await;
        if answer.is_err() {
            table.forget_locations();
        }
        answer
    }

    /// Polls a procedure of the master until it has ended.
    async fn wait(&self, proc_id: Option<u64>) -> Result<(), Error> {
        let proc_id = proc_id.ok_or_else(|| Error::Unknown("no procedure id".to_owned()))?;
        let mut pause = Duration::from_millis(2);
        loop {
            let request = pb::GetProcedureResultRequest { proc_id };
            let answer: pb::GetProcedureResultResponse = self.master("getProcedureResult", &request).await?;
            if !matches!(State::try_from(answer.state), Ok(State::Running)) {
                let failure = answer.exception.and_then(|e| e.generic_exception);
                return match failure {
                    None => Ok(()),
                    Some(e) => Err(Exception {
                        class: e.class_name.unwrap_or_default(),
                        text: e.message.unwrap_or_default(),
                        do_not_retry: true,
                        overloaded: false,
                        moved_to: None,
                        server: None,
                    }
                    .into()),
                };
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    }
}
