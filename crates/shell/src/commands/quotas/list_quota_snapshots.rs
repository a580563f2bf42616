//! `list_quota_snapshots`: how tables stand with their limits of space.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::ServerName;

pub const COMMAND: Command = Command {
    name: "list_quota_snapshots",
    aliases: &[],
    summary: "how tables stand with their limits of space",
    help: "\
Lists use, limit and policy of tables with a limit of space, as hbase:quota or one region server has them.

  hbase> list_quota_snapshots
  hbase> list_quota_snapshots({TABLE => 'table1'})
  hbase> list_quota_snapshots({NAMESPACE => 'org1'})
  hbase> list_quota_snapshots({REGIONSERVER => 'server1.domain,16020,1483482894742'})
",
    arity: Arity::between(0, 1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let mut options = arguments.options(0)?;
    let table = options.take_text("TABLE");
    let namespace = options.take_text("NAMESPACE");
    let server = options.take_text("REGIONSERVER");
    session.print.header(&["TABLE", "USAGE", "LIMIT", "IN_VIOLATION", "POLICY"]);
    let admin = session.admin()?;
    let snapshots = match server {
        Some(server) => {
            let server = ServerName::parse(&server)?;
            session.wait(admin.space_quota_snapshots_on(&server))?
        }
        None => session.wait(admin.space_quota_snapshots())?,
    };
    let mut count = 0;
    for (name, snapshot) in &snapshots {
        let is_asked = table.as_deref().is_none_or(|table| table == name.qualifier())
            && namespace.as_deref().is_none_or(|namespace| namespace == name.namespace());
        if !is_asked {
            continue;
        }
        let status = snapshot.quota_status.unwrap_or_default();
        let policy = if status.in_violation() { status.violation_policy().as_str_name() } else { "None" };
        session.print.row(&[
            name.to_string(),
            snapshot.quota_usage().to_string(),
            snapshot.quota_limit().to_string(),
            status.in_violation().to_string(),
            policy.to_owned(),
        ]);
        count += 1;
    }
    session.print.footer(Some(count));
    Ok(Value::Nil)
}
