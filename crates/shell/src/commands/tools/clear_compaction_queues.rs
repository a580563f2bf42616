//! `clear_compaction_queues`: empties the queues of compactions of a server.

use crate::commands::arguments::texts;
use crate::commands::target;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "clear_compaction_queues",
    aliases: &[],
    summary: "empties the queues of compactions of a server",
    help: "\
Empties the queues of compactions of a server: `long`, `short`, or both.

  hbase> clear_compaction_queues 'host187.example.com,60020'
  hbase> clear_compaction_queues 'host187.example.com,60020','long'
  hbase> clear_compaction_queues 'host187.example.com,60020', ['long','short']
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let queues = match arguments.get(1) {
        None => vec!["long".to_owned(), "short".to_owned()],
        Some(value) => texts(value),
    };
    if let Some(unknown) = queues.iter().find(|queue| !["long", "short"].contains(&queue.as_str())) {
        return Err(Failure::argument(format!("Unknown queue name {unknown}")));
    }
    let server = target::server(session, &arguments.text(0))?;
    let admin = session.admin()?;
    let queues: Vec<&str> = queues.iter().map(String::as_str).collect();
    session.wait(admin.clear_compaction_queues(&server, &queues))?;
    Ok(Value::Nil)
}
