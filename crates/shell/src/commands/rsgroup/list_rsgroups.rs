//! `list_rsgroups`: the groups of region servers.

use super::members;
use crate::commands::pattern;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;

pub const COMMAND: Command = Command {
    name: "list_rsgroups",
    aliases: &[],
    summary: "the groups of region servers",
    help: "\
Lists the groups whose names match a regular expression, with their servers and tables.

  hbase> list_rsgroups
  hbase> list_rsgroups 'abc.*'
",
    arity: Arity::between(0, 1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    session.print.header(&["NAME", "SERVER / TABLE"]);
    let admin = session.admin()?;
    let mut groups = session.wait(admin.rsgroups())?;
    let regex = pattern::matcher(&arguments.text_or(0, ".*"))?;
    groups.retain(|group| regex(&group.name));
    for group in &groups {
        let mut members: Vec<String> =
            group.servers.iter().map(|s| format!("server {}", members::address(s))).collect();
        for table in &group.tables {
            members.push(format!("table {}", TableName::from_proto(table)?));
        }
        if members.is_empty() {
            members.push(String::new());
        }
        for (index, member) in members.iter().enumerate() {
            session.print.row(&[if index == 0 { &group.name[..] } else { "" }, member]);
        }
    }
    session.print.footer(Some(groups.len() as u64));
    Ok(Value::Nil)
}
