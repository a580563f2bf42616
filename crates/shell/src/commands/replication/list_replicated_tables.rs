//! `list_replicated_tables`: the families that are replicated.

use crate::commands::pattern;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_replicated_tables",
    aliases: &[],
    summary: "the families that are replicated",
    help: "\
Lists the families that are replicated, of all tables or of those that a regular expression matches.

  hbase> list_replicated_tables
  hbase> list_replicated_tables 'abc.*'
",
    arity: Arity::between(0, 1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    session.print.header_of_widths(&["TABLE:COLUMNFAMILY", "ReplicationType"], &[32]);
    let regex = pattern::matcher(&arguments.text_or(0, ".*"))?;
    let admin = session.admin()?;
    for table in session.wait(admin.replicated_tables())? {
        if !regex(table.name().as_str()) {
            continue;
        }
        for family in table.families().filter(|family| family.replication_scope() != 0) {
            let kind = match family.replication_scope() {
                1 => "GLOBAL",
                2 => "SERIAL",
                _ => "UNKNOWN",
            };
            session.print.row(&[format!("{}:{}", table.name(), family.name_string()), kind.to_owned()]);
        }
    }
    session.print.footer(None);
    Ok(Value::Nil)
}
