//! Looking regions up: hbase:meta by the registry, all others in hbase:meta.
//!
//! ```text
//! the region of a row     scan hbase:meta backwards from  table,row,99999999999999   to  table,,
//! the one before a row    the same from                   table,row,00000000000000
//! ```
//! Regions after the first of such a scan are its neighbours, and are remembered too.

use crate::connection::{call_options, decoded};
use crate::locations::{Location, Region, Regions};
use crate::mutation::shown;
use crate::retry::{Attempts, reaction};
use crate::row::{Block, Row};
use crate::{Connection, Error, Get};
use bytes::Bytes;
use martite_catalog::meta_row::{self, MetaRow};
use martite_catalog::{MetaRegion, RegionInfo, RegionState, TableName, TableState};
use martite_proto as pb;
use std::sync::Arc;

/// Regions that a scan of a whole table's rows in hbase:meta asks for at a time.
const PAGE: u32 = 1000;

impl Connection {
    /// The region that has a row, known or looked up.
    pub(crate) async fn locate(&self, regions: &Regions, row: &[u8]) -> Result<Arc<Region>, Error> {
        match regions.of_row(row) {
            Some(region) => Ok(region),
            None => self.search(regions, row, false).await,
        }
    }

    /// The region that has the greatest row less than `row`; of the empty row, the table's last.
    pub(crate) async fn locate_before(&self, regions: &Regions, row: &[u8]) -> Result<Arc<Region>, Error> {
        match regions.before(row) {
            Some(region) => Ok(region),
            None => self.search(regions, row, true).await,
        }
    }

    /// One search at a time per table: those who wait for it mostly find what they want in its result.
    async fn search(&self, regions: &Regions, row: &[u8], before: bool) -> Result<Arc<Region>, Error> {
        let _searching = regions.searching.lock().await;
        let known = if before { regions.before(row) } else { regions.of_row(row) };
        if let Some(region) = known {
            return Ok(region);
        }
        if regions.table.is_meta() {
            let server = self.meta_server().await?;
            regions.insert(self.region_at(Location { info: RegionInfo::meta(), server, open_seq_num: -1 }));
        } else {
            // The search uses the machinery that it is part of.
            Box::pin(self.search_meta(regions, row, before)).await?;
        }
        let found = if before { regions.before(row) } else { regions.of_row(row) };
        found.ok_or_else(|| no_region(&regions.table, row, "hbase:meta has a hole there"))
    }

    /// Reads the region and its neighbours.
    async fn search_meta(&self, regions: &Regions, row: &[u8], before: bool) -> Result<(), Error> {
        let table = &regions.table;
        let start = match (before, row) {
            // After every region's row.
            (true, []) => [table.as_bytes(), b"\0"].concat(),
            (true, row) => [table.as_bytes(), b",", row, b",00000000000000"].concat(),
            (false, row) => [table.as_bytes(), b",", row, b",99999999999999"].concat(),
        };
        let scan = pb::Scan {
            start_row: Some(start.into()),
            stop_row: Some([table.as_bytes(), b",,"].concat().into()),
            include_stop_row: Some(true),
            reversed: Some(true),
            ..meta_scan()
        };
        let found = self.scan_meta(scan, self.options().locate_prefetch.max(1)).await?;
        // A row of the scan that is no region's would be one of a table with a similar name.
        let Some((first, neighbours)) = found.split_first() else {
            return Err(Error::TableNotFound(table.clone()));
        };
        if first.info.table() != table {
            return Err(Error::TableNotFound(table.clone()));
        }
        for region in neighbours.iter().filter(|region| is_open(region)) {
            self.remember(regions, region);
        }
        if !is_open(first) {
            if self.table_state(table).await?.is_some_and(|s| matches!(s, TableState::Disabled | TableState::Disabling))
            {
                return Err(Error::TableDisabled(table.clone()));
            }
            let state = first.state.map_or("nothing", RegionState::name);
            return Err(no_region(table, row, &format!("{} is {state}", first.info.name_string())));
        }
        self.remember(regions, first);
        Ok(())
    }

    fn remember(&self, regions: &Regions, region: &MetaRegion) {
        if let Some(server) = region.server.clone() {
            let location = Location { info: region.info.clone(), server, open_seq_num: region.open_seq_num };
            regions.insert(self.region_at(location));
        }
    }

    /// What hbase:meta says about a table; `None`: nothing, there is no such table.
    pub async fn table_state(&self, table: &TableName) -> Result<Option<TableState>, Error> {
        let row = self.table(TableName::meta()).get(Get::row(table.as_bytes()).family("table")).await?;
        match meta_row::decode(row.cells())? {
            MetaRow::Table(_, state) => Ok(Some(state)),
            _ => Ok(None),
        }
    }

    /// All regions of a table by start key, as hbase:meta has them now; none: there is no such table.
    ///
    /// Regions that are being split or are open nowhere are among them.
    pub async fn meta_regions(&self, table: &TableName) -> Result<Vec<MetaRegion>, Error> {
        let stop = [table.as_bytes(), b" ,,"].concat();
        let mut start: Bytes = [table.as_bytes(), b",,"].concat().into();
        let mut all: Vec<MetaRegion> = Vec::new();
        loop {
            let scan = pb::Scan {
                include_start_row: Some(all.is_empty()),
                start_row: Some(start.clone()),
                stop_row: Some(stop.clone().into()),
                ..meta_scan()
            };
            let page = self.scan_meta(scan, PAGE).await?;
            let Some(last) = page.last() else { break };
            start = meta_row::row_of(&last.info);
            all.extend(page.into_iter().filter(|region| region.info.table() == table));
        }
        all.sort_by(|a, b| a.info.cmp(&b.info));
        Ok(all)
    }

    /// Up to `rows` rows of hbase:meta that are regions', in the order of the scan, read in one call.
    async fn scan_meta(&self, scan: pb::Scan, rows: u32) -> Result<Vec<MetaRegion>, Error> {
        let options = self.options();
        let mut attempts = Attempts::new(options, options.meta_operation_timeout);
        loop {
            let limit = attempts.limit(options.read_timeout());
            let error = match self.locate(&self.0.meta, b"").await {
                Ok(meta) => {
                    let request = pb::ScanRequest {
                        region: None,
                        scan: Some(scan.clone()),
                        number_of_rows: Some(rows),
                        close_scanner: Some(true),
                        ..Default::default()
                    };
                    let message = [&meta.field[..], &pb::Message::encode_to_vec(&request)].concat();
                    match meta.peer.call("Scan", &message, &[], &call_options(limit, None), limit).await {
                        Ok(answer) => return regions_in(&decoded(&answer, "Scan")?, answer.cells),
                        Err(error) => {
                            self.0.meta.forget(&meta);
                            error
                        }
                    }
                }
                Err(error) => error,
            };
            let reaction = reaction(&error);
            attempts.after(error, &reaction).await?;
        }
    }
}

fn meta_scan() -> pb::Scan {
    pb::Scan {
        column: vec![pb::Column { family: Bytes::from_static(b"info"), qualifier: Vec::new() }],
        max_versions: Some(1),
        read_type: Some(pb::scan::ReadType::Pread as i32),
        ..Default::default()
    }
}

fn regions_in(response: &pb::ScanResponse, cells: Bytes) -> Result<Vec<MetaRegion>, Error> {
    let mut block = Block(cells);
    let mut regions = Vec::new();
    let mut add = |row: &Row| -> Result<(), Error> {
        if let MetaRow::Region(region) = meta_row::decode(row.cells())? {
            regions.push(*region);
        }
        Ok(())
    };
    for count in &response.cells_per_result {
        add(&Row::from_block(&mut block, *count, false, false)?)?;
    }
    for result in &response.results {
        add(&Row::from_proto(result, &mut block)?)?;
    }
    Ok(regions)
}

/// Whether calls to it make sense. What hbase:meta says of a region being opened or split is late by nature.
fn is_open(region: &MetaRegion) -> bool {
    let state = region.state.unwrap_or(RegionState::Open);
    region.server.is_some()
        && !region.info.is_split_parent()
        && !region.info.is_offline()
        && !matches!(state, RegionState::Closed | RegionState::Offline | RegionState::Split | RegionState::Merged)
}

fn no_region(table: &TableName, row: &[u8], reason: &str) -> Error {
    Error::NoRegion { table: table.clone(), row: shown(row), reason: reason.to_owned() }
}
