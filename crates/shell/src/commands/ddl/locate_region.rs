//! `locate_region`: the region of a row.

use crate::cells::region_text;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::language::java::to_bytes_binary;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "locate_region",
    aliases: &[],
    summary: "the region and the server of a row",
    help: "\
Prints the region that has a row, and its server. Bytes of the row may be written as \\xNN.

  hbase> locate_region 'ns1:t1', 'key0'
",
    arity: Arity::exactly(2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let table = session.table(&arguments.text(0))?;
    let row = to_bytes_binary(&arguments.bytes(1));
    let location = session.wait(async { table.locate(row).await })?;
    let region = region_text(&location.info);
    session.print.header(&["HOST", "REGION"]);
    session.print.row(&[location.server.address(), region]);
    session.print.footer(Some(1));
    Ok(Value::Opaque(format!("region={}, hostname={}", location.info.name_string(), location.server).into()))
}
