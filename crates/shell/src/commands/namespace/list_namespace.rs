//! `list_namespace`: the namespaces.

use crate::commands::ddl::matching::whole;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "list_namespace",
    aliases: &[],
    summary: "list namespaces",
    help: "\
Lists namespaces; with a regular expression, those whose whole name matches.

  hbase> list_namespace
  hbase> list_namespace 'abc.*'
",
    arity: Arity::between(0, 1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    session.print.header(&["NAMESPACE"]);
    let pattern = whole(&arguments.text_or(0, ".*"))?;
    let admin = session.admin()?;
    let names = session.wait(async { admin.namespace_names().await })?;
    let mut count = 0;
    for name in names.iter().filter(|name| pattern.is_match(name.as_str()).unwrap_or(false)) {
        session.print.row(&[name]);
        count += 1;
    }
    session.print.footer(Some(count));
    Ok(Value::Nil)
}
