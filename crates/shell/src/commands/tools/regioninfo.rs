//! `regioninfo`: the table and keys of a region.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "regioninfo",
    aliases: &[],
    summary: "the table and keys of a region",
    help: "\
Prints a region's names and keys. It is named by its full or its encoded name.

  hbase> regioninfo '1588230740'
  {ENCODED => 1588230740, NAME => 'hbase:meta,,1', STARTKEY => '', ENDKEY => ''}
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let region = session.wait(admin.find_region(&arguments.bytes(0)))?;
    session.print.puts(format!("{:?}", region.info));
    Ok(Value::Nil)
}
