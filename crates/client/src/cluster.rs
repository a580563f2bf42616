//! [`Cluster`]: from the address of one server to every region of a table; and calls to one region, without repetition.
//!
//! Measurements want it plain: whatever is repeated behind the scenes is not measured.

use crate::locations::Location;
use crate::{Connection, Error, Options, Registry};
use martite_catalog::{ServerName, TableName};
use martite_cell::{CellBuf, OwnedCell};
use martite_proto as pb;
use martite_rpc::client::{Client, ClientError, ClientOptions};

pub use crate::servers::resolve;

/// A cluster, known by the RPC connection registry that each of its servers is.
#[derive(Debug)]
pub struct Cluster(Connection);

impl Cluster {
    /// `address`: host:port of a master or region server.
    pub async fn connect(address: &str) -> Result<Cluster, Error> {
        Ok(Cluster(Connection::connect(Options::new(Registry::rpc(address))).await?))
    }

    /// The master that is active now.
    pub async fn master(&self) -> Result<ServerName, Error> {
        self.0.master().await
    }

    /// The server that has hbase:meta.
    pub async fn meta_server(&self) -> Result<ServerName, Error> {
        self.0.meta_server().await
    }

    /// The regions of a table by start key, as hbase:meta has them now; none: there is no such table.
    pub async fn regions(&self, table: &TableName) -> Result<Vec<Location>, Error> {
        match self.0.table(table.clone()).locations().await {
            Err(Error::TableNotFound(_)) => Ok(Vec::new()),
            locations => locations,
        }
    }
}

/// A connection to one of a server's services.
pub async fn connect(server: &ServerName, service: &str) -> Result<Client, Error> {
    let address = server.address();
    let connected = Client::connect(resolve(&address).await?, &ClientOptions::new(service)).await;
    connected.map_err(|source| Error::Connection { server: address, source })
}

/// Rows asked for at a time.
const ROWS: u32 = 1000;

/// All cells that `scan` finds in a region, read in as many calls as it takes.
pub async fn scan_region(
    client: &Client,
    region: pb::RegionSpecifier,
    scan: pb::Scan,
) -> Result<Vec<OwnedCell>, ClientError> {
    let mut request =
        pb::ScanRequest { region: Some(region), scan: Some(scan), number_of_rows: Some(ROWS), ..Default::default() };
    let mut out = Vec::new();
    let mut seq = 0;
    loop {
        let answer = client.call("Scan", &request, &[]).await?;
        let response: pb::ScanResponse = answer.decode()?;
        let cells = CellBuf::from_block(answer.cells.to_vec(), false);
        out.extend(cells.map_err(|e| ClientError::Malformed(e.to_string()))?.to_owned_cells());
        if response.more_results == Some(false) || response.more_results_in_region == Some(false) {
            return Ok(out);
        }
        request = pb::ScanRequest {
            scanner_id: response.scanner_id,
            number_of_rows: Some(ROWS),
            next_call_seq: Some(seq),
            ..Default::default()
        };
        seq += 1;
    }
}
