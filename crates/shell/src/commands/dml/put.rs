//! `put`: one cell.

use super::mutation::{Extras, timestamp_and_options, with_extras};
use crate::cells::split_column;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_client::Put;

pub const COMMAND: Command = Command {
    name: "put",
    aliases: &[],
    summary: "write a cell",
    help: "\
Writes a value into a cell: table, row, column, value, and if it should not be now, the timestamp in milliseconds.
Options: ATTRIBUTES, VISIBILITY, TTL (milliseconds).

  hbase> put 'ns1:t1', 'r1', 'f:q', 'value'
  hbase> put 't1', 'r1', 'f:q', 'value', 1700000000000
  hbase> put 't1', \"r\\x00\", 'f:q', \"\\x00\\x01\"
  hbase> put 't1', 'r1', 'f:q', 'value', {TTL => 5000}
  hbase> put 't1', 'r1', 'f:q', 'value', 1700000000000, {ATTRIBUTES => {'mykey' => 'myvalue'}}
  hbase> put 't1', 'r1', 'f:q', 'value', {VISIBILITY => 'PRIVATE|SECRET'}

With a reference to the table:

  hbase> t.put 'r1', 'f:q', 'value'
",
    arity: Arity::between(4, 6),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let table = session.table(&arguments.text(0))?;
    session.restart_clock();
    let column = arguments.bytes(2);
    let (family, qualifier) = split_column(&column);
    let (timestamp, options) = timestamp_and_options(&arguments, 4)?;
    let extras = Extras::of(options)?;
    let mut put = Put::row(arguments.bytes(1)).column(family, qualifier.unwrap_or_default(), arguments.bytes(3));
    if let Some(timestamp) = timestamp {
        put = put.at(timestamp);
    }
    let put = with_extras!(put, extras);
    session.wait(async { table.put(put).await })?;
    Ok(Value::Nil)
}
