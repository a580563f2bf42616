//! `wal_roll`: begins a new log file on a server.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::ServerName;

pub const COMMAND: Command = Command {
    name: "wal_roll",
    aliases: &["hlog_roll"],
    summary: "begins a new log file on a server",
    help: "\
A region server begins a new log file. It is named by host, port and start code.

  hbase> wal_roll 'host187.example.com,60020,1289493121758'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let server = ServerName::parse(&arguments.text(0))?;
    let admin = session.admin()?;
    session.wait(admin.roll_wal_writer(&server))?;
    Ok(Value::Nil)
}
