//! The configuration of a peer: read from arguments, changed, printed.

use crate::commands::{Arguments, Options};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use bytes::Bytes;
use martite_catalog::TableName;
use martite_client::pb;

/// An argument, or nil.
pub fn given(arguments: &Arguments, index: usize) -> Value {
    arguments.values().get(index).cloned().unwrap_or(Value::Nil)
}

/// The strings of an argument that is an array.
pub fn texts(arguments: &Arguments, index: usize) -> Vec<String> {
    arguments.get(index).map(crate::commands::arguments::texts).unwrap_or_default()
}

pub fn bytes(names: &[String]) -> Vec<Bytes> {
    names.iter().map(|name| Bytes::copy_from_slice(name.as_bytes())).collect()
}

/// Reads a peer's configuration, changes it, and writes it back.
pub fn change(session: &mut Session, id: &str, change: impl FnOnce(&mut pb::ReplicationPeer) -> Run<()>) -> Run {
    let admin = session.admin()?;
    let mut peer = session.wait(admin.replication_peer_config(id))?;
    change(&mut peer)?;
    session.wait(admin.update_replication_peer_config(id, &peer))?;
    Ok(Value::Nil)
}

/// CONFIG and DATA of the options, beside what is there.
pub fn set_pairs(peer: &mut pb::ReplicationPeer, options: &mut Options) -> Run<()> {
    for (key, value) in pairs(options.take("CONFIG"))? {
        peer.configuration.retain(|pair| pair.name != key.to_text());
        peer.configuration.push(pb::NameStringPair { name: key.to_text(), value: value.to_text() });
    }
    for (key, value) in pairs(options.take("DATA"))? {
        let first = key.to_bytes();
        peer.data.retain(|pair| pair.first != first);
        peer.data.push(pb::BytesBytesPair { first, second: value.to_bytes() });
    }
    Ok(())
}

fn pairs(value: Option<Value>) -> Run<Vec<(Value, Value)>> {
    match value {
        None => Ok(Vec::new()),
        Some(value) => Ok(Options::of(&value)?.pairs().to_vec()),
    }
}

/// `{ "table1" => [], "ns2:table2" => ["cf1", "cf2"] }`; no families are all.
pub fn table_cfs(value: &Value) -> Run<Vec<pb::TableCf>> {
    let mut tables = Vec::new();
    for (name, families) in pairs(Some(value.clone()).filter(|value| !value.is_nil()))? {
        let table_name = Some(TableName::parse(&name.to_text())?.to_proto());
        let families = match families {
            Value::Nil => Vec::new(),
            families => bytes(&crate::commands::arguments::texts(&families)),
        };
        tables.push(pb::TableCf { table_name, families });
    }
    Ok(tables)
}

pub fn add(names: &mut Vec<Bytes>, more: &[String]) {
    for name in bytes(more) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
}

pub fn remove(names: &mut Vec<Bytes>, less: &[String]) {
    let less = bytes(less);
    names.retain(|name| !less.contains(name));
}

/// Adds tables; a table that was there with all families keeps them, one that comes with all has them.
pub fn add_tables(tables: &mut Vec<pb::TableCf>, more: Vec<pb::TableCf>) {
    for entry in more {
        match tables.iter_mut().find(|known| known.table_name == entry.table_name) {
            None => tables.push(entry),
            Some(known) if known.families.is_empty() || entry.families.is_empty() => known.families.clear(),
            Some(known) => {
                let new: Vec<Bytes> = entry.families.into_iter().filter(|f| !known.families.contains(f)).collect();
                known.families.extend(new);
            }
        }
    }
}

/// Removes tables, or families of them; a table without families left goes.
pub fn remove_tables(tables: &mut Vec<pb::TableCf>, less: &[pb::TableCf]) {
    for entry in less {
        let Some(at) = tables.iter().position(|known| known.table_name == entry.table_name) else { continue };
        if !entry.families.is_empty() {
            tables[at].families.retain(|family| !entry.families.contains(family));
        }
        if entry.families.is_empty() || tables[at].families.is_empty() {
            tables.remove(at);
        }
    }
}

/// Sorted, with semicolons between; None: there are none.
pub fn namespaces_text(names: &[Bytes]) -> Option<String> {
    let mut names: Vec<_> = names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    names.sort_unstable();
    (!names.is_empty()).then(|| names.join(";"))
}

/// `default.t1:cf1,cf2;ns.t2`; None: there are none.
pub fn tables_text(tables: &[pb::TableCf]) -> Run<Option<String>> {
    let mut texts = Vec::new();
    for entry in tables {
        let name = entry.table_name.as_ref().ok_or_else(|| Failure::runtime("a peer has a table without a name"))?;
        let name = TableName::from_proto(name)?;
        let name = format!("{}.{}", name.namespace(), name.qualifier());
        let families: Vec<_> = entry.families.iter().map(|family| String::from_utf8_lossy(family)).collect();
        texts.push(if families.is_empty() { name } else { format!("{name}:{}", families.join(",")) });
    }
    Ok((!texts.is_empty()).then(|| texts.join(";")))
}

/// With the mark of what a peer does not get.
pub fn excluded(text: Option<String>) -> Option<String> {
    text.map(|text| format!("!{text}"))
}

/// The rows of get_peer_config.
pub fn print(session: &mut Session, peer: &pb::ReplicationPeer) {
    if let Some(key) = &peer.clusterkey {
        session.print.row(&["Cluster Key", key]);
    }
    if let Some(endpoint) = &peer.replication_endpoint_impl {
        session.print.row(&["Replication Endpoint", endpoint]);
    }
    peer.configuration.iter().for_each(|pair| session.print.row(&[&pair.name, &pair.value]));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(table: &str, families: &[&str]) -> pb::TableCf {
        let table_name = Some(TableName::parse(table).unwrap().to_proto());
        pb::TableCf { table_name, families: families.iter().map(|f| Bytes::copy_from_slice(f.as_bytes())).collect() }
    }

    fn text(tables: &[pb::TableCf]) -> String {
        tables_text(tables).unwrap().unwrap_or_default()
    }

    #[test]
    fn tables_and_families_come_and_go() {
        let mut tables = vec![entry("t", &["a"]), entry("ns:u", &[])];
        assert_eq!(text(&tables), "default.t:a;ns.u");
        add_tables(&mut tables, vec![entry("t", &["a", "b"]), entry("ns:u", &["x"]), entry("v", &["c"])]);
        assert_eq!(text(&tables), "default.t:a,b;ns.u;default.v:c");
        remove_tables(&mut tables, &[entry("t", &["a"]), entry("v", &["c"]), entry("ns:u", &[]), entry("w", &[])]);
        assert_eq!(text(&tables), "default.t:b");
        let mut names = bytes(&["a".to_owned()]);
        add(&mut names, &["b".to_owned(), "a".to_owned()]);
        remove(&mut names, &["a".to_owned()]);
        assert_eq!(namespaces_text(&names).as_deref(), Some("b"));
        assert_eq!(excluded(namespaces_text(&[])), None);
    }
}
