//! `describe`: a table's families and settings.

use super::description;
use super::table::{existing, print_quotas, quotas_of};
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_client::admin::QuotaFilter;

pub const COMMAND: Command = Command {
    name: "describe",
    aliases: &["desc"],
    summary: "the families and settings of a table",
    help: "\
Prints whether a table is enabled, its settings, its families and its quotas. desc is short for it.

  hbase> describe 'ns1:t1'
  hbase> desc 't1'

With a reference to the table:

  hbase> t.describe
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let text = arguments.text(0);
    let name = existing(session, &text)?;
    let admin = session.admin()?;
    let table = session.wait(async { admin.table_descriptor(&name).await })?;
    let enabled = session.wait(async { admin.is_table_enabled(&name).await })?;
    let state = if enabled { "ENABLED" } else { "DISABLED" };
    session.print.header(&[&format!("Table {text} is {state}")]);
    session.print.row(&[format!("{text}{}", description::of_table(&table))]);
    session.print.header(&["COLUMN FAMILIES DESCRIPTION"]);
    for family in table.families() {
        session.print.row(&[description::of_family(family)]);
        session.print.puts("");
    }
    session.print.footer(None);
    let filter = QuotaFilter { table: Some(fancy_regex::escape(&text).into_owned()), ..QuotaFilter::default() };
    match quotas_of(session, &filter)? {
        None => session.print.puts("Quota is disabled"),
        Some(_) if name.is_meta() => {}
        Some(quotas) => {
            session.print.puts("");
            session.print.header(&["QUOTAS"]);
            print_quotas(session, &quotas);
        }
    }
    Ok(Value::Nil)
}
