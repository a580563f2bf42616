//! What rights are about, and whether the cluster knows rights at all.

use crate::commands::{Arguments, pattern};
use crate::failure::{Failure, Run};
use crate::session::Session;
use bytes::Bytes;
use martite_catalog::{TableName, to_string_binary};
use martite_client::admin::{Capability, Scope};
use martite_client::pb;
use pb::permission::Action;

/// Refuses where nobody would look at rights.
pub fn check_authorization(session: &mut Session) -> Run<()> {
    let admin = session.admin()?;
    let is_there = match session.wait(admin.security_capabilities()) {
        Ok(capabilities) => capabilities.contains(&Capability::Authorization),
        // An old master: it has the table if it has rights.
        Err(_) => session.wait(admin.table_exists(&TableName::parse("hbase:acl")?))?,
    };
    if is_there { Ok(()) } else { Err(Failure::argument("DISABLED: Security features are not available")) }
}

/// The actions of letters of RWXCA; other letters are passed over, as in HBase.
pub fn actions(letters: &str) -> Vec<Action> {
    let action = |letter| match letter {
        'R' => Some(Action::Read),
        'W' => Some(Action::Write),
        'X' => Some(Action::Exec),
        'C' => Some(Action::Create),
        'A' => Some(Action::Admin),
        _ => None,
    };
    letters.chars().filter_map(action).collect()
}

/// What the arguments from `at` on name: nothing, `@namespace`, or a table with a family and a qualifier; it must exist.
pub fn scope(session: &mut Session, arguments: &Arguments, at: usize) -> Run<Scope> {
    let Some(name) = arguments.get(at).map(|name| name.to_text()) else { return Ok(Scope::Global) };
    let admin = session.admin()?;
    if let Some(namespace) = name.strip_prefix('@') {
        return match session.wait(admin.namespace_descriptor(namespace)) {
            Ok(_) => Ok(Scope::Namespace(namespace.to_owned())),
            Err(failure) if failure.is("NamespaceNotFoundException") => {
                Err(Failure::argument(format!("Can't find a namespace: {namespace}")))
            }
            Err(failure) => Err(failure),
        };
    }
    let table = TableName::parse(&name)?;
    if !session.wait(admin.table_exists(&table))? {
        return Err(Failure::argument(format!("Can't find a table: {name}")));
    }
    let family: Option<Bytes> = arguments.get(at + 1).map(|family| family.to_bytes());
    if let Some(family) = &family
        && session.wait(admin.table_descriptor(&table))?.family(family).is_none()
    {
        return Err(Failure::argument(format!("Can't find a family: {}", to_string_binary(family))));
    }
    Ok(Scope::Table { table, family, qualifier: arguments.get(at + 2).map(|qualifier| qualifier.to_bytes()) })
}

/// Everything that a regular expression names: tables, or behind @ namespaces; none: the whole cluster.
pub fn matching(session: &mut Session, regex: Option<&str>) -> Run<Vec<Scope>> {
    let admin = session.admin()?;
    let Some(regex) = regex else { return Ok(vec![Scope::Global]) };
    if let Some(namespaces) = regex.strip_prefix('@') {
        let mut names = session.wait(admin.namespace_names())?;
        let is_asked = pattern::whole(namespaces)?;
        names.retain(|name| is_asked(name));
        return Ok(names.into_iter().map(Scope::Namespace).collect());
    }
    let tables = session.wait(admin.table_names_matching(regex, true))?;
    Ok(tables.into_iter().map(Scope::table).collect())
}

/// `namespace,table,family,qualifier: [Permission: actions=READ,WRITE]`
pub fn shown(permission: &pb::Permission) -> String {
    let (mut place, codes) = (["", "", "", ""].map(str::to_owned), &mut Vec::new());
    let text = |bytes: &Option<Bytes>| bytes.as_deref().map(to_string_binary).unwrap_or_default();
    if let Some(table) = &permission.table_permission {
        if let Some(name) = table.table_name.as_ref().and_then(|name| TableName::from_proto(name).ok()) {
            place[0] = name.namespace().to_owned();
            place[1] = name.to_string();
        }
        (place[2], place[3]) = (text(&table.family), text(&table.qualifier));
        codes.clone_from(&table.action);
    } else if let Some(namespace) = &permission.namespace_permission {
        place[0] = text(&namespace.namespace_name);
        codes.clone_from(&namespace.action);
    } else if let Some(global) = &permission.global_permission {
        codes.clone_from(&global.action);
    }
    let actions: Vec<&str> =
        codes.iter().filter_map(|code| Action::try_from(*code).ok()).map(|action| action.as_str_name()).collect();
    format!("{}: [Permission: actions={}]", place.join(","), actions.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_in_words() {
        assert_eq!(actions("RxA"), [Action::Read, Action::Admin]);
        let table =
            Scope::Table { table: TableName::parse("ns:t").unwrap(), family: Some("f".into()), qualifier: None };
        assert_eq!(shown(&table.permission(&actions("RW"))), "ns,ns:t,f,: [Permission: actions=READ,WRITE]");
        assert_eq!(shown(&Scope::Global.permission(&actions("X"))), ",,,: [Permission: actions=EXEC]");
        let namespace = Scope::Namespace("ns".into()).permission(&[]);
        assert_eq!(shown(&namespace), "ns,,,: [Permission: actions=]");
    }
}
