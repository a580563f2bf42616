//! `user_permission`: the rights that users have.

use super::access;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "user_permission",
    aliases: &[],
    summary: "the rights that users have",
    help: "\
Lists rights: everywhere, in tables whose names match a Java regular expression, in namespaces behind @ that do.

  hbase> user_permission
  hbase> user_permission '@ns1'
  hbase> user_permission '@.*'
  hbase> user_permission 'table1'
  hbase> user_permission 'namespace1:table1'
  hbase> user_permission '.*'
",
    arity: Arity::between(0, 1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    session.print.header(&["User", "Namespace,Table,Family,Qualifier:Permission"]);
    access::check_authorization(session)?;
    let regex = arguments.get(0).map(Value::to_text).filter(|regex| !regex.is_empty());
    let admin = session.admin()?;
    let mut count = 0;
    for scope in access::matching(session, regex.as_deref())? {
        for granted in session.wait(admin.user_permissions(None, &scope))? {
            let user = String::from_utf8_lossy(&granted.user).into_owned();
            session.print.row(&[user, access::shown(&granted.permission)]);
            count += 1;
        }
    }
    session.print.footer(Some(count));
    Ok(Value::Nil)
}
