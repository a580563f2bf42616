//! `truncate_region`: empties one region.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "truncate_region",
    aliases: &[],
    summary: "empties one region",
    help: "\
Empties one region, named by its full or its encoded name.

  hbase> truncate_region 'REGIONNAME'
  hbase> truncate_region 'ENCODED_REGIONNAME'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let region = session.wait(admin.find_region(&arguments.bytes(0)))?;
    session.wait(admin.truncate_region(&region.info))?;
    Ok(Value::Nil)
}
