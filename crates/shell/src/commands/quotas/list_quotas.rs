//! `list_quotas`: the quotas that are set.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_client::admin::QuotaFilter;

pub const COMMAND: Command = Command {
    name: "list_quotas",
    aliases: &[],
    summary: "the quotas that are set",
    help: "\
Lists quotas, all or those whose owners match; USER, TABLE and NAMESPACE are Java regular expressions of whole names.

  hbase> list_quotas
  hbase> list_quotas USER => 'bob.*'
  hbase> list_quotas USER => 'bob.*', TABLE => 't1'
  hbase> list_quotas USER => 'bob.*', NAMESPACE => 'ns.*'
  hbase> list_quotas TABLE => 'myTable'
  hbase> list_quotas NAMESPACE => 'ns.*', LIMIT => 10
",
    arity: Arity::between(0, 1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let mut options = arguments.options(0)?;
    session.print.header(&["OWNER", "QUOTAS"]);
    let limit = options.take_integer("LIMIT")?.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0);
    let filter = QuotaFilter {
        user: options.take_text("USER").filter(|text| !text.is_empty()),
        table: options.take_text("TABLE").filter(|text| !text.is_empty()),
        namespace: options.take_text("NAMESPACE").filter(|text| !text.is_empty()),
        region_server: None,
    };
    if !options.is_empty() {
        let left = Value::hash(options.pairs().to_vec()).inspect();
        return Err(Failure::argument(format!("Unexpected arguments: {left}")));
    }
    let admin = session.admin()?;
    let quotas = session.wait(admin.quotas(&filter, limit))?;
    for quota in &quotas {
        session.print.row(&[quota.owner.to_string(), quota.to_string()]);
    }
    session.print.footer(Some(quotas.len() as u64));
    Ok(Value::Nil)
}
