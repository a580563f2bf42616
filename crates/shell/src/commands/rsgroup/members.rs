//! Servers and tables of groups, as arguments name them.

use crate::commands::Arguments;
use crate::commands::arguments::texts;
use crate::failure::{Failure, Run};
use crate::session::Session;
use martite_catalog::{ServerName, TableName};
use martite_client::admin::GroupOf;
use martite_client::pb;

/// The property of a namespace that names its group.
pub const GROUP_KEY: &str = "hbase.rsgroup.name";

/// A group of this name.
pub fn group(session: &mut Session, name: &str) -> Run<pb::RsGroupInfo> {
    let admin = session.admin()?;
    let group = session.wait(admin.rsgroup(&GroupOf::Name(name.to_owned())))?;
    group.ok_or_else(|| Failure::argument(format!("Group does not exist: {name}")))
}

/// `host:port`
pub fn address(server: &pb::ServerName) -> String {
    format!("{}:{}", server.host_name, server.port())
}

/// The servers of an array of `host:port`.
pub fn servers(arguments: &Arguments, index: usize) -> Run<Vec<ServerName>> {
    let mut servers = Vec::new();
    for address in texts(&arguments.values()[index]) {
        servers.push(ServerName::parse_address(&address, -1)?);
    }
    Ok(servers)
}

/// The tables of an array of names.
pub fn tables(arguments: &Arguments, index: usize) -> Run<Vec<TableName>> {
    let mut tables = Vec::new();
    for name in texts(&arguments.values()[index]) {
        tables.push(TableName::parse(&name)?);
    }
    Ok(tables)
}

/// The tables of namespaces, which must exist.
pub fn tables_of(session: &mut Session, namespaces: &[String]) -> Run<Vec<TableName>> {
    let admin = session.admin()?;
    let mut tables = Vec::new();
    for namespace in namespaces {
        match session.wait(admin.table_names_of_namespace(namespace)) {
            Ok(names) => tables.extend(names),
            Err(failure) if failure.is("NamespaceNotFoundException") => {
                return Err(Failure::argument(format!("Can't find a namespace: {namespace}")));
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(tables)
}

/// Tables that are made in these namespaces later go to the group, too.
pub fn set_group(session: &mut Session, namespaces: &[String], group: &str) -> Run<()> {
    let admin = session.admin()?;
    for name in namespaces {
        let mut namespace = session.wait(admin.namespace_descriptor(name))?;
        namespace.configuration.insert(GROUP_KEY.to_owned(), group.to_owned());
        session.wait(admin.modify_namespace(&namespace))?;
    }
    Ok(())
}
