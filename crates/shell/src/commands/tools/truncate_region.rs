//! `truncate_region`: empties one region.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_catalog::to_string_binary;

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
    let name = arguments.bytes(0);
    let region = match session.wait(admin.find_region(&name)) {
        Err(failure) if failure.is("UnknownRegionException") => {
            return Err(Failure::argument(format!("Invalid region: {}", to_string_binary(&name))));
        }
        found => found?,
    };
    session.wait(admin.truncate_region(&region.info))?;
    Ok(Value::Nil)
}
