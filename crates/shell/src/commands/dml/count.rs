//! `count`: rows of a table.

use super::query;
use crate::cells::Columns;
use crate::commands::{Arguments, Arity, Command, Options};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_catalog::to_string_binary;
use martite_client::Scan;
use martite_filter::build;

pub const COMMAND: Command = Command {
    name: "count",
    aliases: &[],
    summary: "count rows",
    help: "\
Counts the rows of a table by reading their keys, and says how far it is every INTERVAL (1000) rows. What bounds a scan
bounds the count, too. Blocks that are read do not go into the cache, unless CACHE_BLOCKS says so.

  hbase> count 'ns1:t1'
  hbase> count 't1', INTERVAL => 100000
  hbase> count 't1', 100000
  hbase> count 't1', COLUMNS => ['f', 'g'], STARTROW => 'abc', STOPROW => 'xyz'
  hbase> count 't1', FILTER => \"PrefixFilter('row2')\", CACHE => 1000

With a reference to the table:

  hbase> t.count INTERVAL => 100000
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let table = session.table(&arguments.text(0))?;
    let (interval, mut options) = match arguments.get(1) {
        Some(Value::Integer(interval)) => (*interval, Options::default()),
        _ => {
            let mut options = arguments.options(1)?;
            (options.take_integer("INTERVAL")?.unwrap_or(1000), options)
        }
    };
    let interval = u64::try_from(interval).ok().filter(|i| *i > 0);
    let interval = interval.ok_or_else(|| Failure::argument("INTERVAL must be positive"))?;
    let scan = build(&mut options)?;
    session.restart_clock();
    let mut scanner = table.scan(scan);
    let mut count = 0;
    while let Some(row) = session.wait(scanner.next())? {
        count += 1;
        if count % interval == 0 {
            let line = format!("Current count: {count}, row: {}", to_string_binary(row.row()));
            session.print.row(&[line]);
            session.print.flush();
        }
    }
    session.print.footer(Some(count));
    Ok(Value::Integer(count as i64))
}

fn build(options: &mut Options) -> Run<Scan> {
    let cache = options.take_any("CACHE_BLOCKS").map_or(Ok(false), |value| match &value {
        Value::Bool(yes) => Ok(*yes),
        other => match other.to_text().to_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(Failure::argument("Expected CACHE_BLOCKS value to be a boolean or the string 'true' or 'false'")),
        },
    })?;
    let keys = [build::first_key_only(), build::key_only(false)];
    let filters = match options.take("FILTER") {
        Some(value) => std::iter::once(query::filter(&value)?).chain(keys).collect::<Vec<_>>(),
        None => keys.to_vec(),
    };
    let (scan, _) = query::scan(options, Columns::default())?;
    Ok(scan.filter(build::all(filters)).cache_blocks(cache))
}
