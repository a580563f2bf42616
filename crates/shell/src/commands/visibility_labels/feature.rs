//! Whether the cluster knows visibility labels, and what the commands of the group share.

use crate::commands::{Arguments, Options};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;
use martite_client::Scan;
use martite_client::admin::Capability;
use martite_filter::language;

/// Refuses where labels mean nothing.
pub fn check(session: &mut Session) -> Run<()> {
    let admin = session.admin()?;
    let is_there = match session.wait(admin.security_capabilities()) {
        Ok(capabilities) => capabilities.contains(&Capability::CellVisibility),
        Err(_) => session.wait(admin.table_exists(&TableName::parse("hbase:labels")?))?,
    };
    if is_there { Ok(()) } else { Err(Failure::argument("DISABLED: Visibility labels feature is not available")) }
}

/// The strings among the arguments, in arrays or not.
pub fn labels(arguments: &Arguments, from: usize) -> Vec<String> {
    arguments.flattened(from).iter().map(Value::to_text).collect()
}

/// A scan of the options that say which cells.
pub fn scan(options: &mut Options) -> Run<Scan> {
    let mut scan = Scan::new();
    for column in options.take_texts("COLUMNS").or_else(|| options.take_texts("COLUMN")).unwrap_or_default() {
        scan = match column.split_once(':') {
            Some((family, qualifier)) if !qualifier.is_empty() => scan.column(family, qualifier),
            Some((family, _)) => scan.family(family),
            None => scan.family(column),
        };
    }
    if let Some(row) = options.take_bytes("STARTROW") {
        scan = scan.start(row);
    }
    if let Some(row) = options.take_bytes("STOPROW") {
        scan = scan.stop(row);
    }
    if let Some(prefix) = options.take_bytes("ROWPREFIXFILTER") {
        scan = scan.prefix(prefix);
    }
    let ms = |value: &Value| match value {
        Value::Integer(ms) => u64::try_from(*ms).map_err(|_| Failure::argument(format!("{ms} is no time"))),
        other => Err(Failure::argument(format!("{} is no time", other.inspect()))),
    };
    if let Some(Value::Array(range)) = options.take("TIMERANGE") {
        match range.borrow().as_slice() {
            [from, to] => scan = scan.time_range(ms(from)?, ms(to)?),
            _ => return Err(Failure::argument("TIMERANGE must be two times")),
        }
    }
    if let Some(at) = options.take("TIMESTAMP") {
        let at = ms(&at)?;
        scan = scan.time_range(at, at.saturating_add(1));
    }
    match options.take("FILTER") {
        None => {}
        Some(Value::Filter(filter)) => scan = scan.filter((*filter).clone()),
        Some(text) => {
            let filter = language::parse(text.to_bytes()).map_err(|error| Failure::argument(error.to_string()))?;
            scan = scan.filter(filter);
        }
    }
    if options.is_empty() {
        return Ok(scan);
    }
    Err(Failure::argument(format!("options that set_visibility does not know: {}", options.keys().join(", "))))
}
