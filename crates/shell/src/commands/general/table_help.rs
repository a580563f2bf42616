//! `table_help`: what a reference to a table can do.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "table_help",
    aliases: &[],
    summary: "help for references to tables",
    help: "\
A reference to a table has the commands that take a table's name, without the name. create and get_table give one:

  hbase> t = create 't', 'f'
  hbase> t = get_table 't'

  hbase> t.put 'r', 'f:q', 'v'
  hbase> t.get 'r'
  hbase> t.scan LIMIT => 5

Its methods are append, count, delete, deleteall, get, get_all_columns, get_counter, get_splits, incr, put, scan, and for the
table as a whole describe, disable, drop, enable, flush, snapshot. Help for one of them:

  hbase> t.help 'scan'

A reference to a table that was dropped is of no use any more.
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    session.print.print(COMMAND.help);
    Ok(Value::Nil)
}
