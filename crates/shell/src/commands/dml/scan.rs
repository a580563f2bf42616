//! `scan`: rows of a table.

use super::query;
use crate::cells::Columns;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_client::{Row, Scanner};

pub const COMMAND: Command = Command {
    name: "scan",
    aliases: &[],
    summary: "read rows",
    help: "\
Reads rows of a table. Options:
  which rows     STARTROW, STOPROW, ROWPREFIXFILTER, LIMIT, REVERSED, FILTER
  which cells    COLUMNS, VERSIONS, TIMESTAMP, TIMERANGE, RAW (with delete markers), AUTHORIZATIONS
  how to print   MAXLENGTH, FORMATTER, FORMATTER_CLASS, ALL_METRICS, METRICS
  how to read    CACHE (rows a call), BATCH (cells a row), MAX_RESULT_SIZE, CACHE_BLOCKS, ALLOW_PARTIAL_RESULTS, READ_TYPE,
                 ISOLATION_LEVEL, CONSISTENCY, ATTRIBUTES

  hbase> scan 'ns1:t1'
  hbase> scan 't1', {COLUMNS => ['f', 'g:q'], LIMIT => 10, STARTROW => 'xyz'}
  hbase> scan 't1', {ROWPREFIXFILTER => 'row2', FILTER => \"QualifierFilter(>=, 'binary:xyz') AND TimestampsFilter(123, 456)\"}
  hbase> scan 't1', {FILTER => org.apache.hadoop.hbase.filter.ColumnPaginationFilter.new(1, 0)}
  hbase> scan 't1', {COLUMNS => 'f', TIMERANGE => [1700000000000, 1700000005000]}
  hbase> scan 't1', {REVERSED => true, LIMIT => 1}
  hbase> scan 't1', {RAW => true, VERSIONS => 10}
  hbase> scan 't1', {METRICS => ['RPC_CALLS', 'ROWS_SCANNED']}
  hbase> scan 'hbase:meta', {COLUMNS => 'info:regioninfo'}

Values that are numbers are shown by a converter, a method of HBase's class Bytes, behind the column, or for
everything by FORMATTER:

  hbase> scan 't1', {COLUMNS => ['f:count:toLong', 'f:age:c(org.apache.hadoop.hbase.util.Bytes).toInt']}
  hbase> scan 't1', {FORMATTER => 'toString'}

With a reference to the table:

  hbase> t.scan LIMIT => 5
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = arguments.text(0);
    let table = session.table(&name)?;
    session.print.header(&["ROW", "COLUMN+CELL"]);
    if arguments.get(1).is_some_and(|value| !matches!(value, Value::Hash(_))) {
        return Err(Failure::argument("Args should be a Hash"));
    }
    let mut options = arguments.options(1)?;
    let columns = Columns::new(&name, session.setup.epoch_timestamps);
    let (scan, wanted) = query::scan(&mut options, columns)?;
    session.restart_clock();
    let mut scanner = table.scan(scan);
    let (mut rows, mut is_stale) = (0, false);
    while let Some(row) = session.wait(scanner.next())? {
        is_stale |= row.is_stale();
        rows += 1;
        print_row(session, &wanted.columns, &row)?;
    }
    session.stop_clock();
    session.print.footer_stale(Some(rows), is_stale);
    if let Some(names) = &wanted.metrics {
        print_metrics(session, &scanner, names);
    }
    Ok(Value::Nil)
}

fn print_row(session: &mut Session, columns: &Columns, row: &Row) -> Run<()> {
    let key = columns.row_text(row.row())?;
    for cell in row.cells() {
        let text = format!("column={}, {}", columns.column_text(&cell)?, columns.cell_text(&cell)?);
        session.print.row(&[key.as_str(), text.as_str()]);
    }
    Ok(())
}

fn print_metrics(session: &mut Session, scanner: &Scanner, names: &[String]) {
    session.print.puts("");
    session.print.row_of(&["METRIC", "VALUE"], false);
    for (name, value) in scanner.metrics().iter() {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            session.print.row(&[name, value.to_string().as_str()]);
        }
    }
}
