//! `flush_master_store`: flushes the master's own store.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "flush_master_store",
    aliases: &[],
    summary: "flushes the master's own store",
    help: "\
Flushes the region in which the master keeps its own records.

  hbase> flush_master_store
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    session.wait(admin.flush_master_store())?;
    Ok(Value::Nil)
}
