//! [`Cluster`]: from the address of one server to every region of a table.

use crate::admin::by_name;
use crate::{Error, scan};
use martite_catalog::meta_row::{self, MetaRow};
use martite_catalog::{RegionInfo, ServerName, TableName};
use martite_cell::OwnedCell;
use martite_proto as pb;
use martite_rpc::client::{Client, ClientOptions};
use std::net::SocketAddr;

/// A region and the server that has it.
#[derive(Debug, Clone)]
pub struct Location {
    pub info: RegionInfo,
    pub server: ServerName,
}

/// A cluster, known by the RPC connection registry that each of its servers is.
#[derive(Debug)]
pub struct Cluster {
    registry: Client,
}

impl Cluster {
    /// `address`: host:port of a master or region server.
    pub async fn connect(address: &str) -> Result<Cluster, Error> {
        Ok(Cluster {
            registry: Client::connect(resolve(address).await?, &ClientOptions::new("ClientMetaService")).await?,
        })
    }

    /// The master that is active now.
    pub async fn master(&self) -> Result<ServerName, Error> {
        let request = pb::GetActiveMasterRequest::default();
        let answer: pb::GetActiveMasterResponse =
            self.registry.call("GetActiveMaster", &request, &[]).await?.decode()?;
        let name = answer.server_name.ok_or_else(|| Error::Unknown("no master is active".to_owned()))?;
        Ok(ServerName::from_proto(&name)?)
    }

    /// The server that has hbase:meta.
    pub async fn meta_server(&self) -> Result<ServerName, Error> {
        let request = pb::GetMetaRegionLocationsRequest::default();
        let answer: pb::GetMetaRegionLocationsResponse =
            self.registry.call("GetMetaRegionLocations", &request, &[]).await?.decode()?;
        let name = answer.meta_locations.into_iter().find_map(|location| location.server_name);
        Ok(ServerName::from_proto(&name.ok_or_else(|| Error::Unknown("hbase:meta is nowhere".to_owned()))?)?)
    }

    /// The regions of a table by start key, as hbase:meta has them now; none: there is no such table.
    pub async fn regions(&self, table: &TableName) -> Result<Vec<Location>, Error> {
        let meta = connect(&self.meta_server().await?, "ClientService").await?;
        let scan = pb::Scan {
            start_row: Some(format!("{table},,").into_bytes().into()),
            stop_row: Some(format!("{table} ,,").into_bytes().into()),
            ..Default::default()
        };
        let cells = scan::scan_region(&meta, by_name(&RegionInfo::meta()), scan).await?;
        let mut locations = Vec::new();
        for row in cells.chunk_by(|a, b| a.as_ref().row() == b.as_ref().row()) {
            if let MetaRow::Region(region) = meta_row::decode(row.iter().map(OwnedCell::as_ref))?
                && !region.info.is_split_parent()
                && !region.info.is_offline()
            {
                let name = region.info.name_string();
                let server = region.server.ok_or_else(|| Error::Unknown(format!("{name} is not open")))?;
                locations.push(Location { info: region.info, server });
            }
        }
        locations.sort_by(|a, b| a.info.start_key().cmp(b.info.start_key()));
        Ok(locations)
    }
}

/// A connection to one of a server's services.
pub async fn connect(server: &ServerName, service: &str) -> Result<Client, Error> {
    Ok(Client::connect(resolve(&server.address()).await?, &ClientOptions::new(service)).await?)
}

/// The address of host:port, of IPv4 if there is one.
pub async fn resolve(address: &str) -> Result<SocketAddr, Error> {
    let failed = |reason: String| Error::Address { address: address.to_owned(), reason };
    let found: Vec<SocketAddr> = tokio::net::lookup_host(address).await.map_err(|e| failed(e.to_string()))?.collect();
    let ipv4 = found.iter().copied().find(SocketAddr::is_ipv4);
    ipv4.or(found.first().copied()).ok_or_else(|| failed("has no address".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn names_have_addresses() {
        assert_eq!(resolve("127.0.0.1:16000").await.unwrap(), SocketAddr::from(([127, 0, 0, 1], 16000)));
        assert!(resolve("localhost:1").await.unwrap().ip().is_loopback());
        for wrong in ["", "localhost", "localhost:x", "localhost:70000"] {
            let error = resolve(wrong).await.unwrap_err().to_string();
            assert!(error.starts_with(&format!("{wrong}: ")), "{error}");
        }
    }
}
