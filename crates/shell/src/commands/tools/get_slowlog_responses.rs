//! `get_slowlog_responses`: the latest slow calls that region servers remember.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::session::Session;
use martite_client::admin::LogKind;

pub const COMMAND: Command = Command {
    name: "get_slowlog_responses",
    aliases: &[],
    summary: "the latest slow calls that region servers remember",
    help: "\
Prints slow calls as JSON: of all region servers ('*'), or of those that are named. At most LIMIT of each server (10);
of those that meet one of the conditions, or all of them (FILTER_BY_OP).

  hbase> get_slowlog_responses '*'
  hbase> get_slowlog_responses '*', {'LIMIT' => 50}
  hbase> get_slowlog_responses ['SERVER_NAME1', 'SERVER_NAME2']
  hbase> get_slowlog_responses '*', {'REGION_NAME' => 'hbase:meta,,1'}
  hbase> get_slowlog_responses '*', {'TABLE_NAME' => 't1'}
  hbase> get_slowlog_responses '*', {'CLIENT_IP' => '192.162.1.40:60225', 'USER' => 'user_name'}
  hbase> get_slowlog_responses '*', {'REGION_NAME' => 'hbase:meta,,1', 'TABLE_NAME' => 't1', 'FILTER_BY_OP' => 'AND'}
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    super::json::print_log(session, &arguments, LogKind::Slow, "Retrieved SlowLog Responses from RegionServers")
}
