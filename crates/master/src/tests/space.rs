//! Tables that hold too much are written no more, until they hold less or may hold more.

use super::quotas::of_table;
use super::*;
use pb::SpaceViolationPolicy::{self, Disable, NoInserts, NoWrites};
use std::time::Duration;

fn limit(owner: pb::SetQuotaRequest, bytes: u64, policy: SpaceViolationPolicy) -> pb::SetQuotaRequest {
    let quota = pb::SpaceQuota { soft_limit: Some(bytes), violation_policy: Some(policy as i32), remove: None };
    pb::SetQuotaRequest { space_limit: Some(pb::SpaceLimitRequest { quota: Some(quota) }), ..owner }
}

fn no_limit(owner: pb::SetQuotaRequest) -> pb::SetQuotaRequest {
    let quota = pb::SpaceQuota { remove: Some(true), ..Default::default() };
    pb::SetQuotaRequest { space_limit: Some(pb::SpaceLimitRequest { quota: Some(quota) }), ..owner }
}

fn of_namespace(name: &str) -> pb::SetQuotaRequest {
    pb::SetQuotaRequest { namespace: Some(name.into()), ..Default::default() }
}

impl Rig {
    /// The policies that the region server was told of, by table.
    fn policies(&self) -> Vec<(String, Option<SpaceViolationPolicy>)> {
        self.host.space.lock().iter().map(|(table, usage)| (table.clone(), usage.violated)).collect()
    }

    /// Writes about a kilobyte, to a file.
    fn fill(&self, name: &str) {
        self.put(name, "row", &"x".repeat(1000));
        for region in self.regions(name) {
            self.host.flush_region(region.encoded_name(), &[]).unwrap();
        }
    }

    fn observe(&self) {
        self.clock.advance(Duration::from_secs(60));
        self.master.run_chores();
    }

    fn size(&self, name: &str) -> u64 {
        let request = pb::GetSpaceQuotaRegionSizesRequest {};
        let answer: pb::GetSpaceQuotaRegionSizesResponse = self.call("GetSpaceQuotaRegionSizes", &request).unwrap();
        let table = Some(table(name).to_proto());
        answer.sizes.iter().find(|s| s.table_name == table).and_then(|s| s.size).unwrap()
    }

    fn states(&self) -> pb::GetQuotaStatesResponse {
        self.call("GetQuotaStates", &pb::GetQuotaStatesRequest {}).unwrap()
    }
}

fn told(entries: &[(&str, Option<SpaceViolationPolicy>)]) -> Vec<(String, Option<SpaceViolationPolicy>)> {
    entries.iter().map(|(table, policy)| (table.to_string(), *policy)).collect()
}

#[test]
fn a_table_over_its_limit_is_told_recorded_and_released() {
    let rig = Rig::new();
    rig.create(&plain("t"), &["m"]).unwrap();
    rig.set(&limit(of_table("t"), 500, NoInserts)).unwrap();
    assert_eq!(rig.policies(), told(&[("t", None)]), "in force when it is answered");
    assert_eq!(rig.quota_cells(), ["t.t q:s", "t.t u:p"]);
    rig.fill("t");
    rig.observe();
    assert_eq!(rig.policies(), told(&[("t", Some(NoInserts))]));
    let states = rig.states();
    let snapshot = states.table_snapshots[0].snapshot.unwrap();
    let size = rig.size("t");
    assert_eq!((snapshot.quota_usage, snapshot.quota_limit), (Some(size), Some(500)));
    assert!(size > 1000, "{size}");
    // A crash forgets nothing: the server knows before it serves.
    let rig = rig.crash();
    assert_eq!(rig.policies(), told(&[("t", Some(NoInserts))]));
    rig.set(&limit(of_table("t"), 1 << 30, NoInserts)).unwrap();
    assert_eq!(rig.policies(), told(&[("t", None)]));
    rig.set(&no_limit(of_table("t"))).unwrap();
    assert_eq!((rig.policies(), rig.quota_cells()), (told(&[]), vec![]));
    assert_eq!(rig.states().table_snapshots, []);
}

#[test]
fn a_namespace_limits_the_sum_of_its_tables() {
    let rig = Rig::new();
    rig.create_namespace("ns").unwrap();
    for name in ["ns:a", "ns:b", "other"] {
        rig.create(&plain(name), &[]).unwrap();
        rig.fill(name);
    }
    rig.set(&limit(of_namespace("ns"), rig.size("ns:a") + rig.size("ns:b") - 1, NoWrites)).unwrap();
    assert_eq!(rig.policies(), told(&[("ns:a", Some(NoWrites)), ("ns:b", Some(NoWrites))]));
    assert_eq!(rig.states().ns_snapshots[0].namespace.as_deref(), Some("ns"));
    // What a disabled table holds counts, too.
    rig.disable("ns:b").unwrap();
    rig.observe();
    assert_eq!(rig.policies()[0], told(&[("ns:a", Some(NoWrites))])[0]);
    rig.delete("ns:b").unwrap();
    rig.observe();
    assert_eq!(rig.policies(), told(&[("ns:a", None)]));
    rig.set(&no_limit(of_namespace("ns"))).unwrap();
    assert_eq!((rig.policies(), rig.quota_cells()), (told(&[]), vec![]));
}

#[test]
fn disable_takes_the_table_away_and_gives_it_back() {
    let rig = Rig::new();
    rig.create(&plain("t"), &[]).unwrap();
    rig.fill("t");
    rig.set(&limit(of_table("t"), 10, Disable)).unwrap();
    assert_eq!(rig.state("t"), Some(TableState::Disabled));
    let refused = rig.enable("t").unwrap_err();
    assert_eq!(refused.class, "org.apache.hadoop.hbase.security.AccessDeniedException");
    assert_eq!(refused.message, "Enabling the table 't' is disallowed due to a violated space quota.");
    rig.observe();
    assert_eq!(rig.state("t"), Some(TableState::Disabled), "its files are still there");
    let rig = rig.restart();
    assert_eq!(rig.state("t"), Some(TableState::Disabled));
    rig.set(&no_limit(of_table("t"))).unwrap();
    assert_eq!((rig.state("t"), rig.policies()), (Some(TableState::Enabled), told(&[])));
    rig.check();
}
