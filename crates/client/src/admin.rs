//! [`Admin`]: DDL that waits for its procedure; flush, compact, split.

use crate::Error;
use bytes::Bytes;
use martite_catalog::{RegionInfo, TableDescriptor, TableName};
use martite_proto as pb;
use martite_rpc::client::{Client, ClientError, ClientOptions};
use pb::get_procedure_result_response::State;
use std::net::SocketAddr;
use std::time::Duration;

/// Connections to the master and to one region server's AdminService.
#[derive(Debug)]
pub struct Admin {
    master: Client,
    regions: Client,
}

impl Admin {
    pub async fn connect(master: SocketAddr, regionserver: SocketAddr) -> Result<Admin, Error> {
        Ok(Admin {
            master: Client::connect(master, &ClientOptions::new("MasterService")).await?,
            regions: Client::connect(regionserver, &ClientOptions::new("AdminService")).await?,
        })
    }

    pub async fn create_table(&self, table: &TableDescriptor, splits: &[&[u8]]) -> Result<(), Error> {
        let request = pb::CreateTableRequest {
            table_schema: table.to_proto(),
            split_keys: splits.iter().map(|s| Bytes::copy_from_slice(s)).collect(),
            ..Default::default()
        };
        let answer: pb::CreateTableResponse = self.master.call("CreateTable", &request, &[]).await?.decode()?;
        self.wait(answer.proc_id).await
    }

    pub async fn disable_table(&self, table: &TableName) -> Result<(), Error> {
        let request = pb::DisableTableRequest { table_name: table.to_proto(), ..Default::default() };
        let answer: pb::DisableTableResponse = self.master.call("DisableTable", &request, &[]).await?.decode()?;
        self.wait(answer.proc_id).await
    }

    pub async fn delete_table(&self, table: &TableName) -> Result<(), Error> {
        let request = pb::DeleteTableRequest { table_name: table.to_proto(), ..Default::default() };
        let answer: pb::DeleteTableResponse = self.master.call("DeleteTable", &request, &[]).await?.decode()?;
        self.wait(answer.proc_id).await
    }

    pub async fn table_names(&self) -> Result<Vec<TableName>, Error> {
        let answer: pb::GetTableNamesResponse =
            self.master.call("GetTableNames", &pb::GetTableNamesRequest::default(), &[]).await?.decode()?;
        answer.table_names.iter().map(|t| Ok(TableName::from_proto(t)?)).collect()
    }

    /// Flushes every region of a table.
    pub async fn flush_table(&self, table: &TableName) -> Result<(), Error> {
        let request = pb::FlushTableRequest { table_name: table.to_proto(), ..Default::default() };
        let answer: pb::FlushTableResponse = self.master.call("FlushTable", &request, &[]).await?.decode()?;
        self.wait(answer.proc_id).await
    }

    pub async fn split_region(&self, info: &RegionInfo) -> Result<(), Error> {
        let request = pb::SplitTableRegionRequest { region_info: info.to_proto(), ..Default::default() };
        let answer: pb::SplitTableRegionResponse = self.master.call("SplitRegion", &request, &[]).await?.decode()?;
        self.wait(answer.proc_id).await
    }

    pub async fn flush_region(&self, info: &RegionInfo) -> Result<(), Error> {
        let request = pb::FlushRegionRequest { region: by_name(info), ..Default::default() };
        self.regions.call("FlushRegion", &request, &[]).await?;
        Ok(())
    }

    pub async fn compact_region(&self, info: &RegionInfo, major: bool) -> Result<(), Error> {
        let request = pb::CompactRegionRequest { region: by_name(info), major: Some(major), ..Default::default() };
        self.regions.call("CompactRegion", &request, &[]).await?;
        Ok(())
    }

    /// Whether a region is being compacted, or waits for it.
    pub async fn is_compacting(&self, info: &RegionInfo) -> Result<bool, Error> {
        let request =
            pb::GetRegionInfoRequest { region: by_name(info), compaction_state: Some(true), ..Default::default() };
        let answer: pb::GetRegionInfoResponse = self.regions.call("GetRegionInfo", &request, &[]).await?.decode()?;
        Ok(answer.compaction_state() != pb::get_region_info_response::CompactionState::None)
    }

    /// Polls a procedure of the master until it has ended.
    async fn wait(&self, proc_id: Option<u64>) -> Result<(), Error> {
        let proc_id = proc_id.ok_or_else(|| Error::Unknown("no procedure id".to_owned()))?;
        loop {
            let request = pb::GetProcedureResultRequest { proc_id };
            let answer: pb::GetProcedureResultResponse =
                self.master.call("getProcedureResult", &request, &[]).await?.decode()?;
            match State::try_from(answer.state) {
                Ok(State::Running) => tokio::time::sleep(Duration::from_millis(2)).await,
                _ => {
                    let failure = answer.exception.and_then(|e| e.generic_exception);
                    return match failure {
                        None => Ok(()),
                        Some(e) => Err(ClientError::Remote {
                            class: e.class_name.unwrap_or_default(),
                            text: e.message.unwrap_or_default(),
                            do_not_retry: true,
                            overloaded: false,
                            moved_to: None,
                        }
                        .into()),
                    };
                }
            }
        }
    }
}

/// A region as requests name it.
pub fn by_name(info: &RegionInfo) -> pb::RegionSpecifier {
    pb::RegionSpecifier {
        r#type: pb::region_specifier::RegionSpecifierType::RegionName as i32,
        value: info.name().clone(),
    }
}
