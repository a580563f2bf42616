//! Which tables there are, what they look like, and in what state they are.

use super::{Call, table};
use crate::MasterError;
use crate::catalog::TableEntry;
use crate::services::Services;
use fancy_regex::Regex;
use martite_catalog::{RegionState, TableName, TableState};
use martite_proto as pb;

/// What a client asks for.
#[derive(Default)]
pub(super) struct Wanted<'a> {
    pub names: &'a [pb::TableName],
    pub regex: Option<&'a str>,
    pub namespace: Option<&'a str>,
    pub system: bool,
}

pub(super) fn matching(services: &Services, wanted: &Wanted<'_>) -> Result<Vec<TableEntry>, MasterError> {
    let mut tables = if wanted.names.is_empty() {
        let namespace = wanted.namespace.filter(|n| !n.is_empty());
        if let Some(namespace) = namespace {
            services.namespaces.existing(namespace)?;
        }
        let of_namespace = |t: &TableEntry| namespace.is_none_or(|n| t.name().namespace() == n);
        let all = services.catalog.tables().into_iter().filter(of_namespace);
        let mut all: Vec<TableEntry> = all.filter(|t| wanted.system || !t.name().is_system()).collect();
        // HBase's order: by the name with its namespace, the default one too.
        all.sort_by_cached_key(|t| t.name().with_namespace());
        all
    } else {
        let mut found: Vec<TableEntry> = Vec::new();
        for name in wanted.names {
            found.extend(services.catalog.table(&table(name)?));
        }
        found
    };
    if let Some(regex) = wanted.regex {
        let regex = whole_match(regex)?;
        let mut matches = Vec::with_capacity(tables.len());
        for entry in tables {
            if matches_name(&regex, entry.name())? {
                matches.push(entry);
            }
        }
        tables = matches;
    }
    Ok(tables)
}

/// A pattern that must match all of a name, as Java's Matcher.matches.
fn whole_match(pattern: &str) -> Result<Regex, MasterError> {
    Regex::new(&format!("^(?:{})$", without_quotes(pattern)))
        .map_err(|e| MasterError::do_not_retry(format!("java.util.regex.PatternSyntaxException: {pattern}: {e}")))
}

/// Java's `\Q…\E` as single quoted characters.
fn without_quotes(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some((before, quoted)) = rest.split_once("\\Q") {
        let (literal, after) = quoted.split_once("\\E").unwrap_or((quoted, ""));
        out.push_str(before);
        out.push_str(&fancy_regex::escape(literal));
        rest = after;
    }
    out + rest
}

/// A table of the default namespace answers to both forms of its name.
fn matches_name(regex: &Regex, name: &TableName) -> Result<bool, MasterError> {
    let is_match =
        |text: &str| regex.is_match(text).map_err(|e| MasterError::do_not_retry(format!("matching {text}: {e}")));
    Ok(is_match(name.as_str())? || (name.namespace() == "default" && is_match(&name.with_namespace())?))
}

pub fn get_table_descriptors(
    call: &Call<'_>,
    req: pb::GetTableDescriptorsRequest,
) -> Result<pb::GetTableDescriptorsResponse, MasterError> {
    let wanted = Wanted {
        names: &req.table_names,
        regex: req.regex.as_deref(),
        namespace: req.namespace.as_deref(),
        system: req.include_sys_tables.unwrap_or(false),
    };
    let tables = matching(call.services, &wanted)?;
    Ok(pb::GetTableDescriptorsResponse { table_schema: tables.iter().map(|t| t.descriptor.to_proto()).collect() })
}

pub fn get_table_names(
    call: &Call<'_>,
    req: pb::GetTableNamesRequest,
) -> Result<pb::GetTableNamesResponse, MasterError> {
    let wanted = Wanted {
        names: &[],
        regex: req.regex.as_deref(),
        namespace: req.namespace.as_deref(),
        system: req.include_sys_tables.unwrap_or(false),
    };
    let tables = matching(call.services, &wanted)?;
    Ok(pb::GetTableNamesResponse { table_names: tables.iter().map(|t| t.name().to_proto()).collect() })
}

fn in_state(call: &Call<'_>, is_enabled: bool) -> Result<Vec<TableEntry>, MasterError> {
    let state = if is_enabled { TableState::Enabled } else { TableState::Disabled };
    let tables = matching(call.services, &Wanted::default())?;
    Ok(tables.into_iter().filter(|t| t.state == state).collect())
}

pub fn list_table_descriptors_by_state(
    call: &Call<'_>,
    req: pb::ListTableDescriptorsByStateRequest,
) -> Result<pb::ListTableDescriptorsByStateResponse, MasterError> {
    let table_schema = in_state(call, req.is_enabled)?.iter().map(|t| t.descriptor.to_proto()).collect();
    Ok(pb::ListTableDescriptorsByStateResponse { table_schema })
}

pub fn list_table_names_by_state(
    call: &Call<'_>,
    req: pb::ListTableNamesByStateRequest,
) -> Result<pb::ListTableNamesByStateResponse, MasterError> {
    let table_names = in_state(call, req.is_enabled)?.iter().map(|t| t.name().to_proto()).collect();
    Ok(pb::ListTableNamesByStateResponse { table_names })
}

pub fn get_table_state(
    call: &Call<'_>,
    req: pb::GetTableStateRequest,
) -> Result<pb::GetTableStateResponse, MasterError> {
    let table = table(&req.table_name)?;
    let entry = call
        .services
        .catalog
        .table(&table)
        .ok_or_else(|| MasterError::new(crate::class::TABLE_NOT_FOUND, format!("No state found for {table}")))?;
    Ok(pb::GetTableStateResponse { table_state: entry.state.to_proto() })
}

pub fn get_schema_alter_status(
    call: &Call<'_>,
    req: pb::GetSchemaAlterStatusRequest,
) -> Result<pb::GetSchemaAlterStatusResponse, MasterError> {
    let table = table(&req.table_name)?;
    let live = call.services.catalog.regions(&table).into_iter().filter(|r| r.is_live());
    let (mut total, mut moving) = (0, 0);
    for region in live {
        total += 1;
        moving += u32::from(!matches!(region.state, RegionState::Open | RegionState::Closed));
    }
    Ok(pb::GetSchemaAlterStatusResponse { yet_to_update_regions: Some(moving), total_regions: Some(total) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names_in_both_forms() {
        let matches = |pattern: &str, name: &str| {
            matches_name(&whole_match(pattern).unwrap(), &TableName::parse(name).unwrap()).unwrap()
        };
        assert!(matches("t.*", "table") && !matches("abl", "table"));
        assert!(matches("default:.*", "table") && !matches("default:.*", "ns:table"));
        assert!(matches("ns:.*", "ns:table") && matches(r"\Qt.1\E|x", "t.1") && !matches(r"\Qt.1\E", "tx1"));
        assert!(matches("(?i)TABLE", "table") && matches("(?!a).*", "table"));
        assert!(whole_match("(").unwrap_err().message.starts_with("java.util.regex.PatternSyntaxException"));
    }
}
