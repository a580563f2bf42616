//! Regions: found, moved, assigned, split, merged, truncated.

use super::{Admin, Pending, by_encoded_name, by_name};
use crate::{Error, Scan};
use bytes::Bytes;
use martite_catalog::meta_row::{self, MetaRow, RegionState};
use martite_catalog::region_info::{has_encoded_name, parse_region_name};
use martite_catalog::{RegionInfo, ServerName, TableName, to_string_binary};
use martite_proto as pb;

/// A region, where it is, and in which state, as hbase:meta has it.
#[derive(Debug, Clone)]
pub struct HeldRegion {
    pub info: RegionInfo,
    /// None: it is open nowhere.
    pub server: Option<ServerName>,
    pub state: Option<RegionState>,
}

impl HeldRegion {
    /// The server that has the region open.
    pub fn opened_on(&self) -> Result<&ServerName, Error> {
        let name = self.info.name_string();
        self.server.as_ref().ok_or_else(|| Error::Unknown(format!("no server has the region {name}")))
    }
}

impl Admin {
    /// The regions of a table by start key, as hbase:meta has them now; parents of splits are left out.
    pub async fn regions(&self, table: &TableName) -> Result<Vec<HeldRegion>, Error> {
        if table.is_meta() {
            return Ok(vec![self.meta_region().await?]);
        }
        // Names sort by the order of hbase:meta: all that begin with "table," lie before "table ,,".
        let scan = Scan::new().start(format!("{table},,")).stop(format!("{table} ,,")).family("info");
        let mut regions = self.meta_regions(scan, |region| !region.info.is_split_parent()).await?;
        regions.retain(|region| region.info.table() == table);
        regions.sort_by(|a, b| a.info.start_key().cmp(b.info.start_key()));
        Ok(regions)
    }

    /// The regions of a table that are open, by their servers.
    pub(super) async fn regions_by_server(
        &self,
        table: &TableName,
    ) -> Result<Vec<(ServerName, Vec<RegionInfo>)>, Error> {
        let mut servers: Vec<(ServerName, Vec<RegionInfo>)> = Vec::new();
        for region in self.regions(table).await? {
            let Some(server) = region.server else { continue };
            match servers.iter_mut().find(|(known, _)| *known == server) {
                Some((_, regions)) => regions.push(region.info),
                None => servers.push((server, vec![region.info])),
            }
        }
        if servers.is_empty() && !self.table_exists(table).await? {
            return Err(Error::TableNotFound(table.clone()));
        }
        Ok(servers)
    }

    /// The region of a full name or of an encoded one.
    pub async fn find_region(&self, name: &[u8]) -> Result<HeldRegion, Error> {
        let meta = self.meta_region_of(name).await?;
        let found = match meta {
            Some(region) => Some(region),
            None if is_encoded_name(name) => {
                let is_it = |region: &HeldRegion| region.info.encoded_name().as_bytes() == name;
                self.meta_regions(Scan::new().family("info"), is_it).await?.pop()
            }
            None if has_encoded_name(name) && parse_region_name(name).is_some() => {
                let mut stop = name.to_vec();
                stop.push(0);
                let is_it = |region: &HeldRegion| region.info.name() == name;
                self.meta_regions(Scan::new().start(name).stop(stop).family("info"), is_it).await?.pop()
            }
            None => None,
        };
        found.ok_or_else(|| unknown_region(name))
    }

    async fn meta_region_of(&self, name: &[u8]) -> Result<Option<HeldRegion>, Error> {
        let info = RegionInfo::meta();
        if name == &info.name()[..] || name == info.encoded_name().as_bytes() {
            return Ok(Some(self.meta_region().await?));
        }
        Ok(None)
    }

    /// hbase:meta's own region.
    async fn meta_region(&self) -> Result<HeldRegion, Error> {
        let location = self.connection.table(TableName::meta()).locate(b"").await?;
        Ok(HeldRegion { info: location.info, server: Some(location.server), state: Some(RegionState::Open) })
    }

    async fn meta_regions(&self, scan: Scan, wanted: impl Fn(&HeldRegion) -> bool) -> Result<Vec<HeldRegion>, Error> {
        let mut scanner = self.connection.table(TableName::meta()).scan(scan);
        let mut regions = Vec::new();
        while let Some(row) = scanner.next().await? {
            if let MetaRow::Region(region) = meta_row::decode(row.cells())? {
                let region = HeldRegion { info: region.info, server: region.server, state: region.state };
                if wanted(&region) {
                    regions.push(region);
                }
            }
        }
        Ok(regions)
    }

    /// What a region's server says of it; `best_split_row` costs a look into its files.
    pub async fn region_info(
        &self,
        region: &HeldRegion,
        best_split_row: bool,
    ) -> Result<pb::GetRegionInfoResponse, Error> {
        let request = pb::GetRegionInfoRequest {
            region: by_name(&region.info),
            compaction_state: Some(true),
            best_split_row: Some(best_split_row),
        };
        self.server(region.opened_on()?, "GetRegionInfo", &request).await
    }

    /// The store files of a region's families, by their paths.
    pub async fn store_files(&self, region: &HeldRegion, families: &[&[u8]]) -> Result<Vec<String>, Error> {
        let family = families.iter().map(|name| Bytes::copy_from_slice(name)).collect();
        let request = pb::GetStoreFileRequest { region: by_name(&region.info), family };
        let answer: pb::GetStoreFileResponse = self.server(region.opened_on()?, "GetStoreFile", &request).await?;
        Ok(answer.store_file)
    }

    /// Opens a region, of a full name or an encoded one, that is closed.
    pub async fn assign(&self, name: &[u8]) -> Result<(), Error> {
        let request = pb::AssignRegionRequest { region: self.specifier_of(name).await?, ..Default::default() };
        let _: pb::AssignRegionResponse = self.master("AssignRegion", &request).await?;
        Ok(())
    }

    /// Closes a region, of a full name or an encoded one.
    pub async fn unassign(&self, name: &[u8]) -> Result<(), Error> {
        let request = pb::UnassignRegionRequest { region: self.specifier_of(name).await?, ..Default::default() };
        let _: pb::UnassignRegionResponse = self.master("UnassignRegion", &request).await?;
        Ok(())
    }

    /// Marks a region as offline in the master's memory.
    pub async fn offline(&self, name: &[u8]) -> Result<(), Error> {
        let request = pb::OfflineRegionRequest { region: self.specifier_of(name).await? };
        let _: pb::OfflineRegionResponse = self.master("OfflineRegion", &request).await?;
        Ok(())
    }

    /// What hbase:meta does not know goes to the master as it is: it has the last word.
    async fn specifier_of(&self, name: &[u8]) -> Result<pb::RegionSpecifier, Error> {
        match self.find_region(name).await {
            Ok(region) => Ok(by_name(&region.info)),
            Err(error) if error.is("UnknownRegionException") => {
                let r#type = pb::region_specifier::RegionSpecifierType::RegionName as i32;
                Ok(pb::RegionSpecifier { r#type, value: Bytes::copy_from_slice(name) })
            }
            Err(error) => Err(error),
        }
    }

    /// Moves a region to a server, or to any other one.
    pub async fn move_region(&self, encoded_name: &str, to: Option<&ServerName>) -> Result<(), Error> {
        let region = by_encoded_name(encoded_name);
        let request = pb::MoveRegionRequest { region, dest_server_name: to.map(ServerName::to_proto) };
        let _: pb::MoveRegionResponse = self.master("MoveRegion", &request).await?;
        Ok(())
    }

    /// Splits a region where its server thinks best.
    pub async fn split_region(&self, region: &RegionInfo) -> Result<(), Error> {
        self.split_region_async(region, None).await?.wait().await
    }

    /// Splits a region before `row`, or where its server thinks best.
    pub async fn split_region_async(&self, region: &RegionInfo, row: Option<&[u8]>) -> Result<Pending, Error> {
        if region.replica_id() != 0 {
            return Err(Error::Invalid(
                "Can't split replicas directly. Replicas are auto-split when their primary is split.".to_owned(),
            ));
        }
        if row.is_some_and(|row| row == &region.start_key()[..]) {
            return Err(Error::Invalid("should not give a splitkey which equals to startkey!".to_owned()));
        }
        let (nonce_group, nonce) = self.nonce();
        let split_row = row.map(Bytes::copy_from_slice);
        let request = pb::SplitTableRegionRequest { region_info: region.to_proto(), split_row, nonce_group, nonce };
        let answer: pb::SplitTableRegionResponse = self.master("SplitRegion", &request).await?;
        Ok(self.pending(answer.proc_id))
    }

    /// Splits every region of a table, or the one that has `row`.
    pub async fn split_table(&self, table: &TableName, row: Option<&[u8]>) -> Result<(), Error> {
        for split in self.split_table_async(table, row).await? {
            split.wait().await?;
        }
        Ok(())
    }

    /// As [`Admin::split_table`], without the waiting. A region that cannot be split ends it.
    pub async fn split_table_async(&self, table: &TableName, row: Option<&[u8]>) -> Result<Vec<Pending>, Error> {
        let mut splits = Vec::new();
        for (_, regions) in self.regions_by_server(table).await? {
            for region in regions.iter().filter(|region| row.is_none_or(|row| region.contains_row(row))) {
                splits.push(self.split_region_async(region, row).await?);
            }
        }
        Ok(splits)
    }

    /// Makes one region of two or more; `forcible`: even if they are no neighbours.
    pub async fn merge_regions(&self, encoded_names: &[String], forcible: bool) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let region = encoded_names.iter().map(|name| by_encoded_name(name)).collect();
        let request = pb::MergeTableRegionsRequest { region, forcible: Some(forcible), nonce_group, nonce };
        let answer: pb::MergeTableRegionsResponse = self.master("MergeTableRegions", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    /// Empties one region.
    pub async fn truncate_region(&self, region: &RegionInfo) -> Result<(), Error> {
        let (nonce_group, nonce) = self.nonce();
        let request = pb::TruncateRegionRequest { region_info: region.to_proto(), nonce_group, nonce };
        let answer: pb::TruncateRegionResponse = self.master("TruncateRegion", &request).await?;
        self.pending(answer.proc_id).wait().await
    }

    /// Calls the server that has a region; if it has just moved, the one that has it then.
    pub(super) async fn region_call<A: pb::Message + Default>(
        &self,
        info: &RegionInfo,
        method: &'static str,
        request: &impl pb::Message,
    ) -> Result<A, Error> {
        let region = self.find_region(info.name()).await?;
        let answer = self.server(region.opened_on()?, method, request).await;
        match answer {
            Err(error) if error.is("NotServingRegionException") || error.is("RegionMovedException") => {
                let region = self.find_region(info.name()).await?;
                self.server(region.opened_on()?, method, request).await
            }
            answer => answer,
        }
    }
}

/// An MD5 in hexadecimal digits: only for such a name all of hbase:meta is read.
fn is_encoded_name(name: &[u8]) -> bool {
    name.len() == 32 && name.iter().all(u8::is_ascii_hexdigit)
}

/// As HBase's client says it.
fn unknown_region(name: &[u8]) -> Error {
    let text = format!("Invalid region name or encoded region name: {}", to_string_binary(name));
    super::client_exception("org.apache.hadoop.hbase.UnknownRegionException", text)
}
