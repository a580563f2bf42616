//! `update_rsgroup_config`: the servers of a group read their configuration again.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_client::admin::GroupOf;
use martite_client::pb;

pub const COMMAND: Command = Command {
    name: "update_rsgroup_config",
    aliases: &[],
    summary: "the servers of a group read their configuration again",
    help: "\
The servers of a group read their configuration again.

  hbase> update_rsgroup_config 'groupName'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = arguments.text(0);
    let admin = session.admin()?;
    let group = session.wait(admin.rsgroup(&GroupOf::Name(name.clone())))?;
    let group = group.ok_or_else(|| Failure::argument(format!("Group does not exist: {name}")))?;
    for server in session.wait(admin.region_servers())? {
        let is_member = |member: &pb::ServerName| {
            member.host_name[..] == *server.host && member.port == Some(u32::from(server.port))
        };
        if group.servers.iter().any(is_member) {
            session.wait(admin.update_configuration(&server))?;
        }
    }
    Ok(Value::Nil)
}
