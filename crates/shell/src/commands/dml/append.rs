//! `append`: bytes to the end of a value.

use super::mutation::{Extras, with_extras};
use crate::cells::split_column;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::to_string_binary;
use martite_client::Append;

pub const COMMAND: Command = Command {
    name: "append",
    aliases: &[],
    summary: "lengthen a value",
    help: "\
Adds bytes to the end of a cell's value, atomically, and prints the new value. Options: ATTRIBUTES, VISIBILITY, TTL.

  hbase> append 't1', 'r1', 'f:q', 'value'
  hbase> append 't1', 'r1', 'f:q', 'value', ATTRIBUTES => {'mykey' => 'myvalue'}

With a reference to the table:

  hbase> t.append 'r1', 'f:q', 'value'
",
    arity: Arity::between(4, 5),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let table = session.table(&arguments.text(0))?;
    session.restart_clock();
    let column = arguments.bytes(2);
    let (family, qualifier) = split_column(&column);
    let extras = Extras::of(arguments.options(4)?)?;
    let append = Append::row(arguments.bytes(1)).column(family, qualifier.unwrap_or_default(), arguments.bytes(3));
    let append = with_extras!(append, extras);
    let row = session.wait(async { table.append(append).await })?;
    if let Some(cell) = row.cells().next() {
        session.print.puts(format!("CURRENT VALUE = {}", to_string_binary(cell.value)));
    }
    Ok(Value::Nil)
}
