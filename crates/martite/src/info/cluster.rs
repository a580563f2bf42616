//! What the master's port says of the cluster, as programs that watch HBase ask for it.

use super::Shown;
use martite_catalog::RegionState;
use martite_web::Record;

/// `sub=Server`: who this is, what it governs. Health checks read `tag.isActiveMaster`.
pub fn put(server: &mut Record, shown: &Shown) {
    let (master, regions) = (&shown.master, &shown.regions);
    put_tags(server, shown, &master.server_name().to_string());
    server.tag("isActiveMaster", "true");
    server.tag("liveRegionServers", regions.name.to_string());
    server.tag("deadRegionServers", "");
    server.gauge("numRegionServers", 1);
    server.gauge("numDeadRegionServers", 0);
    server.gauge("averageLoad", regions.online.len() as u64);
    server.counter("clusterRequests", regions.stats.requests());
    server.gauge("masterStartTime", master.server_name().start_code.unsigned_abs());
    server.gauge("masterActiveTime", master.server_name().start_code.unsigned_abs());
}

/// What both ports say of the server.
pub fn put_tags(server: &mut Record, shown: &Shown, name: &str) {
    server.tag("serverName", name);
    server.tag("clusterId", shown.master.cluster_id());
    server.tag("zookeeperQuorum", shown.zookeeper.as_str());
}

/// `sub=Snapshots`.
pub fn put_snapshots(record: &mut Record, shown: &Shown) {
    let times = shown.master.procedure_times();
    let names = [
        ("SnapshotProcedure", "SnapshotTime"),
        ("RestoreSnapshotProcedure", "SnapshotRestoreTime"),
        ("CloneSnapshotProcedure", "SnapshotCloneTime"),
    ];
    for (class, name) in names {
        let of_class = times.iter().find(|(known, _)| *known == class).map(|(_, times)| times.clone());
        record.times(name, &of_class.unwrap_or_default());
    }
}

/// `sub=AssignmentManager`: regions in transition.
pub fn put_assignment(record: &mut Record, shown: &Shown, now_ms: u64) {
    use RegionState::{Closed, Merged, Offline, Open, Split};
    let regions = shown.master.tables().into_iter().flat_map(|table| table.regions);
    let since: Vec<u64> = regions
        .filter(|region| !matches!(region.state, Open | Closed | Offline | Split | Merged))
        .map(|region| now_ms.saturating_sub(region.since_ms))
        .collect();
    record.gauge("ritCount", since.len() as u64);
    record.gauge("ritOldestAge", since.into_iter().max().unwrap_or(0));
}
