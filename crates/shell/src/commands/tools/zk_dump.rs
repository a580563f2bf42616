//! `zk_dump`: what the registry says of the cluster.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "zk_dump",
    aliases: &[],
    summary: "what the registry says of the cluster",
    help: "\
Prints where the master, its backups, hbase:meta and the region servers are, as clients find them. The statistics of
ZooKeeper servers that HBase's shell prints as well are left out.

  hbase> zk_dump
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let connection = session.connection()?;
    let admin = connection.admin();
    let master = session.wait(connection.master())?;
    let backups = session.wait(admin.backup_masters())?;
    let meta = session.wait(connection.meta_server())?;
    let servers = session.wait(admin.region_servers())?;
    session.print.puts(format!("Active master address: \n {master}"));
    session.print.puts("Backup master addresses:");
    backups.iter().for_each(|server| session.print.puts(format!(" {server}")));
    session.print.puts(format!("Region server holding hbase:meta:\n {meta}"));
    session.print.puts("Region servers:");
    servers.iter().for_each(|server| session.print.puts(format!(" {server}")));
    Ok(Value::Nil)
}
