//! `grant`: gives a user rights.

use super::access;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "grant",
    aliases: &[],
    summary: "gives a user rights",
    help: "\
Gives a user, or a group behind @, rights: letters of \"RWXCA\", for read, write, execute, create, administer. Everywhere,
in a namespace behind @, in a table, in a family or column of it.

  hbase> grant 'bobsmith', 'RWXCA'
  hbase> grant '@admins', 'RWXCA'
  hbase> grant 'bobsmith', 'RWXCA', '@ns1'
  hbase> grant 'bobsmith', 'RW', 't1', 'f1', 'col1'
  hbase> grant 'bobsmith', 'RW', 'ns1:t1', 'f1', 'col1'
",
    arity: Arity::between(1, 5),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    if arguments.values()[0].as_text().is_none() {
        return Err(Failure::argument("First argument should be a String"));
    }
    match arguments.get(1) {
        Some(Value::Text(_)) => {}
        Some(Value::Hash(_)) => return Err(Failure::runtime("Rights of single cells are not known to this shell")),
        _ => return Err(Failure::argument("Second argument should be a String or Hash")),
    }
    for (index, what) in [(2, "Table name"), (3, "Family"), (4, "Qualifier")] {
        if arguments.get(index).is_some_and(|value| value.as_text().is_none()) {
            return Err(Failure::argument(format!("{what} is not of String type")));
        }
    }
    session.restart_clock();
    access::check_authorization(session)?;
    let actions = access::actions(&arguments.text(1));
    if actions.is_empty() {
        return Err(Failure::argument("Invalid permission: no actions associated with user"));
    }
    let scope = access::scope(session, &arguments, 2)?;
    let admin = session.admin()?;
    session.wait(admin.grant(&arguments.text(0), &scope, &actions, false))?;
    Ok(Value::Nil)
}
