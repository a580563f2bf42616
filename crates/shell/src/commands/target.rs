//! What an argument names: a region or a table; a server by all of its name or by part of it.

use crate::failure::{Failure, Run};
use crate::session::Session;
use martite_catalog::{ServerName, TableName};
use martite_client::admin::HeldRegion;

pub enum Target {
    Region(Box<HeldRegion>),
    Table(TableName),
}

/// A region of a full or an encoded name; what is none is a table.
pub fn region_or_table(session: &mut Session, name: &[u8]) -> Run<Target> {
    let admin = session.admin()?;
    match session.wait(admin.find_region(name)) {
        Ok(region) => Ok(Target::Region(Box::new(region))),
        Err(failure) if failure.is("UnknownRegionException") => Ok(Target::Table(TableName::parse_bytes(name)?)),
        Err(failure) => Err(failure),
    }
}

/// `host,port,startcode`, or `host,port` or `host` of a server that lives.
pub fn server(session: &mut Session, name: &str) -> Run<ServerName> {
    let found = servers(session, &[name.to_owned()], false)?;
    found.into_iter().next().ok_or_else(|| Failure::argument(format!("there is no server {name}")))
}

/// The servers of these names; of no names: all if `all_of_none`.
pub fn servers(session: &mut Session, names: &[String], all_of_none: bool) -> Run<Vec<ServerName>> {
    if names.is_empty() && !all_of_none {
        return Ok(Vec::new());
    }
    let full: Vec<ServerName> = names.iter().filter_map(|name| ServerName::parse(name).ok()).collect();
    if !names.is_empty() && full.len() == names.len() {
        return Ok(full);
    }
    let admin = session.admin()?;
    let live = session.wait(admin.region_servers())?;
    if names.is_empty() {
        return Ok(live);
    }
    let mut found = Vec::new();
    for name in names {
        if let Ok(server) = ServerName::parse(name) {
            found.push(server);
            continue;
        }
        let (host, port) = name.split_once(',').map_or((name.as_str(), None), |(host, port)| (host, Some(port)));
        let is_it =
            |server: &&ServerName| *server.host == *host && port.is_none_or(|port| port == server.port.to_string());
        found.extend(live.iter().filter(is_it).cloned());
    }
    Ok(found)
}
