//! HbckService: what repairs a cluster. Each of these can damage a sound one.

use super::{Admin, by_encoded_name};
use crate::Error;
use martite_catalog::meta_row::RegionState;
use martite_catalog::{ServerName, TableName, TableState};
use martite_proto as pb;

const HBCK: &str = "HbckService";

impl Admin {
    async fn hbck<A: pb::Message + Default>(
        &self,
        method: &'static str,
        request: &impl pb::Message,
    ) -> Result<A, Error> {
        self.connection.master_call(HBCK, method, request).await
    }

    /// The master compares what it knows with hbase:meta and the files, now.
    pub async fn run_hbck_chore(&self) -> Result<bool, Error> {
        let answer: pb::RunHbckChoreResponse = self.hbck("RunHbckChore", &pb::RunHbckChoreRequest {}).await?;
        Ok(answer.ran)
    }

    /// Writes a table's state into hbase:meta, and does nothing else; answers the one before.
    pub async fn set_table_state_in_meta(&self, table: &TableName, state: TableState) -> Result<TableState, Error> {
        let request = pb::SetTableStateInMetaRequest { table_name: table.to_proto(), table_state: state.to_proto() };
        let answer: pb::GetTableStateResponse = self.hbck("SetTableStateInMeta", &request).await?;
        let code = answer.table_state.state;
        TableState::from_code(code).ok_or_else(|| Error::Malformed(format!("{table} had the unknown state {code}")))
    }

    /// Writes a region's state into hbase:meta, and does nothing else; answers the one before, or None if it was the same.
    pub async fn set_region_state_in_meta(
        &self,
        encoded_name: &str,
        state: RegionState,
    ) -> Result<Option<RegionState>, Error> {
        let state =
            pb::RegionSpecifierAndState { region_specifier: by_encoded_name(encoded_name), state: state.code() };
        let request = pb::SetRegionStateInMetaRequest { states: vec![state] };
        let answer: pb::SetRegionStateInMetaResponse = self.hbck("SetRegionStateInMeta", &request).await?;
        Ok(answer.states.first().and_then(|before| RegionState::from_code(before.state)))
    }

    /// Assigns regions whatever their state; answers the procedures, or none where nothing could be done. Of regions that
    /// the master does not know it answers nothing.
    pub async fn hbck_assigns(&self, encoded_names: &[String], force: bool) -> Result<Vec<Option<u64>>, Error> {
        let region = encoded_names.iter().map(|name| by_encoded_name(name)).collect();
        let request = pb::AssignsRequest { region, r#override: Some(force) };
        let answer: pb::AssignsResponse = self.hbck("Assigns", &request).await?;
        Ok(ids(answer.pid))
    }

    pub async fn hbck_unassigns(&self, encoded_names: &[String], force: bool) -> Result<Vec<Option<u64>>, Error> {
        let region = encoded_names.iter().map(|name| by_encoded_name(name)).collect();
        let request = pb::UnassignsRequest { region, r#override: Some(force) };
        let answer: pb::UnassignsResponse = self.hbck("Unassigns", &request).await?;
        Ok(ids(answer.pid))
    }

    /// Lets procedures end without doing the rest of their work; answers for which that was possible.
    pub async fn bypass_procedures(
        &self,
        ids: &[u64],
        wait_ms: u64,
        force: bool,
        recursive: bool,
    ) -> Result<Vec<bool>, Error> {
        let request = pb::BypassProcedureRequest {
            proc_id: ids.to_vec(),
            wait_time: Some(wait_ms),
            r#override: Some(force),
            recursive: Some(recursive),
        };
        let answer: pb::BypassProcedureResponse = self.hbck("BypassProcedure", &request).await?;
        Ok(answer.bypassed)
    }

    /// Treats servers as crashed.
    pub async fn schedule_server_crash(&self, servers: &[ServerName]) -> Result<Vec<Option<u64>>, Error> {
        let request = pb::ScheduleServerCrashProcedureRequest { server_name: super::cluster::protos(servers) };
        let answer: pb::ScheduleServerCrashProcedureResponse =
            self.hbck("ScheduleServerCrashProcedure", &request).await?;
        Ok(ids(answer.pid))
    }

    /// The same with all servers that hbase:meta names and nobody knows.
    pub async fn schedule_crash_of_unknown_servers(&self) -> Result<Vec<Option<u64>>, Error> {
        let request = pb::ScheduleScPsForUnknownServersRequest {};
        let answer: pb::ScheduleScPsForUnknownServersResponse =
            self.hbck("ScheduleSCPsForUnknownServers", &request).await?;
        Ok(ids(answer.pid))
    }

    /// Mends holes and overlaps in hbase:meta.
    pub async fn fix_meta(&self) -> Result<(), Error> {
        let _: pb::FixMetaResponse = self.hbck("FixMeta", &pb::FixMetaRequest {}).await?;
        Ok(())
    }
}

/// −1 says that there is none.
fn ids(pids: Vec<u64>) -> Vec<Option<u64>> {
    pids.into_iter().map(|pid| (pid != u64::MAX).then_some(pid)).collect()
}
