//! `list_procedures`: what the master is at, and what it did lately.

use crate::commands::time;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_procedures",
    aliases: &[],
    summary: "what the master is at, and what it did lately",
    help: "\
Lists the procedures of the master.

  hbase> list_procedures
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    session.print.header(&["PID", "Name", "State", "Submitted", "Last_Update", "Parameters"]);
    let admin = session.admin()?;
    let procedures = session.wait(admin.procedures())?;
    for procedure in &procedures {
        let parameters: Vec<&str> = procedure.state_message.iter().map(|any| message_name(&any.type_url)).collect();
        session.print.row(&[
            procedure.proc_id.to_string(),
            procedure.class_name.clone(),
            procedure.state().as_str_name().to_owned(),
            time::seconds(procedure.submitted_time),
            time::seconds(procedure.last_update),
            format!("[{}]", parameters.join(", ")),
        ]);
    }
    session.print.footer(Some(procedures.len() as u64));
    Ok(Value::Nil)
}

/// The message's name at the end of a type's URL.
fn message_name(url: &str) -> &str {
    url.rsplit(['/', '.']).next().unwrap_or(url)
}
