//! `get_counter`: reads a counter.

use crate::cells::split_column;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_client::{Get, Row};

pub const COMMAND: Command = Command {
    name: "get_counter",
    aliases: &[],
    summary: "read a counter",
    help: "\
Prints a counter: a cell with a number of eight bytes, as incr writes it.

  hbase> get_counter 'ns1:t1', 'r1', 'f:q'

With a reference to the table:

  hbase> t.get_counter 'r1', 'f:q'
",
    arity: Arity::exactly(3),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let table = session.table(&arguments.text(0))?;
    let column = arguments.bytes(2);
    let get = Get::row(arguments.bytes(1));
    let get = match split_column(&column) {
        (family, Some(qualifier)) => get.column(family, qualifier),
        (family, None) => get.column(family, b""),
    };
    let row = session.wait(async { table.get(get.max_versions(1)).await })?;
    print_counter(session, &row)
}

/// The first cell as a number of eight bytes.
pub fn print_counter(session: &mut Session, row: &Row) -> Run {
    match row.cells().next() {
        None => session.print.puts("No counter found at specified coordinates"),
        Some(cell) => {
            let length = cell.value.len();
            let bytes = cell.value.first_chunk::<8>().ok_or_else(|| {
                Failure::argument(format!("offset (0) + length (8) exceed the capacity of the array: {length}"))
            })?;
            session.print.puts(format!("COUNTER VALUE = {}", i64::from_be_bytes(*bytes)));
        }
    }
    Ok(Value::Nil)
}
