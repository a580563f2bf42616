//! [`ServerName`]: `host,port,start code`. The start code is the time in ms at which the process started.

use crate::CatalogError;
use martite_proto as pb;
use std::sync::Arc;

/// A server process; cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerName {
    pub host: Arc<str>,
    pub port: u16,
    /// −1 when unknown.
    pub start_code: i64,
}

impl ServerName {
    pub fn new(host: &str, port: u16, start_code: i64) -> ServerName {
        ServerName { host: host.to_ascii_lowercase().into(), port, start_code }
    }

    /// Reads `host,port,start code`.
    pub fn parse(text: &str) -> Result<ServerName, CatalogError> {
        let bad = |why: &str| CatalogError::malformed(format!("server name {text:?}"), why);
        let mut parts = text.rsplitn(3, ',');
        let (start_code, port, host) = (parts.next(), parts.next(), parts.next());
        let host = host.filter(|h| !h.is_empty()).ok_or_else(|| bad("expected host,port,startcode"))?;
        let port = port.and_then(|p| p.parse().ok()).ok_or_else(|| bad("the port is not a number"))?;
        let start_code =
            start_code.and_then(|s| s.parse().ok()).ok_or_else(|| bad("the start code is not a number"))?;
        Ok(ServerName::new(host, port, start_code))
    }

    /// Reads `host:port`, as hbase:meta's info:server has it.
    pub fn parse_address(address: &str, start_code: i64) -> Result<ServerName, CatalogError> {
        let bad = |why: &str| CatalogError::malformed(format!("server address {address:?}"), why);
        let (host, port) =
            address.rsplit_once(':').filter(|(host, _)| !host.is_empty()).ok_or_else(|| bad("expected host:port"))?;
        Ok(ServerName::new(host, port.parse().map_err(|_| bad("the port is not a number"))?, start_code))
    }

    /// `host:port`.
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    pub fn from_proto(name: &pb::ServerName) -> Result<ServerName, CatalogError> {
        let port = name.port.unwrap_or(0);
        let port = u16::try_from(port)
            .map_err(|_| CatalogError::malformed(format!("server name {}", name.host_name), format!("port {port}")))?;
        Ok(ServerName::new(&name.host_name, port, name.start_code.map_or(-1, |s| s as i64)))
    }

    pub fn to_proto(&self) -> pb::ServerName {
        pb::ServerName {
            host_name: self.host.to_string(),
            port: Some(u32::from(self.port)),
            start_code: (self.start_code >= 0).then_some(self.start_code as u64),
        }
    }
}

impl std::fmt::Display for ServerName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{},{},{}", self.host, self.port, self.start_code)
    }
}

impl std::fmt::Debug for ServerName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_proto_round_trip() {
        let name = ServerName::parse("Host.Example,16020,1700000000000").unwrap();
        assert_eq!(name.to_string(), "host.example,16020,1700000000000");
        assert_eq!(name.address(), "host.example:16020");
        assert_eq!(ServerName::from_proto(&name.to_proto()).unwrap(), name);
        assert_eq!(ServerName::parse_address("h:1", 7).unwrap(), ServerName::new("h", 1, 7));
        // A server without a host could be written but not read again.
        assert!(ServerName::parse_address(":1", 7).is_err() && ServerName::parse(",1,7").is_err());
        assert_eq!(
            ServerName::parse("h,x,1").unwrap_err().to_string(),
            "malformed server name \"h,x,1\": the port is not a number"
        );
    }
}
