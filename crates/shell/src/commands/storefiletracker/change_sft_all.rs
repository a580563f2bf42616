//! `change_sft_all`: changes how the store files of many tables are tracked.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "change_sft_all",
    aliases: &[],
    summary: "changes how the store files of many tables are tracked",
    help: "\
Changes the store file tracker of all tables whose names match a Java regular expression; asks before.

  hbase> change_sft_all 't.*','FILE'
  hbase> change_sft_all 'ns:.*','FILE'
",
    arity: Arity::at_least(0),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    if arguments.len() != 2 {
        return Err(Failure::argument("Argument length should be two."));
    }
    let (regex, tracker) = (arguments.text(0), arguments.text(1));
    let admin = session.admin()?;
    let tables = session.wait(admin.table_names_matching(&regex, false))?;
    tables.iter().for_each(|table| session.print.row(&[table.to_string()]));
    if tables.is_empty() {
        session.print.puts(format!("No tables matched the regex {regex}"));
        return Ok(Value::Nil);
    }
    session.print.puts(format!("\nChange the above {} tables's sft (y/n)?", tables.len()));
    let answer = session.read_line().unwrap_or_default();
    if !answer.to_lowercase().contains('y') {
        return Ok(Value::Nil);
    }
    for table in &tables {
        session.wait(admin.modify_table_file_tracker(table, &tracker))?;
    }
    Ok(Value::Nil)
}
