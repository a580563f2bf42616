//! `rit`: regions that are on their way.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use jiff::Timestamp;
use martite_catalog::{RegionInfo, RegionState};
use martite_client::admin::Status;

pub const COMMAND: Command = Command {
    name: "rit",
    aliases: &[],
    summary: "regions that are on their way",
    help: "\
Lists the regions that are neither open nor closed.

  hbase> rit
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let status = session.wait(admin.cluster_status(&[Status::RegionsInTransition]))?;
    for region in &status.regions_in_transition {
        let state = &region.region_state;
        let info = RegionInfo::from_proto(&state.region_info)?;
        let name = RegionState::from_code(state.state).map_or("UNKNOWN", RegionState::name);
        let since_ms = state.stamp.and_then(|ms| i64::try_from(ms).ok()).unwrap_or(0);
        let ago_s = (Timestamp::now().as_millisecond() - since_ms) / 1000;
        let since = Timestamp::from_millisecond(since_ms).map(|at| at.to_string()).unwrap_or_default();
        let region = info.name_string();
        session.print.row(&[format!("{region} state={name}, ts={since} ({ago_s}s ago), server=null")]);
    }
    session.print.footer(Some(status.regions_in_transition.len() as u64));
    Ok(Value::Nil)
}
