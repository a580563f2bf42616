//! A table seen through one connection: puts, gets, increments, whole scans; regions are looked up in hbase:meta.

use crate::TestError;
use bytes::Bytes;
use martite_catalog::{RegionInfo, TableName};
use martite_cell::{CellBuf, OwnedCell};
use martite_client::admin::by_name;
use martite_client::cluster::scan_region;
use martite_proto as pb;
use martite_rpc::client::{Client, ClientError, ClientOptions};
use parking_lot::Mutex;
use pb::mutation_proto::{ColumnValue, MutationType, column_value::QualifierValue};
use std::net::SocketAddr;

pub struct Table {
    client: Client,
    name: TableName,
    /// Sorted by start key; empty: to be looked up.
    regions: Mutex<Vec<RegionInfo>>,
}

/// Rounds of "look the region up and try again" before an error is passed on.
const ATTEMPTS: usize = 200;

impl Table {
    pub async fn connect(regionserver: SocketAddr, name: &TableName) -> Result<Table, TestError> {
        let client = Client::connect(regionserver, &ClientOptions::new("ClientService")).await?;
        Ok(Table { client, name: name.clone(), regions: Mutex::default() })
    }

    /// Puts one value into the same qualifier of several families, atomically.
    pub async fn put(&self, row: &[u8], families: &[&str], qualifier: &str, value: &[u8]) -> Result<(), TestError> {
        let mutation = mutation(MutationType::Put, row, families, qualifier, value);
        self.mutate(row, mutation).await.map(drop)
    }

    /// Increments a column; the nonce makes a repetition harmless. The new value.
    pub async fn increment(
        &self,
        row: &[u8],
        family: &str,
        qualifier: &str,
        amount: i64,
        nonce: (u64, u64),
    ) -> Result<i64, TestError> {
        let mut mutation = mutation(MutationType::Increment, row, &[family], qualifier, &amount.to_be_bytes());
        mutation.nonce = Some(nonce.1);
        let cells = self.mutate_with(row, mutation, nonce.0).await?;
        let value = cells.get(0).and_then(|c| c.value.try_into().ok()).map(i64::from_be_bytes);
        value.ok_or_else(|| TestError::Server("an increment answered no number".to_owned()))
    }

    async fn mutate(&self, row: &[u8], mutation: pb::MutationProto) -> Result<CellBuf, TestError> {
        self.mutate_with(row, mutation, 0).await
    }

    async fn mutate_with(&self, row: &[u8], mutation: pb::MutationProto, group: u64) -> Result<CellBuf, TestError> {
        let mut attempt = 0;
        loop {
            let region = self.region_of(row).await?;
            let request = pb::MutateRequest {
                region: by_name(&region),
                mutation: mutation.clone(),
                condition: None,
                nonce_group: Some(group),
            };
            match self.client.call("Mutate", &request, &[]).await {
                Ok(answer) => return cells_of(answer.cells),
                Err(e) => self.after(e, &mut attempt).await?,
            }
        }
    }

    /// The newest cells of a row.
    pub async fn get(&self, row: &[u8]) -> Result<CellBuf, TestError> {
        let mut attempt = 0;
        loop {
            let region = self.region_of(row).await?;
            let request = pb::GetRequest {
                region: by_name(&region),
                get: pb::Get { row: Bytes::copy_from_slice(row), ..Default::default() },
            };
            match self.client.call("Get", &request, &[]).await {
                Ok(answer) => return cells_of(answer.cells),
                Err(e) => self.after(e, &mut attempt).await?,
            }
        }
    }

    /// Every cell of the table, newest versions only.
    pub async fn scan_all(&self) -> Result<Vec<OwnedCell>, TestError> {
        let mut attempt = 0;
        loop {
            match self.scan_once().await {
                Ok(cells) => return Ok(cells),
                Err(TestError::Client(e)) => self.after(e, &mut attempt).await?,
                Err(e) => return Err(e),
            }
        }
    }

    async fn scan_once(&self) -> Result<Vec<OwnedCell>, TestError> {
        let mut out = Vec::new();
        for region in self.load_regions().await? {
            out.extend(scan_region(&self.client, by_name(&region), pb::Scan::default()).await?);
        }
        Ok(out)
    }

    /// The table's regions as hbase:meta has them now.
    pub async fn load_regions(&self) -> Result<Vec<RegionInfo>, TestError> {
        let scan = pb::Scan {
            start_row: Some(format!("{},,", self.name).into_bytes().into()),
            stop_row: Some(format!("{} ,,", self.name).into_bytes().into()),
            ..Default::default()
        };
        let cells = scan_region(&self.client, by_name(&RegionInfo::meta()), scan).await?;
        let mut regions = Vec::new();
        for cell in cells.iter().map(OwnedCell::as_ref) {
            if (cell.family(), cell.qualifier()) == (b"info", b"regioninfo") {
                regions.push(RegionInfo::from_bytes(cell.value)?);
            }
        }
        regions.retain(|r| !r.is_split_parent() && !r.is_offline());
        regions.sort_by(|a, b| a.start_key().cmp(b.start_key()));
        *self.regions.lock() = regions.clone();
        Ok(regions)
    }

    async fn region_of(&self, row: &[u8]) -> Result<RegionInfo, TestError> {
        for _ in 0..ATTEMPTS {
            let known = self.regions.lock().iter().find(|r| r.contains_row(row)).cloned();
            if let Some(region) = known {
                return Ok(region);
            }
            self.load_regions().await?;
        }
        Err(TestError::Server(format!("no region of {} has the row {}", self.name, row.escape_ascii())))
    }

    /// Decides about a failed call: forget the regions and try again, or pass the error on.
    async fn after(&self, error: ClientError, attempt: &mut usize) -> Result<(), TestError> {
        *attempt += 1;
        match &error {
            ClientError::Remote { do_not_retry: false, .. } if *attempt < ATTEMPTS => {
                self.regions.lock().clear();
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                Ok(())
            }
            _ => Err(error.into()),
        }
    }
}

fn mutation(kind: MutationType, row: &[u8], families: &[&str], qualifier: &str, value: &[u8]) -> pb::MutationProto {
    let one = QualifierValue {
        qualifier: Some(Bytes::copy_from_slice(qualifier.as_bytes())),
        value: Some(Bytes::copy_from_slice(value)),
        ..Default::default()
    };
    pb::MutationProto {
        row: Some(Bytes::copy_from_slice(row)),
        mutate_type: Some(kind as i32),
        column_value: families
            .iter()
            .map(|family| ColumnValue {
                family: Bytes::copy_from_slice(family.as_bytes()),
                qualifier_value: vec![one.clone()],
            })
            .collect(),
        ..Default::default()
    }
}

fn cells_of(block: Bytes) -> Result<CellBuf, TestError> {
    CellBuf::from_block(block.to_vec(), false).map_err(|e| TestError::Server(e.to_string()))
}
