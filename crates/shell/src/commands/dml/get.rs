//! `get`: one row, or what of it is asked for.

use super::mutation::{attributes, timestamp};
use super::query;
use crate::cells::Columns;
use crate::commands::{Arguments, Arity, Command, Options};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_client::Get;

pub const COMMAND: Command = Command {
    name: "get",
    aliases: &[],
    summary: "read a row",
    help: "\
Reads a row, or some columns of it. Options: COLUMN or COLUMNS, VERSIONS, TIMESTAMP, TIMERANGE, FILTER, MAXLENGTH,
ATTRIBUTES, AUTHORIZATIONS, CONSISTENCY, FORMATTER, FORMATTER_CLASS.

  hbase> get 'ns1:t1', 'r1'
  hbase> get 't1', 'r1', 'f:q'
  hbase> get 't1', 'r1', 'f:q', 'g'
  hbase> get 't1', 'r1', ['f:q', 'g']
  hbase> get 't1', 'r1', {COLUMN => ['f:q', 'g'], VERSIONS => 4}
  hbase> get 't1', 'r1', {COLUMN => 'f', TIMESTAMP => 1700000000000}
  hbase> get 't1', 'r1', {TIMERANGE => [1700000000000, 1700000005000], VERSIONS => 4}
  hbase> get 't1', 'r1', {FILTER => \"ValueFilter(=, 'binary:abc')\"}
  hbase> get 't1', 'r1', {COLUMN => 'f', MAXLENGTH => 40}

Values that are numbers are shown by a converter, a method of HBase's class Bytes, behind the column, or for
everything by FORMATTER:

  hbase> get 't1', 'r1', 'f:count:toLong', 'f:age:c(org.apache.hadoop.hbase.util.Bytes).toInt'
  hbase> get 't1', 'r1', {FORMATTER => 'toString'}

With a reference to the table:

  hbase> t.get 'r1', 'f:q'
",
    arity: Arity::at_least(2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = arguments.text(0);
    let table = session.table(&name)?;
    session.restart_clock();
    session.print.header(&["COLUMN", "CELL"]);
    let mut columns = Columns::new(&name, session.setup.epoch_timestamps);
    let get = build(&arguments, &mut columns)?;
    let row = session.wait(async { table.get(get).await })?;
    for cell in row.cells() {
        let line = [columns.column_text(&cell)?, columns.cell_text(&cell)?];
        session.print.row(&line);
    }
    let found = u64::from(!row.is_empty());
    session.print.footer_stale(Some(found), row.is_stale());
    Ok(Value::Nil)
}

fn build(arguments: &Arguments, columns: &mut Columns) -> Run<Get> {
    let mut get = Get::row(arguments.bytes(1));
    let mut options = match arguments.get(2) {
        Some(Value::Hash(_)) => arguments.options(2)?,
        _ => {
            let names = arguments.flattened(2);
            return add_columns(get.max_versions(1), &Value::array(names), columns);
        }
    };
    let given = arguments.text(2);
    columns.set_max_length(options.take_integer("MAXLENGTH")?);
    let (method, class) = (options.take_text("FORMATTER"), options.take_text("FORMATTER_CLASS"));
    columns.set_formatter(class.as_deref(), method)?;
    if let Some(value) = options.take("FILTER") {
        get = get.filter(query::filter(&value)?);
    }
    if let Some(name) = options.take_text("CONSISTENCY") {
        get = get.consistency(query::consistency(&name)?);
    }
    query::check_replica(&mut options)?;
    if options.is_empty() {
        return Ok(get);
    }
    let wanted = options.take("COLUMN").or(options.take("COLUMNS"));
    let is_known = ["ATTRIBUTES", "AUTHORIZATIONS", "TIMESTAMP", "TIMERANGE"].iter().any(|key| options.has(key));
    match wanted {
        Some(wanted) => get = add_columns(get, &wanted, columns)?,
        None if is_known => {}
        None => return Err(Failure::argument(format!("Failed parse of {given}, Hash"))),
    }
    limits(get, &mut options)
}

fn add_columns(mut get: Get, wanted: &Value, columns: &mut Columns) -> Run<Get> {
    let wanted = query::columns(wanted)
        .map_err(|_| Failure::argument(format!("Failed parse column argument type {}", wanted.inspect())))?;
    for column in wanted {
        get = match columns.parse(&column)? {
            (family, Some(qualifier)) => get.column(family, qualifier),
            (family, None) => get.family(family),
        };
    }
    Ok(get)
}

fn limits(mut get: Get, options: &mut Options) -> Run<Get> {
    let versions = options.take_integer("VERSIONS")?.unwrap_or(1);
    let versions = u32::try_from(versions).ok().filter(|v| *v > 0);
    get = get.max_versions(versions.ok_or_else(|| Failure::argument("maxVersions must be positive"))?);
    if let Some(value) = options.take("TIMESTAMP") {
        get = get.at(timestamp(&value)?);
    }
    if let Some(value) = options.take("TIMERANGE") {
        let (from, to) = query::time_range(&value)?;
        get = get.time_range(from, to);
    }
    if let Some(value) = options.take("ATTRIBUTES") {
        for (name, value) in attributes(&value)? {
            get = get.attribute(&name, value);
        }
    }
    if let Some(value) = options.take("AUTHORIZATIONS") {
        let labels = query::authorizations(&value)?;
        get = get.authorizations(labels.iter().map(String::as_str));
    }
    Ok(get)
}
