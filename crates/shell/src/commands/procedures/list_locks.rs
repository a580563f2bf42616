//! `list_locks`: what procedures have locked.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_client::pb;

pub const COMMAND: Command = Command {
    name: "list_locks",
    aliases: &[],
    summary: "what procedures have locked",
    help: "\
Lists what procedures have locked, and which procedures wait for it.

  hbase> list_locks
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let locks = session.wait(admin.locks())?;
    for lock in &locks {
        let kind = lock.resource_type().as_str_name().trim_start_matches("RESOURCE_TYPE_");
        session.print.puts(format!("{kind}({})", lock.resource_name()));
        match lock.lock_type() {
            pb::LockType::Exclusive => {
                let owner = lock.exclusive_lock_owner_procedure.as_ref().map(shown).unwrap_or_default();
                session.print.puts(format!("Lock type: EXCLUSIVE, procedure: {owner}"));
            }
            pb::LockType::Shared => {
                session.print.puts(format!("Lock type: SHARED, count: {}", lock.shared_lock_count()));
            }
        }
        if !lock.waiting_procedures.is_empty() {
            session.print.header(&["Waiting procedures"]);
            lock.waiting_procedures.iter().for_each(|procedure| session.print.row(&[shown(procedure)]));
            session.print.footer(Some(lock.waiting_procedures.len() as u64));
        }
        session.print.puts("");
    }
    Ok(Value::texts(locks.iter().map(|lock| lock.resource_name().to_owned())))
}

fn shown(procedure: &pb::Procedure) -> String {
    format!(
        "{{\"className\"=>\"{}\", \"procId\"=>\"{}\", \"state\"=>\"{}\"}}",
        procedure.class_name,
        procedure.proc_id,
        procedure.state().as_str_name()
    )
}
