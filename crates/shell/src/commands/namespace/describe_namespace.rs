//! `describe_namespace`: its properties and quotas.

use crate::commands::ddl::table::{print_quotas, quotas_of};
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_client::admin::QuotaFilter;

pub const COMMAND: Command = Command {
    name: "describe_namespace",
    aliases: &[],
    summary: "the properties of a namespace",
    help: "\
Prints the properties of a namespace, and its quotas.

  hbase> describe_namespace 'ns1'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = arguments.text(0);
    let admin = session.admin()?;
    let namespace = session.wait(async { admin.namespace_descriptor(&name).await })?;
    session.print.header_of_widths(&["DESCRIPTION"], &[64]);
    let mut text = format!("{{NAME => '{}'", namespace.name());
    for (key, value) in &namespace.configuration {
        text.push_str(&format!(", {key} => '{value}'"));
    }
    session.print.row(&[format!("{text}}}")]);
    let filter = QuotaFilter { namespace: Some(name), ..QuotaFilter::default() };
    match quotas_of(session, &filter)? {
        None => session.print.puts("Quota is disabled"),
        Some(quotas) => {
            session.print.header(&["QUOTAS"]);
            print_quotas(session, &quotas);
        }
    }
    Ok(Value::Nil)
}
