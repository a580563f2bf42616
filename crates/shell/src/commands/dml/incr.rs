//! `incr`: adds to a counter.

use super::get_counter::print_counter;
use super::mutation::{Extras, with_extras};
use crate::cells::split_column;
use crate::commands::arguments::integer;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_client::Increment;

pub const COMMAND: Command = Command {
    name: "incr",
    aliases: &[],
    summary: "add to a counter",
    help: "\
Adds to a counter, a cell with a number of eight bytes, atomically, and prints the new number. Without an amount, adds 1.
Options: ATTRIBUTES, VISIBILITY, TTL.

  hbase> incr 'ns1:t1', 'r1', 'f:q'
  hbase> incr 't1', 'r1', 'f:q', 10
  hbase> incr 't1', 'r1', 'f:q', -1, {ATTRIBUTES => {'mykey' => 'myvalue'}}

With a reference to the table:

  hbase> t.incr 'r1', 'f:q', 10
",
    arity: Arity::between(3, 5),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let table = session.table(&arguments.text(0))?;
    let column = arguments.bytes(2);
    let (family, qualifier) = split_column(&column);
    let (amount, options) = match arguments.get(3) {
        Some(Value::Hash(_)) => (1, arguments.options(3)?),
        Some(value) => (integer("the amount", value)?, arguments.options(4)?),
        None => (1, arguments.options(4)?),
    };
    let extras = Extras::of(options)?;
    let increment = Increment::row(arguments.bytes(1)).column(family, qualifier.unwrap_or_default(), amount);
    let increment = with_extras!(increment, extras);
    let row = session.wait(async { table.increment(increment).await })?;
    print_counter(session, &row)
}
