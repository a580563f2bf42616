//! Memstores flushed, store files compacted.

use super::{Admin, HeldRegion, by_name};
use crate::Error;
use bytes::Bytes;
use martite_catalog::{RegionInfo, ServerName, TableName};
use martite_proto as pb;
use std::time::Duration;

pub use pb::get_region_info_response::CompactionState;

/// Signature of the procedure by which servers before 2.6 flush tables.
const FLUSH_PROCEDURE: &str = "flush-table-proc";
/// How often it is looked whether that procedure has ended.
const LOOK: Duration = Duration::from_millis(100);

impl Admin {
    /// Flushes every region of a table.
    pub async fn flush_table(&self, table: &TableName) -> Result<(), Error> {
        self.flush_families(table, &[]).await
    }

    /// Flushes these families of every region of a table; none: all.
    pub async fn flush_families(&self, table: &TableName, families: &[&[u8]]) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let column_family = families.iter().map(|family| Bytes::copy_from_slice(family)).collect();
        let request = pb::FlushTableRequest { table_name: table.to_proto(), column_family, nonce_group, nonce };
        let answer: Result<pb::FlushTableResponse, Error> = self.master("FlushTable", &request).await;
        match answer {
            Ok(answer) => self.pending(answer.proc_id).wait().await,
            Err(error) if is_unknown_method(&error) => self.flush_by_signature(table, families).await,
            Err(error) => Err(error),
        }
    }

    /// As servers know it that have no FlushTable.
    async fn flush_by_signature(&self, table: &TableName, families: &[&[u8]]) -> Result<(), Error> {
        let names: Vec<_> = families.iter().map(|family| String::from_utf8_lossy(family)).collect();
        let names = names.join(",");
        let settings: &[(&str, &str)] = if families.is_empty() { &[] } else { &[("family", &names)] };
        let timeout_ms = self.exec_procedure(FLUSH_PROCEDURE, table.as_str(), settings).await?;
        let looks = u128::try_from(timeout_ms).unwrap_or(0) / LOOK.as_millis() + 1;
        for _ in 0..looks {
            if self.is_procedure_done(FLUSH_PROCEDURE, table.as_str(), settings).await? {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
        Err(Error::Unknown(format!("the flush of {table} has not ended within {timeout_ms} ms")))
    }

    pub async fn flush_region(&self, region: &RegionInfo) -> Result<(), Error> {
        self.flush_region_family(region, None).await
    }

    pub async fn flush_region_family(&self, region: &RegionInfo, family: Option<&[u8]>) -> Result<(), Error> {
        let family = family.map(Bytes::copy_from_slice);
        let request = pb::FlushRegionRequest { region: by_name(region), family, ..Default::default() };
        let _: pb::FlushRegionResponse = self.region_call(region, "FlushRegion", &request).await?;
        Ok(())
    }

    /// Flushes all regions of a server.
    pub async fn flush_server(&self, server: &ServerName) -> Result<(), Error> {
        for region in self.regions_on(server).await? {
            let request = pb::FlushRegionRequest { region: by_name(&region), ..Default::default() };
            let _: pb::FlushRegionResponse = self.server(server, "FlushRegion", &request).await?;
        }
        Ok(())
    }

    /// Asks for a compaction of every region of a table, of one family or of all; does not wait for it.
    pub async fn compact_table(&self, table: &TableName, family: Option<&[u8]>, major: bool) -> Result<(), Error> {
        for (server, regions) in self.regions_by_server(table).await? {
            for region in regions {
                self.compact_on(&server, &region, family, major).await?;
            }
        }
        Ok(())
    }

    pub async fn compact_region(&self, region: &RegionInfo, major: bool) -> Result<(), Error> {
        self.compact_region_family(region, None, major).await
    }

    pub async fn compact_region_family(
        &self,
        region: &RegionInfo,
        family: Option<&[u8]>,
        major: bool,
    ) -> Result<(), Error> {
        let family = family.map(Bytes::copy_from_slice);
        let request = pb::CompactRegionRequest { region: by_name(region), major: Some(major), family };
        let _: pb::CompactRegionResponse = self.region_call(region, "CompactRegion", &request).await?;
        Ok(())
    }

    /// Asks for a compaction of all regions of a server.
    pub async fn compact_server(&self, server: &ServerName, major: bool) -> Result<(), Error> {
        for region in self.regions_on(server).await? {
            self.compact_on(server, &region, None, major).await?;
        }
        Ok(())
    }

    async fn compact_on(
        &self,
        server: &ServerName,
        region: &RegionInfo,
        family: Option<&[u8]>,
        major: bool,
    ) -> Result<(), Error> {
        let family = family.map(Bytes::copy_from_slice);
        let request = pb::CompactRegionRequest { region: by_name(region), major: Some(major), family };
        let _: pb::CompactRegionResponse = self.server(server, "CompactRegion", &request).await?;
        Ok(())
    }

    /// Whether a region is being compacted, or waits for it.
    pub async fn is_compacting(&self, region: &RegionInfo) -> Result<bool, Error> {
        let request =
            pb::GetRegionInfoRequest { region: by_name(region), compaction_state: Some(true), ..Default::default() };
        let answer: pb::GetRegionInfoResponse = self.region_call(region, "GetRegionInfo", &request).await?;
        Ok(answer.compaction_state() != CompactionState::None)
    }

    /// What kinds of compactions the regions of a table are at.
    pub async fn compaction_state(&self, table: &TableName) -> Result<CompactionState, Error> {
        let mut state = CompactionState::None;
        for (server, regions) in self.regions_by_server(table).await? {
            for info in regions {
                let region = HeldRegion { info, server: Some(server.clone()), state: None };
                state = both(state, self.region_info(&region, false).await?.compaction_state());
            }
        }
        Ok(state)
    }

    /// Switches compactions on servers on or off, on all if none is named; answers what it was before on each.
    pub async fn compaction_switch(&self, on: bool, servers: &[ServerName]) -> Result<Vec<(ServerName, bool)>, Error> {
        let all = if servers.is_empty() { self.region_servers().await? } else { servers.to_vec() };
        let mut before = Vec::with_capacity(all.len());
        for server in all {
            let request = pb::CompactionSwitchRequest { enabled: on };
            let answer: pb::CompactionSwitchResponse = self.server(&server, "CompactionSwitch", &request).await?;
            before.push((server, answer.prev_state));
        }
        Ok(before)
    }

    /// When the oldest file of a table was compacted last, in milliseconds; 0: it never was.
    pub async fn last_major_compaction_ms(&self, table: &TableName) -> Result<i64, Error> {
        let request = pb::MajorCompactionTimestampRequest { table_name: table.to_proto() };
        let answer: pb::MajorCompactionTimestampResponse =
            self.master("getLastMajorCompactionTimestamp", &request).await?;
        Ok(answer.compaction_timestamp)
    }

    /// The same of one region.
    pub async fn last_major_compaction_of_region_ms(&self, region: &RegionInfo) -> Result<i64, Error> {
        let request = pb::MajorCompactionTimestampForRegionRequest { region: by_name(region) };
        let answer: pb::MajorCompactionTimestampResponse =
            self.master("getLastMajorCompactionTimestampForRegion", &request).await?;
        Ok(answer.compaction_timestamp)
    }
}

/// Whether the server does not know what it was asked.
fn is_unknown_method(error: &Error) -> bool {
    error.is("UnsupportedOperationException")
        || error
            .exception()
            .is_some_and(|e| e.simple_class() == "DoNotRetryIOException" && e.text.contains("FlushTable"))
}

fn both(a: CompactionState, b: CompactionState) -> CompactionState {
    use CompactionState::{Major, MajorAndMinor, Minor, None};
    match (a, b) {
        (None, state) | (state, None) => state,
        (Minor, Minor) => Minor,
        (Major, Major) => Major,
        _ => MajorAndMinor,
    }
}
