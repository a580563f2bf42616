//! `show_filters`: the filters of the filter language.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "show_filters",
    aliases: &[],
    summary: "the filters that FILTER knows by name",
    help: "\
Lists the filters that the filter language of scan and get knows.

  hbase> show_filters
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    for name in martite_filter::language::filter_names() {
        session.print.row(&[name]);
    }
    Ok(Value::Nil)
}
