//! `trace`: whether calls are traced: never.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "trace",
    aliases: &[],
    summary: "whether calls are traced: never",
    help: "\
HBase's shell starts and stops spans of OpenTelemetry; this one has no tracing, and says so.

  hbase> trace 'status'
",
    arity: Arity::between(0, 2),
    run,
};

fn run(_session: &mut Session, arguments: Arguments) -> Run {
    if arguments.text_or(0, "status") == "start" {
        return Err(Failure::runtime("This shell cannot trace calls"));
    }
    Ok(Value::Bool(false))
}
