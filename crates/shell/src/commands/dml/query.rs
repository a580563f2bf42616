//! Options that reads have in common, and how they become a Get or a Scan.

use super::mutation::{attributes, timestamp};
use crate::cells::Columns;
use crate::commands::Options;
use crate::commands::arguments::texts;
use crate::failure::{Failure, Run};
use crate::language::{Raise, Value};
use bytes::Bytes;
use martite_client::Scan;
use martite_proto as pb;

/// The columns of COLUMN or COLUMNS: a string, or an array of strings.
pub fn columns(value: &Value) -> Run<Vec<Bytes>> {
    match value {
        Value::Text(one) => Ok(vec![one.clone()]),
        Value::Array(many) => Ok(many.borrow().iter().map(Value::to_bytes).collect()),
        _ => Err(Failure::argument("COLUMNS must be specified as a String or an Array")),
    }
}

/// A filter as text in HBase's filter language, or made by its constructor.
pub fn filter(value: &Value) -> Run<pb::Filter> {
    match value {
        Value::Filter(filter) => Ok((**filter).clone()),
        Value::Text(text) => martite_filter::language::parse(text)
            .map_err(|error| Raise::new("Java::JavaLang::IllegalArgumentException", error.to_string()).into()),
        other => Err(Failure::argument(format!("FILTER is {}, which is no filter", other.inspect()))),
    }
}

/// `[from, to]` of TIMERANGE.
pub fn time_range(value: &Value) -> Run<(u64, u64)> {
    let Value::Array(items) = value else { return Err(Failure::argument("TIMERANGE is not [from, to]")) };
    let items = items.borrow();
    let [from, to, ..] = items.as_slice() else { return Err(Failure::argument("TIMERANGE is not [from, to]")) };
    let (from, to) = (timestamp(from)?, timestamp(to)?);
    if to < from {
        return Err(Failure::argument("maxStamp is smaller than minStamp"));
    }
    Ok((from, to))
}

pub fn consistency(name: &str) -> Run<pb::Consistency> {
    match name {
        "STRONG" => Ok(pb::Consistency::Strong),
        "TIMELINE" => Ok(pb::Consistency::Timeline),
        other => Err(no_constant("client.Consistency", other)),
    }
}

/// Java's words for a name that an enum does not have.
pub fn no_constant(class: &str, name: &str) -> Failure {
    let message = format!("No enum constant org.apache.hadoop.hbase.{class}.{name}");
    Raise::new("Java::JavaLang::IllegalArgumentException", message).into()
}

/// Reads are of the primary region: secondary ones are not asked by number.
pub fn check_replica(options: &mut Options) -> Run<()> {
    match options.take_integer("REGION_REPLICA_ID")? {
        None | Some(0) => Ok(()),
        Some(id) => {
            Err(Failure::argument(format!("REGION_REPLICA_ID => {id}: this shell reads from primary regions only (0)")))
        }
    }
}

/// AUTHORIZATIONS: an array of labels.
pub fn authorizations(value: &Value) -> Run<Vec<String>> {
    match value {
        Value::Array(_) => Ok(texts(value)),
        _ => Err(Failure::argument("Authorizations must be a Array type")),
    }
}

/// Things that are printed or counted, not sent.
pub struct Wanted {
    pub columns: Columns,
    /// METRICS or ALL_METRICS; the names that are wanted, none for all.
    pub metrics: Option<Vec<String>>,
}

/// A scan as its options describe it.
pub fn scan(options: &mut Options, mut columns: Columns) -> Run<(Scan, Wanted)> {
    columns.set_max_length(options.take_integer("MAXLENGTH")?);
    let (method, class) = (options.take_text("FORMATTER"), options.take_text("FORMATTER_CLASS"));
    columns.set_formatter(class.as_deref(), method)?;
    let mut scan = bounds(options);
    for name in ["COLUMNS", "COLUMN"] {
        if let Some(value) = options.take(name) {
            for column in self::columns(&value)? {
                scan = match columns.parse(&column)? {
                    (family, Some(qualifier)) => scan.column(family, qualifier),
                    (family, None) => scan.family(family),
                };
            }
        }
    }
    if let Some(value) = options.take("FILTER") {
        scan = scan.filter(filter(&value)?);
    }
    if let Some(value) = options.take("TIMESTAMP") {
        scan = scan.at(timestamp(&value)?);
    }
    if let Some(value) = options.take("TIMERANGE") {
        let (from, to) = time_range(&value)?;
        scan = scan.time_range(from, to);
    }
    scan = sizes(options, scan)?;
    scan = manner(options, scan)?;
    let all_metrics = options.take("ALL_METRICS").is_some();
    let some_metrics = options.take_texts("METRICS");
    let metrics = if all_metrics || some_metrics.is_some() { Some(some_metrics.unwrap_or_default()) } else { None };
    Ok((scan.with_metrics(metrics.is_some()), Wanted { columns, metrics }))
}

fn bounds(options: &mut Options) -> Scan {
    let start = options.take_bytes("STARTROW").unwrap_or_default();
    let stop = options.take_bytes("STOPROW");
    let mut scan = Scan::new().start(start);
    if let Some(stop) = stop {
        scan = scan.stop(stop);
    }
    // As in HBase: the prefix is stronger than both.
    match options.take_bytes("ROWPREFIXFILTER") {
        Some(prefix) => scan.prefix(prefix),
        None => scan,
    }
}

fn sizes(options: &mut Options, mut scan: Scan) -> Run<Scan> {
    let positive = |value: Option<i64>| value.filter(|v| *v > 0).map(|v| u32::try_from(v).unwrap_or(u32::MAX));
    if let Some(versions) = positive(options.take_integer("VERSIONS")?) {
        scan = scan.max_versions(versions.min(i32::MAX as u32));
    }
    if let Some(rows) = positive(options.take_integer("LIMIT")?) {
        scan = scan.limit(rows);
    }
    if let Some(rows) = positive(options.take_integer("CACHE")?) {
        scan = scan.caching(rows);
    }
    if let Some(cells) = positive(options.take_integer("BATCH")?) {
        scan = scan.batch(cells);
    }
    if let Some(bytes) = options.take_integer("MAX_RESULT_SIZE")?.filter(|b| *b > 0) {
        scan = scan.max_result_bytes(bytes as u64);
    }
    Ok(scan)
}

fn manner(options: &mut Options, mut scan: Scan) -> Run<Scan> {
    if let Some(cache) = options.take_bool("CACHE_BLOCKS") {
        scan = scan.cache_blocks(cache);
    }
    if options.take("REVERSED").is_some() {
        scan = scan.reversed(true);
    }
    if options.take("RAW").is_some() {
        scan = scan.raw(true);
    }
    if options.take("ALLOW_PARTIAL_RESULTS").is_some() {
        scan = scan.allow_partials(true);
    }
    if let Some(name) = options.take_text("CONSISTENCY") {
        scan = scan.consistency(consistency(&name)?);
    }
    check_replica(options)?;
    if let Some(name) = options.take_text("ISOLATION_LEVEL") {
        let level = match name.as_str() {
            "READ_COMMITTED" => 0u8,
            "READ_UNCOMMITTED" => 1,
            other => return Err(no_constant("client.IsolationLevel", other)),
        };
        scan = scan.attribute("_isolationlevel_", vec![level]);
    }
    if let Some(name) = options.take_text("READ_TYPE") {
        scan = scan.read_type(match name.as_str() {
            "DEFAULT" => pb::scan::ReadType::Default,
            "STREAM" => pb::scan::ReadType::Stream,
            "PREAD" => pb::scan::ReadType::Pread,
            other => return Err(no_constant("client.Scan.ReadType", other)),
        });
    }
    if let Some(value) = options.take("ATTRIBUTES") {
        for (name, value) in attributes(&value)? {
            scan = scan.attribute(&name, value);
        }
    }
    if let Some(value) = options.take("AUTHORIZATIONS") {
        let labels = authorizations(&value)?;
        scan = scan.authorizations(labels.iter().map(String::as_str));
    }
    Ok(scan)
}
