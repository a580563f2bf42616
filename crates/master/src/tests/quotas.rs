//! Quotas are set, kept, read again, and in force before the call is answered.

use super::*;
use martite_quota::table;

const OFF: &[(&str, &str)] = &[("hbase.quota.enabled", "false")];

impl Rig {
    pub(super) fn set(&self, request: &pb::SetQuotaRequest) -> Result<(), MasterError> {
        self.call("SetQuota", request).map(|_: pb::SetQuotaResponse| ())
    }
    /// The settings that the region server was told last.
    fn told(&self) -> Arc<Settings> {
        self.host.quotas.lock().0.clone()
    }
    pub(super) fn quota_cells(&self) -> Vec<String> {
        let region = self.region_of("hbase:quota", "").unwrap();
        let rows = crate::rows::Rows::scan(&crate::rows::RegionRows(region), None).unwrap();
        let name = |cell: &OwnedCell| {
            let cell = cell.as_ref();
            let text = to_string_binary;
            format!("{} {}:{}", text(cell.row()), text(cell.family()), text(cell.qualifier()))
        };
        rows.iter().flatten().map(name).collect()
    }
    fn switch_exceed(&self, on: bool) -> Result<bool, MasterError> {
        let request = pb::SwitchExceedThrottleQuotaRequest { exceed_throttle_quota_enabled: on };
        let answer: pb::SwitchExceedThrottleQuotaResponse = self.call("SwitchExceedThrottleQuota", &request)?;
        Ok(answer.previous_exceed_throttle_quota_enabled)
    }
}

fn user(name: &str) -> pb::SetQuotaRequest {
    pb::SetQuotaRequest { user_name: Some(name.into()), ..Default::default() }
}

pub(super) fn of_table(name: &str) -> pb::SetQuotaRequest {
    pb::SetQuotaRequest { table_name: Some(super::table(name).to_proto()), ..Default::default() }
}

fn throttled(owner: pb::SetQuotaRequest, kind: pb::ThrottleType, limit: u64) -> pb::SetQuotaRequest {
    let timed_quota = (limit > 0).then_some(pb::TimedQuota {
        time_unit: pb::TimeUnit::Seconds as i32,
        soft_limit: Some(limit),
        scope: Some(pb::QuotaScope::Machine as i32),
        ..Default::default()
    });
    let throttle = pb::ThrottleRequest { r#type: Some(kind as i32), timed_quota };
    pb::SetQuotaRequest { throttle: Some(throttle), ..owner }
}

fn requests(owner: pb::SetQuotaRequest, limit: u64) -> pb::SetQuotaRequest {
    throttled(owner, pb::ThrottleType::RequestNumber, limit)
}

fn limit_of(quotas: &pb::Quotas) -> u64 {
    quotas.throttle.unwrap().req_num.unwrap().soft_limit.unwrap()
}

#[test]
fn a_change_is_in_force_when_it_is_answered_and_after_a_crash() {
    let rig = Rig::new();
    assert_eq!(rig.state("hbase:quota"), Some(TableState::Enabled));
    rig.set(&requests(user("bob"), 10)).unwrap();
    rig.set(&requests(pb::SetQuotaRequest { namespace: Some("ns".into()), ..user("bob") }, 11)).unwrap();
    rig.set(&requests(pb::SetQuotaRequest { user_name: Some("bob".into()), ..of_table("ns:t") }, 12)).unwrap();
    rig.set(&requests(of_table("t"), 13)).unwrap();
    rig.set(&requests(pb::SetQuotaRequest { namespace: Some("ns".into()), ..Default::default() }, 14)).unwrap();
    rig.set(&requests(pb::SetQuotaRequest { region_server: Some("all".into()), ..Default::default() }, 15)).unwrap();
    let cells = ["n.ns q:s", "r.all q:s", "t.t q:s", "u.bob q:s", "u.bob q:s.ns:", "u.bob q:s.ns:t"];
    assert_eq!(rig.quota_cells(), cells);
    let told = rig.told();
    let bob = &told.users["bob"];
    let limits = [&bob.global.unwrap(), &bob.namespaces["ns"], &bob.tables["ns:t"], &told.tables["t"]];
    assert_eq!(limits.map(limit_of), [10, 11, 12, 13]);
    assert_eq!((limit_of(&told.namespaces["ns"]), limit_of(&told.region_server.unwrap())), (14, 15));
    let crashed = rig.crash();
    assert_eq!(crashed.told(), told);
    // The clock may go back between two runs: a change counts nevertheless.
    let (fs, _, run) = crashed.stop();
    let rig = Rig::start(fs, Arc::new(ManualClock::new(1000)), run + 1, &[]).unwrap();
    rig.set(&requests(user("bob"), 20)).unwrap();
    assert_eq!(limit_of(&rig.told().users["bob"].global.unwrap()), 20);
}

#[test]
fn what_is_removed_leaves_no_cell() {
    let rig = Rig::new();
    let in_table = || pb::SetQuotaRequest { user_name: Some("bob".into()), ..of_table("t") };
    rig.set(&requests(user("bob"), 1)).unwrap();
    rig.set(&throttled(user("bob"), pb::ThrottleType::ReadSize, 1)).unwrap();
    rig.set(&requests(in_table(), 1)).unwrap();
    rig.set(&requests(user("bob"), 0)).unwrap();
    assert_eq!(rig.quota_cells(), ["u.bob q:s", "u.bob q:s.t"]);
    // HBase takes the quotas in tables away with the user's last one.
    rig.set(&throttled(user("bob"), pb::ThrottleType::ReadSize, 0)).unwrap();
    assert_eq!(rig.quota_cells(), ["u.bob q:s.t"]);
    assert_eq!(rig.told().users["bob"].global, None);
    rig.set(&pb::SetQuotaRequest { remove_all: Some(true), ..user("bob") }).unwrap();
    assert_eq!(rig.quota_cells(), [""; 0]);
    assert_eq!(*rig.told(), Settings::default());
}

#[test]
fn a_quota_goes_with_its_table_and_namespace() {
    let rig = Rig::new();
    rig.create_namespace("ns").unwrap();
    rig.create(&plain("ns:t"), &[]).unwrap();
    rig.create(&plain("kept"), &[]).unwrap();
    for owner in [of_table("ns:t"), of_table("kept"), pb::SetQuotaRequest { namespace: Some("ns".into()), ..user("") }]
    {
        let user_name = owner.user_name.filter(|name| !name.is_empty());
        rig.set(&requests(pb::SetQuotaRequest { user_name, ..owner }, 5)).unwrap();
    }
    rig.disable("ns:t").unwrap();
    rig.delete("ns:t").unwrap();
    assert_eq!(rig.quota_cells(), ["n.ns q:s", "t.kept q:s"]);
    rig.delete_namespace("ns").unwrap();
    assert_eq!(rig.quota_cells(), ["t.kept q:s"]);
    assert_eq!(rig.told().tables.keys().collect::<Vec<_>>(), ["kept"]);
    let (fs, clock, run) = rig.stop();
    let keep = [("hbase.quota.remove.on.table.delete", "false")];
    let rig = Rig::start(fs, clock, run + 1, &keep).unwrap();
    rig.disable("kept").unwrap();
    rig.delete("kept").unwrap();
    assert_eq!(rig.quota_cells(), ["t.kept q:s"]);
}

#[test]
fn rows_of_a_plain_client_count_soon() {
    let rig = Rig::new();
    let quotas = pb::Quotas { bypass_globals: Some(true), ..Default::default() };
    rig.put_cell("hbase:quota", "u.eve", (b"q", b"s"), &table::encode(&quotas));
    rig.put_cell("hbase:quota", "u.mal", (b"q", b"s"), b"garbage");
    assert_eq!(rig.told().users.len(), 0);
    rig.master.run_chores();
    assert_eq!(rig.told().users.keys().collect::<Vec<_>>(), ["eve"]);
    // A change merges with what is in the table now, and mends what cannot be read.
    rig.set(&requests(user("eve"), 3)).unwrap();
    rig.set(&requests(user("mal"), 4)).unwrap();
    let told = rig.told();
    assert_eq!(told.users["eve"].global.unwrap().bypass_globals, Some(true));
    assert_eq!(limit_of(&told.users["mal"].global.unwrap()), 4);
}

#[test]
fn quotas_wait_until_their_table_is_open() {
    let rig = Rig::new();
    rig.set(&requests(user("bob"), 1)).unwrap();
    rig.disable("hbase:quota").unwrap();
    let refused = rig.set(&requests(user("bob"), 2)).unwrap_err();
    assert!(!refused.do_not_retry && refused.message.ends_with("is not open"), "{refused}");
    // Tables come and go nevertheless.
    rig.create(&plain("t"), &[]).unwrap();
    rig.disable("t").unwrap();
    rig.delete("t").unwrap();
    let rig = rig.restart();
    let refused = rig.set(&requests(user("bob"), 2)).unwrap_err();
    assert_eq!(
        (refused.message.as_str(), refused.do_not_retry),
        ("Quota manager is uninitialized, please retry later.", false)
    );
    rig.enable("hbase:quota").unwrap();
    rig.master.run_chores();
    assert_eq!(limit_of(&rig.told().users["bob"].global.unwrap()), 1, "the chore tries again");
    rig.set(&requests(user("bob"), 2)).unwrap();
    rig.check();
}

#[test]
fn exceeding_depends_on_the_region_servers_quota() {
    let rig = Rig::new();
    let all = || pb::SetQuotaRequest { region_server: Some("all".into()), ..Default::default() };
    let refused = rig.switch_exceed(true).unwrap_err();
    assert_eq!(refused.message, "Please set region server quota before enable exceed throttle quota");
    rig.set(&requests(all(), 10)).unwrap();
    assert!(!rig.switch_exceed(true).unwrap());
    assert!(rig.told().exceed);
    assert!(rig.switch_exceed(true).unwrap());
    let refused = rig.set(&requests(all(), 0)).unwrap_err();
    assert!(refused.do_not_retry && refused.message.starts_with("Please set region server quota before"), "{refused}");
    assert_eq!(limit_of(&rig.told().region_server.unwrap()), 10);
    assert!(rig.crash().told().exceed);
    assert!(rig.switch_exceed(false).unwrap());
    rig.set(&requests(all(), 0)).unwrap();
    assert_eq!((rig.told().exceed, rig.told().region_server), (false, None));
}

#[test]
fn the_switch_of_throttling_is_told_and_kept() {
    let rig = Rig::new();
    let is_on = |rig: &Rig| {
        let request = pb::IsRpcThrottleEnabledRequest {};
        let answer: pb::IsRpcThrottleEnabledResponse = rig.call("IsRpcThrottleEnabled", &request).unwrap();
        answer.rpc_throttle_enabled
    };
    let switch = |rig: &Rig, on| {
        let request = pb::SwitchRpcThrottleRequest { rpc_throttle_enabled: on };
        let answer: pb::SwitchRpcThrottleResponse = rig.call("SwitchRpcThrottle", &request).unwrap();
        answer.previous_rpc_throttle_enabled
    };
    assert!(is_on(&rig) && rig.host.quotas.lock().1);
    assert!(switch(&rig, false) && !switch(&rig, false));
    assert!(!rig.host.quotas.lock().1);
    let rig = rig.restart();
    assert!(!is_on(&rig) && !rig.host.quotas.lock().1, "a restart keeps the switch");
}

#[test]
fn with_quotas_off_nothing_is_kept_and_the_switches_are_off() {
    let clock = Arc::new(ManualClock::new(1_000_000));
    let rig = Rig::start(MemFs::with_clock(clock.clone()), clock, 1, OFF).unwrap();
    assert_eq!(rig.state("hbase:quota"), None);
    let refused = rig.set(&requests(user("bob"), 1)).unwrap_err();
    assert_eq!(refused.message, "java.lang.UnsupportedOperationException: quota support disabled");
    assert!(refused.do_not_retry);
    let on: pb::IsRpcThrottleEnabledResponse =
        rig.call("IsRpcThrottleEnabled", &pb::IsRpcThrottleEnabledRequest {}).unwrap();
    let request = pb::SwitchRpcThrottleRequest { rpc_throttle_enabled: true };
    let before: pb::SwitchRpcThrottleResponse = rig.call("SwitchRpcThrottle", &request).unwrap();
    assert!(!on.rpc_throttle_enabled && !before.previous_rpc_throttle_enabled && !rig.switch_exceed(true).unwrap());
    rig.create(&plain("t"), &[]).unwrap();
    rig.disable("t").unwrap();
    rig.delete("t").unwrap();
    rig.master.run_chores();
    assert_eq!(rig.host.quotas.lock().2, 0, "the region server is told nothing");
}

#[test]
fn namespaces_have_room_for_so_many_tables_and_regions() {
    let rig = Rig::new();
    let setting = |name: &str, value: &str| pb::NameStringPair { name: name.into(), value: value.into() };
    let namespace_descriptor = pb::NamespaceDescriptor {
        name: "ns".into(),
        configuration: vec![
            setting("hbase.namespace.quota.maxtables", "1"),
            setting("hbase.namespace.quota.maxregions", "2"),
        ],
    };
    let request = pb::CreateNamespaceRequest { namespace_descriptor, ..Default::default() };
    let response: pb::CreateNamespaceResponse = rig.call("CreateNamespace", &request).unwrap();
    rig.done(response.proc_id).unwrap();
    assert_eq!(class_of(rig.create(&plain("ns:a"), &["g", "m"])), "QuotaExceededException");
    rig.create(&plain("ns:a"), &[]).unwrap();
    assert_eq!(class_of(rig.create(&plain("ns:b"), &[])), "QuotaExceededException");
    rig.put("ns:a", "c", "1");
    rig.split(&rig.regions("ns:a")[0], "g").unwrap();
    let region = &rig.regions("ns:a")[0];
    let refused = rig.split(region, "b").unwrap_err();
    assert_eq!(class_of(Err::<(), _>(refused.clone())), "QuotaExceededException");
    let text = format!("Region split not possible for :{} as quota limits are exceeded ", region.encoded_name());
    assert_eq!(refused.message, text);
    rig.check();
}
