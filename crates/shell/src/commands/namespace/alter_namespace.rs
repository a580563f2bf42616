//! `alter_namespace`: sets and removes properties.

use crate::commands::Options;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Failure;
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "alter_namespace",
    aliases: &[],
    summary: "set or remove properties of a namespace",
    help: "\
Sets properties of a namespace, or removes one.

  hbase> alter_namespace 'ns1', {METHOD => 'set', 'hbase.namespace.quota.maxtables' => '5'}
  hbase> alter_namespace 'ns1', {METHOD => 'unset', NAME => 'hbase.namespace.quota.maxtables'}
",
    arity: Arity::at_least(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = arguments.string(0, "Namespace name")?;
    let admin = session.admin()?;
    let mut namespace = session.wait(async { admin.namespace_descriptor(&name).await })?;
    for value in arguments.flattened(1) {
        let mut options = Options::of(&value)?;
        let method = options.take_text("METHOD").unwrap_or_default();
        match method.as_str() {
            "unset" => {
                namespace.configuration.remove(&options.take_text("NAME").unwrap_or_default());
            }
            "set" => {
                for (key, value) in options.pairs() {
                    namespace.configuration.insert(key.to_text(), value.to_text());
                }
            }
            other => return Err(Failure::argument(format!("Unknown method {other}"))),
        }
    }
    session.wait(async { admin.modify_namespace(&namespace).await })?;
    Ok(Value::Nil)
}
