//! `status`: of the cluster, in five degrees of detail.

use super::{load, replication};
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::language::inspect;
use crate::session::Session;
use martite_catalog::{RegionInfo, ServerName};
use martite_proto as pb;

pub const COMMAND: Command = Command {
    name: "status",
    aliases: &[],
    summary: "the state of the cluster",
    help: "\
Prints the state of the cluster: a line ('summary', the default), its servers ('simple'), its regions too ('detailed'), what
servers are doing ('tasks'), and what they replicate ('replication', of it 'source' or 'sink' only).

  hbase> status
  hbase> status 'simple'
  hbase> status 'detailed'
  hbase> status 'tasks'
  hbase> status 'replication'
  hbase> status 'replication', 'source'
",
    arity: Arity::between(0, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let status = session.wait(async { admin.cluster_status(&[]).await })?;
    match arguments.text_or(0, "summary").as_str() {
        "simple" => simple(session, &status),
        "detailed" => detailed(session, &status),
        "tasks" => tasks(session, &status),
        "replication" => replicated(session, &status, &arguments.text_or(1, "both").to_lowercase()),
        _ => summary(session, &status),
    }
    Ok(Value::Nil)
}

fn summary(session: &mut Session, status: &pb::ClusterStatus) {
    let regions: usize = status.live_servers.iter().map(|s| s.server_load.region_loads.len()).sum();
    let servers = status.live_servers.len();
    let average = if servers == 0 { 0.0 } else { regions as f64 / servers as f64 };
    session.print.puts(format!(
        "1 active master, {} backup masters, {servers} servers, {} dead, {average:.4} average load",
        status.backup_masters.len(),
        status.dead_servers.len(),
    ));
}

/// `host:port startcode`.
fn address(name: &pb::ServerName) -> String {
    ServerName::from_proto(name).map_or_else(|e| e.to_string(), |n| format!("{} {}", n.address(), name.start_code()))
}

fn masters(session: &mut Session, status: &pb::ClusterStatus) {
    if let Some(master) = &status.master {
        session.print.puts(format!("active master:  {}", address(master)));
    }
    session.print.puts(format!("{} backup masters", status.backup_masters.len()));
    for master in &status.backup_masters {
        session.print.puts(format!("    {}", address(master)));
    }
}

fn dead(session: &mut Session, status: &pb::ClusterStatus) {
    session.print.puts(format!("{} dead servers", status.dead_servers.len()));
    for server in &status.dead_servers {
        let name = ServerName::from_proto(server).map_or_else(|e| e.to_string(), |name| name.to_string());
        session.print.puts(format!("    {name}"));
    }
}

fn simple(session: &mut Session, status: &pb::ClusterStatus) {
    masters(session, status);
    session.print.puts(format!("{} live servers", status.live_servers.len()));
    let (mut requests, mut regions) = (0, 0);
    for server in &status.live_servers {
        session.print.puts(format!("    {}", address(&server.server)));
        session.print.puts(format!("        {}", load::of_server(&server.server_load)));
        requests += server.server_load.number_of_requests();
        regions += server.server_load.region_loads.len();
    }
    dead(session, status);
    session.print.puts(format!("Aggregate load: {requests}, regions: {regions}"));
}

fn detailed(session: &mut Session, status: &pb::ClusterStatus) {
    let version = status.hbase_version.as_ref().map(|v| v.version.clone()).unwrap_or_default();
    session.print.puts(format!("version {version}"));
    session.print.puts(format!("{} regionsInTransition", status.regions_in_transition.len()));
    for region in &status.regions_in_transition {
        session.print.puts(format!("    {}", in_transition(&region.region_state)));
    }
    if let Some(master) = &status.master {
        session.print.puts(format!("active master:  {}", address(master)));
        for task in &status.master_tasks {
            session.print.puts(format!("    {}", task_text(task)));
        }
    }
    session.print.puts(format!("{} backup masters", status.backup_masters.len()));
    for master in &status.backup_masters {
        session.print.puts(format!("    {}", address(master)));
    }
    let coprocessors: Vec<&str> = status.master_coprocessors.iter().map(|c| c.name.as_str()).collect();
    session.print.puts(format!("master coprocessors: [{}]", coprocessors.join(", ")));
    session.print.puts(format!("{} live servers", status.live_servers.len()));
    for server in &status.live_servers {
        session.print.puts(format!("    {}", address(&server.server)));
        session.print.puts(format!("        {}", load::of_server(&server.server_load)));
        for region in &server.server_load.region_loads {
            let name = martite_catalog::to_string_binary(&region.region_specifier.value);
            session.print.puts(format!("        {}", inspect::quoted(name.as_bytes())));
            session.print.puts(format!("            {}", load::of_region(region)));
        }
        for task in &server.server_load.tasks {
            session.print.puts(format!("        {}", task_text(task)));
        }
    }
    dead(session, status);
}

/// As HBase's RegionState prints itself; who the server is, is not in the message.
fn in_transition(region: &pb::RegionState) -> String {
    let name =
        RegionInfo::from_proto(&region.region_info).map_or_else(|e| e.to_string(), |r| r.encoded_name().to_owned());
    format!("{{{name} state={}, ts={}, server=null}}", region.state().as_str_name(), region.stamp())
}

fn task_text(task: &pb::ServerTask) -> String {
    // A task that is not over has -1 for its end.
    format!(
        "{}: status={}, state={}, startTime={}, completionTime={}",
        task.description,
        task.status,
        task.state().as_str_name(),
        task.start_time() as i64,
        task.completion_time() as i64
    )
}

fn tasks(session: &mut Session, status: &pb::ClusterStatus) {
    if let Some(master) = &status.master {
        session.print.puts(format!("active master:  {}", address(master)));
        running(session, &status.master_tasks, "    ");
    }
    session.print.puts(format!("{} live servers", status.live_servers.len()));
    for server in &status.live_servers {
        session.print.puts(format!("    {}", address(&server.server)));
        running(session, &server.server_load.tasks, "        ");
    }
}

fn running(session: &mut Session, tasks: &[pb::ServerTask], inset: &str) {
    let running: Vec<&pb::ServerTask> = tasks.iter().filter(|t| t.state().as_str_name() == "RUNNING").collect();
    for task in &running {
        session.print.puts(format!("{inset}{}", task_text(task)));
    }
    if running.is_empty() {
        session.print.puts(format!("{inset}no active tasks"));
    }
}

fn replicated(session: &mut Session, status: &pb::ClusterStatus, which: &str) {
    let version = status.hbase_version.as_ref().map(|v| v.version.clone()).unwrap_or_default();
    session.print.puts(format!("version {version}"));
    session.print.puts(format!("{} live servers", status.live_servers.len()));
    for server in &status.live_servers {
        let Some(sink) = &server.server_load.repl_load_sink else { continue };
        session.print.puts(format!("    {}", address(&server.server)));
        if which != "sink" {
            session.print.puts(replication::sources(&server.server_load.repl_load_source));
        }
        if which != "source" {
            session.print.puts(replication::sink(sink));
        }
    }
}
