//! `create_namespace`: makes a namespace.

use crate::commands::Options;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::NamespaceDescriptor;

pub const COMMAND: Command = Command {
    name: "create_namespace",
    aliases: &[],
    summary: "make a namespace",
    help: "\
Makes a namespace, with properties if there should be some.

  hbase> create_namespace 'ns1'
  hbase> create_namespace 'ns1', {'hbase.namespace.quota.maxtables' => '5'}
",
    arity: Arity::at_least(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = arguments.string(0, "Namespace name")?;
    let mut namespace = NamespaceDescriptor::new(&name)?;
    for value in arguments.flattened(1) {
        for (key, value) in pairs(&value)? {
            namespace.configuration.insert(key, value);
        }
    }
    let admin = session.admin()?;
    session.wait(async { admin.create_namespace(&namespace).await })?;
    Ok(Value::Nil)
}

/// A hash as texts.
pub fn pairs(value: &Value) -> Run<Vec<(String, String)>> {
    let options = Options::of(value)?;
    Ok(options.pairs().iter().map(|(key, value)| (key.to_text(), value.to_text())).collect())
}
