//! `regioninfo`: the table and keys of a region.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::to_string_binary;

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
    let info = &region.info;
    session.print.puts(format!(
        "{{ENCODED => {}, NAME => '{}', STARTKEY => '{}', ENDKEY => '{}'}}",
        info.encoded_name(),
        to_string_binary(info.name()),
        to_string_binary(info.start_key()),
        to_string_binary(info.end_key())
    ));
    Ok(Value::Nil)
}
