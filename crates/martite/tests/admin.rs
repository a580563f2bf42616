//! The native client's administration against the real binary, or, with `MARTITE_TEST_ZOOKEEPER=host:port`, against any
//! HBase (`QUOTAS=true bench/hbase.sh start DIR`).
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use martite_catalog::{
    FamilyDescriptor, NamespaceDescriptor, RegionState, ServerName, TableDescriptor, TableName, TableState,
};
use martite_client::admin::{
    CompactionState, GroupOf, LogFilter, LogKind, QuotaFilter, QuotaKind, QuotaOwner, QuotaSetting, Scope,
    SplitOrMerge, Status,
};
use martite_client::{Admin, Connection, Error, Get, Options, Put, Registry, pb};
use martite_testkit::Server;
use std::path::Path;
use std::time::Duration;

/// A cluster of this test's own, or the one that the environment names.
struct Cluster {
    connection: Connection,
    is_own: bool,
    _server: Option<(Server, tempfile::TempDir)>,
}

impl Cluster {
    async fn start() -> Cluster {
        let (registry, server) = match std::env::var("MARTITE_TEST_ZOOKEEPER") {
            Ok(quorum) => (Registry::zookeeper(&quorum), None),
            Err(_) => {
                let folder = tempfile::tempdir().unwrap();
                let binary = Path::new(env!("CARGO_BIN_EXE_martite"));
                let server = Server::start(binary, &folder.path().join("data"), &[]).unwrap();
                (Registry::zookeeper(&server.zookeeper.to_string()), Some((server, folder)))
            }
        };
        let connection = Connection::connect(Options::new(registry)).await.unwrap();
        Cluster { connection, is_own: server.is_some(), _server: server }
    }

    fn admin(&self) -> Admin {
        self.connection.admin()
    }

    /// A table that was not there before.
    async fn table(&self, name: &str, splits: &[&[u8]]) -> TableName {
        let table = TableName::parse(name).unwrap();
        self.drop(&table).await;
        let descriptor = TableDescriptor::new(table.clone()).with_family(FamilyDescriptor::new("f"));
        self.admin().create_table(&descriptor, splits).await.unwrap();
        table
    }

    async fn drop(&self, table: &TableName) {
        let admin = self.admin();
        match admin.is_table_enabled(table).await {
            Err(Error::TableNotFound(_)) => return,
            Ok(true) => admin.disable_table(table).await.unwrap(),
            Ok(false) => {}
            Err(error) => panic!("{error}"),
        }
        admin.delete_table(table).await.unwrap();
    }

    async fn put(&self, table: &TableName, row: &str) {
        self.connection.table(table.clone()).put(Put::row(row).column("f", "q", "v")).await.unwrap();
    }

    async fn server(&self) -> ServerName {
        self.admin().region_servers().await.unwrap().remove(0)
    }
}

/// The class of the exception, or what else it is.
fn class<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.map_or_else(|error| error.class().rsplit('.').next().unwrap_or_default().to_owned(), |ok| format!("{ok:?}"))
}

/// On a server that is not a test's own, regions of other tests go while all of its regions are asked for something.
async fn beside_others(cluster: &Cluster, ask: impl AsyncFn() -> Result<(), Error>) {
    let mut answer = ask().await;
    while !cluster.is_own && answer.as_ref().is_err_and(|error| error.is("NotServingRegionException")) {
        answer = ask().await;
    }
    answer.unwrap();
}

#[tokio::test]
async fn tables_from_making_to_deleting() {
    let cluster = Cluster::start().await;
    let admin = cluster.admin();
    let table = cluster.table("admin_ddl", &[b"m"]).await;
    assert!(admin.table_exists(&table).await.unwrap());
    assert_eq!(admin.table_state(&table).await.unwrap(), TableState::Enabled);
    assert!(admin.table_names().await.unwrap().contains(&table));
    assert_eq!(admin.table_names_matching("admin_d.l", false).await.unwrap(), std::slice::from_ref(&table));
    assert!(admin.table_names_of_namespace("default").await.unwrap().contains(&table));
    assert!(admin.table_names_by_state(true).await.unwrap().contains(&table));
    let system = admin.table_descriptors_matching("hbase:.*", true).await.unwrap();
    assert!(system.iter().any(|t| t.is_meta()), "{system:?}");

    admin.add_family(&table, &FamilyDescriptor::new("g").with("VERSIONS", "3")).await.unwrap();
    admin.modify_family(&table, &FamilyDescriptor::new("f").with("TTL", "100")).await.unwrap();
    let mut descriptor = admin.table_descriptor(&table).await.unwrap();
    let family = |d: &TableDescriptor, name: &str| d.family(name.as_bytes()).cloned();
    assert_eq!(family(&descriptor, "g").unwrap().max_versions(), 3);
    assert_eq!(family(&descriptor, "f").unwrap().ttl_s(), 100);
    admin.delete_family(&table, b"g").await.unwrap();
    descriptor.remove_family(b"g");
    descriptor.attributes.set("MAX_FILESIZE", b"1234567890".to_vec());
    admin.modify_table(&descriptor).await.unwrap();
    let descriptor = admin.table_descriptor(&table).await.unwrap();
    assert_eq!((descriptor.max_file_size_bytes(), descriptor.family_count()), (Some(1_234_567_890), 1));
    admin.modify_table_file_tracker(&table, "MIGRATION").await.unwrap_err();

    cluster.put(&table, "a").await;
    assert_eq!(class(admin.truncate_table(&table, true).await), "TableNotDisabledException");
    admin.disable_table(&table).await.unwrap();
    assert!(admin.is_table_disabled(&table).await.unwrap());
    assert_eq!(class(admin.disable_table(&table).await), "TableNotEnabledException");
    admin.truncate_table(&table, true).await.unwrap();
    assert!(!cluster.connection.table(table.clone()).exists(Get::row("a")).await.unwrap());
    assert_eq!(admin.regions(&table).await.unwrap().len(), 2);
    admin.disable_table_async(&table).await.unwrap().wait().await.unwrap();
    let pending = admin.enable_table_async(&table).await.unwrap();
    pending.wait().await.unwrap();
    admin.disable_table(&table).await.unwrap();
    admin.delete_table(&table).await.unwrap();
    assert!(!admin.table_exists(&table).await.unwrap());
    assert!(matches!(admin.table_descriptor(&table).await, Err(Error::TableNotFound(name)) if name == table));
    assert_eq!(class(admin.delete_table(&table).await), "TableNotFoundException");
    let again = TableDescriptor::new(cluster.table("admin_twice", &[]).await).with_family(FamilyDescriptor::new("f"));
    assert_eq!(class(admin.create_table(&again, &[]).await), "TableExistsException");
    cluster.drop(again.name()).await;
}

#[tokio::test]
async fn namespaces() {
    let cluster = Cluster::start().await;
    let admin = cluster.admin();
    let _ = admin.delete_namespace("admin_ns").await;
    let mut namespace = NamespaceDescriptor::new("admin_ns").unwrap();
    admin.create_namespace(&namespace).await.unwrap();
    namespace.configuration.insert("k".into(), "v".into());
    admin.modify_namespace(&namespace).await.unwrap();
    assert_eq!(admin.namespace_descriptor("admin_ns").await.unwrap(), namespace);
    assert!(admin.namespace_names().await.unwrap().contains(&"admin_ns".to_owned()));
    assert!(admin.namespace_descriptors().await.unwrap().contains(&namespace));
    let table = cluster.table("admin_ns:t", &[]).await;
    assert_eq!(admin.table_names_of_namespace("admin_ns").await.unwrap(), std::slice::from_ref(&table));
    let descriptors = admin.table_descriptors_of_namespace("admin_ns").await.unwrap();
    assert_eq!(descriptors.iter().map(TableDescriptor::name).collect::<Vec<_>>(), [&table]);
    assert_eq!(class(admin.delete_namespace("admin_ns").await), "ConstraintException");
    cluster.drop(&table).await;
    admin.delete_namespace("admin_ns").await.unwrap();
    assert_eq!(class(admin.namespace_descriptor("admin_ns").await), "NamespaceNotFoundException");
}

#[tokio::test]
async fn regions_are_found_split_merged_and_moved() {
    let cluster = Cluster::start().await;
    let admin = cluster.admin();
    let table = cluster.table("admin_regions", &[b"h", b"p"]).await;
    let regions = admin.regions(&table).await.unwrap();
    let starts: Vec<_> = regions.iter().map(|r| r.info.start_key().to_vec()).collect();
    assert_eq!(starts, [b"".to_vec(), b"h".to_vec(), b"p".to_vec()]);
    let server = regions[0].opened_on().unwrap().clone();
    assert!(admin.regions_on(&server).await.unwrap().contains(&regions[0].info));
    let first = &regions[0].info;
    for name in [&first.name()[..], first.encoded_name().as_bytes()] {
        assert_eq!(admin.find_region(name).await.unwrap().info, *first);
    }
    assert!(admin.find_region(b"1588230740").await.unwrap().info.is_meta());
    for name in ["nothing", "0123456789abcdef0123456789abcdef", "t,,1.0123456789abcdef0123456789abcdef."] {
        assert_eq!(class(admin.find_region(name.as_bytes()).await), "UnknownRegionException");
    }
    for row in ["a", "c", "i", "q"] {
        cluster.put(&table, row).await;
    }
    admin.flush_table(&table).await.unwrap();
    admin.flush_families(&table, &[b"f"]).await.unwrap();
    assert_eq!(admin.store_files(&regions[0], &[b"f"]).await.unwrap().len(), 1);
    assert_eq!(admin.region_loads(&server, Some(&table)).await.unwrap().len(), 3);

    admin.split_region_async(first, Some(b"b")).await.unwrap().wait().await.unwrap();
    let split = admin.regions(&table).await.unwrap();
    assert_eq!(split.len(), 4);
    assert_eq!(class(admin.split_region_async(&split[1].info, Some(b"b")).await), "IllegalArgumentException");
    let encoded = |n: usize| split[n].info.encoded_name().to_owned();
    admin.merge_regions(&[encoded(2), encoded(3)], false).await.unwrap();
    let merged = admin.regions(&table).await.unwrap();
    assert_eq!(merged.len(), 3);
    assert_eq!(merged[2].info.start_key(), &b"h"[..]);

    let region = &merged[2];
    admin.truncate_region(&region.info).await.unwrap();
    assert!(!cluster.connection.table(table.clone()).exists(Get::row("q")).await.unwrap());
    let region = admin.regions(&table).await.unwrap().remove(2);
    admin.unassign(region.info.name()).await.unwrap();
    admin.assign(region.info.encoded_name().as_bytes()).await.unwrap();
    admin.flush_region(&region.info).await.unwrap();
    admin.move_region(region.info.encoded_name(), None).await.unwrap();
    cluster.put(&table, "z").await;
    assert_eq!(admin.region_states(&table).await.unwrap().unwrap().open_regions, 3);
    cluster.drop(&table).await;
}

#[tokio::test]
async fn flushes_and_compactions() {
    let cluster = Cluster::start().await;
    let admin = cluster.admin();
    let table = cluster.table("admin_compact", &[]).await;
    let region = admin.regions(&table).await.unwrap().remove(0);
    for row in ["a", "b"] {
        cluster.put(&table, row).await;
        admin.flush_region_family(&region.info, Some(b"f")).await.unwrap();
    }
    assert_eq!(admin.store_files(&region, &[b"f"]).await.unwrap().len(), 2);
    admin.compact_table(&table, Some(b"f"), true).await.unwrap();
    while admin.is_compacting(&region.info).await.unwrap()
        || admin.store_files(&region, &[b"f"]).await.unwrap().len() != 1
    {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(admin.compaction_state(&table).await.unwrap(), CompactionState::None);
    admin.compact_region(&region.info, false).await.unwrap();
    let server = cluster.server().await;
    beside_others(&cluster, async || admin.flush_server(&server).await).await;
    beside_others(&cluster, async || admin.compact_server(&server, false).await).await;
    assert_eq!(admin.compaction_switch(true, &[]).await.unwrap(), [(server.clone(), true)]);
    assert!(admin.last_major_compaction_ms(&table).await.unwrap() >= 0);
    assert!(admin.last_major_compaction_of_region_ms(&region.info).await.unwrap() >= 0);
    admin.clear_compaction_queues(&server, &["long", "short"]).await.unwrap();
    let stats = admin.clear_block_cache(&table).await.unwrap();
    assert!(stats.exception.is_empty() && stats.evicted_blocks >= Some(0), "{stats:?}");
    assert_eq!(
        class(admin.compact_table(&TableName::parse("nosuch").unwrap(), None, false).await),
        "TableNotFoundException"
    );
    cluster.drop(&table).await;
}

#[tokio::test]
async fn the_cluster_and_its_servers() {
    let cluster = Cluster::start().await;
    let admin = cluster.admin();
    let status = admin.cluster_status(&[]).await.unwrap();
    assert_eq!(status.live_servers.len(), 1);
    let status = admin.cluster_status(&[Status::ClusterId]).await.unwrap();
    assert_eq!(status.cluster_id.unwrap().cluster_id, cluster.connection.cluster_id().await.unwrap());
    let server = cluster.server().await;
    let (name, _) = admin.server_info(&server).await.unwrap();
    assert_eq!(name, server);
    assert_eq!(admin.active_master().await.unwrap().address(), cluster.connection.master().await.unwrap().address());
    assert_eq!(admin.backup_masters().await.unwrap(), []);
    assert_eq!(admin.dead_servers().await.unwrap(), []);
    assert_eq!(admin.unknown_servers().await.unwrap(), []);
    assert_eq!(admin.clear_dead_servers(&[]).await.unwrap(), []);
    assert_eq!(admin.decommissioned_servers().await.unwrap(), []);
    assert!(!admin.is_in_maintenance_mode().await.unwrap());
    admin.roll_wal_writer(&server).await.unwrap();
    admin.update_configuration(&server).await.unwrap();
    admin.update_configuration_everywhere().await.unwrap();
    admin.flush_master_store().await.unwrap();
    admin.run_hbck_chore().await.unwrap();
    admin.procedures().await.unwrap();
    let locks = admin.locks().await.unwrap();
    assert!(!cluster.is_own || locks.is_empty(), "{locks:?}");
    assert!(!admin.abort_procedure(u64::from(u32::MAX), true).await.unwrap());
    let table = cluster.table("admin_cluster", &[]).await;
    let timeout_ms = admin.exec_procedure("flush-table-proc", table.as_str(), &[]).await.unwrap();
    assert!(timeout_ms > 0);
    while !admin.is_procedure_done("flush-table-proc", table.as_str(), &[]).await.unwrap() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(admin.slow_log(&server, LogKind::Slow, &LogFilter::default()).await.unwrap(), []);
    assert_eq!(admin.slow_log(&server, LogKind::Large, &LogFilter::default()).await.unwrap(), []);
    admin.clear_slow_log(&server).await.unwrap();
    admin.balancer_decisions(10).await.unwrap();
    admin.balancer_rejections(10).await.unwrap();
    cluster.drop(&table).await;
}

#[tokio::test]
async fn repairs_by_hand() {
    let cluster = Cluster::start().await;
    let admin = cluster.admin();
    let table = cluster.table("admin_hbck", &[]).await;
    let (enabled, disabled) = (TableState::Enabled, TableState::Disabled);
    assert_eq!(admin.set_table_state_in_meta(&table, disabled).await.unwrap(), enabled);
    assert_eq!(admin.table_state(&table).await.unwrap(), disabled);
    assert_eq!(admin.set_table_state_in_meta(&table, enabled).await.unwrap(), disabled);

    let name = [admin.regions(&table).await.unwrap()[0].info.encoded_name().to_owned()];
    assert!(admin.hbck_unassigns(&name, false).await.unwrap()[0].is_some());
    while admin.regions(&table).await.unwrap()[0].state != Some(RegionState::Closed) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (closed, offline) = (RegionState::Closed, RegionState::Offline);
    assert_eq!(admin.set_region_state_in_meta(&name[0], closed).await.unwrap(), None);
    assert_eq!(admin.set_region_state_in_meta(&name[0], offline).await.unwrap(), Some(closed));
    assert_eq!(admin.set_region_state_in_meta(&name[0], closed).await.unwrap(), Some(offline));
    assert!(admin.hbck_assigns(&name, false).await.unwrap()[0].is_some());
    // Waits until the region is open.
    cluster.put(&table, "a").await;
    let unknown = ["0123456789abcdef0123456789abcdef".to_owned()];
    assert_eq!(admin.hbck_assigns(&unknown, false).await.unwrap(), []);
    assert_eq!(admin.hbck_unassigns(&unknown, false).await.unwrap(), []);

    assert_eq!(admin.bypass_procedures(&[u64::from(u32::MAX)], 10, false, false).await.unwrap(), [false]);
    assert_eq!(admin.schedule_crash_of_unknown_servers().await.unwrap(), []);
    admin.fix_meta().await.unwrap();
    cluster.drop(&table).await;
}

#[tokio::test]
async fn switches_answer_what_they_were() {
    let cluster = Cluster::start().await;
    let admin = cluster.admin();
    assert!(admin.set_balancer(false, true).await.unwrap());
    assert!(!admin.is_balancer_enabled().await.unwrap());
    assert!(!admin.set_balancer(true, false).await.unwrap());
    admin.balance(true, true).await.unwrap();
    let normalizer = admin.is_normalizer_enabled().await.unwrap();
    assert_eq!(admin.set_normalizer(true).await.unwrap(), normalizer);
    admin.normalize(&[], Some("nosuch.*"), None).await.unwrap();
    assert!(admin.set_normalizer(normalizer).await.unwrap());
    assert!(admin.set_catalog_janitor(true).await.unwrap());
    assert!(admin.is_catalog_janitor_enabled().await.unwrap());
    assert!(admin.run_catalog_janitor().await.unwrap() >= 0);
    let cleaner = admin.is_cleaner_chore_enabled().await.unwrap();
    assert_eq!(admin.set_cleaner_chore(cleaner).await.unwrap(), cleaner);
    admin.run_cleaner_chore().await.unwrap();
    for which in [SplitOrMerge::Split, SplitOrMerge::Merge] {
        assert!(admin.set_split_or_merge(which, true, false).await.unwrap());
        assert!(admin.is_split_or_merge_enabled(which).await.unwrap());
    }
    let cleanup = admin.is_snapshot_cleanup_enabled().await.unwrap();
    assert_eq!(admin.set_snapshot_cleanup(cleanup, false).await.unwrap(), cleanup);
    assert!(admin.set_rpc_throttle(true).await.unwrap());
    assert!(admin.is_rpc_throttle_enabled().await.unwrap());
    assert!(!admin.set_exceed_throttle_quota(false).await.unwrap());
    assert!(admin.set_peer_modification(true).await.unwrap());
    assert!(admin.is_peer_modification_enabled().await.unwrap());
}

#[tokio::test]
async fn quotas_are_set_listed_and_removed() {
    let cluster = Cluster::start().await;
    let admin = cluster.admin();
    let timed = |limit| pb::TimedQuota {
        time_unit: pb::TimeUnit::Seconds as i32,
        soft_limit: Some(limit),
        share: None,
        scope: Some(pb::QuotaScope::Machine as i32),
    };
    let space = pb::SpaceQuota {
        soft_limit: Some(1 << 30),
        violation_policy: Some(pb::SpaceViolationPolicy::NoInserts as i32),
        remove: None,
    };
    let user = || QuotaOwner::User("admin_u".into());
    let of_table = || QuotaOwner::UserTable("admin_u".into(), "admin_t".into());
    let set = [
        QuotaSetting { owner: user(), kind: QuotaKind::Throttle(pb::ThrottleType::ReadNumber, timed(1000)) },
        QuotaSetting { owner: user(), kind: QuotaKind::GlobalBypass(true) },
        QuotaSetting { owner: of_table(), kind: QuotaKind::Throttle(pb::ThrottleType::WriteSize, timed(1 << 20)) },
        QuotaSetting { owner: QuotaOwner::Table("admin_space".into()), kind: QuotaKind::Space(space) },
    ];
    let tables = [cluster.table("admin_t", &[]).await, cluster.table("admin_space", &[]).await];
    for setting in &set {
        admin.set_quota(setting).await.unwrap();
    }
    let users = QuotaFilter { user: Some("admin_.*".into()), ..Default::default() };
    assert_eq!(admin.quotas(&users, None).await.unwrap(), set[..3]);
    assert_eq!(admin.quotas(&users, Some(1)).await.unwrap(), set[..1]);
    let table = QuotaFilter { user: Some("admin_u".into()), table: Some("admin_t".into()), ..Default::default() };
    assert_eq!(admin.quotas(&table, None).await.unwrap(), set[2..3]);
    let spaces = QuotaFilter { table: Some("admin_sp.*".into()), ..Default::default() };
    assert_eq!(admin.quotas(&spaces, None).await.unwrap(), set[3..]);
    let all = admin.quotas(&QuotaFilter::default(), None).await.unwrap();
    assert!(set.iter().all(|setting| all.contains(setting)), "{all:?}");
    let unset = [
        (user(), QuotaKind::GlobalBypass(false)),
        (of_table(), QuotaKind::Unthrottle(Some(pb::ThrottleType::WriteSize))),
        (user(), QuotaKind::Unthrottle(None)),
        (QuotaOwner::Table("admin_space".into()), QuotaKind::UnlimitSpace),
    ];
    for (owner, kind) in unset {
        admin.set_quota(&QuotaSetting { owner, kind }).await.unwrap();
    }
    assert_eq!(admin.quotas(&users, None).await.unwrap(), []);
    assert_eq!(admin.quotas(&spaces, None).await.unwrap(), []);
    admin.space_quota_table_sizes().await.unwrap();
    admin.space_quota_snapshots().await.unwrap();
    admin.space_quota_snapshots_on(&cluster.server().await).await.unwrap();
    admin.quota_states().await.unwrap();
    assert!(admin.snapshot_sizes().await.unwrap().is_empty());
    for table in &tables {
        cluster.drop(table).await;
    }
}

#[tokio::test]
async fn limited_users_are_told_of_by_martite_only() {
    let cluster = Cluster::start().await;
    let admin = cluster.admin();
    let server = cluster.server().await;
    if !cluster.is_own {
        assert_eq!(class(admin.throttle_usage(&server, None, None).await), "UnknownProtocolException");
        return;
    }
    let table = cluster.table("admin_usage", &[]).await;
    let usage = async |user: Option<&str>, table: Option<&TableName>| {
        let usage = admin.throttle_usage(&server, user, table).await.unwrap();
        let calls = |u: &pb::ThrottleUsage| (u.user.clone(), u.table.clone(), u.operation(), u.service.count);
        usage.usage.iter().map(calls).collect::<Vec<_>>()
    };
    cluster.put(&table, "before").await;
    assert_eq!(usage(None, None).await, [], "nobody is limited yet");
    let quota =
        pb::TimedQuota { time_unit: pb::TimeUnit::Seconds as i32, soft_limit: Some(1000), share: None, scope: None };
    let kind = QuotaKind::Throttle(pb::ThrottleType::RequestNumber, quota);
    admin.set_quota(&QuotaSetting { owner: QuotaOwner::Table("admin_usage".into()), kind }).await.unwrap();
    cluster.put(&table, "a").await;
    cluster.put(&table, "b").await;
    let all = usage(None, None).await;
    let user = all[0].0.clone();
    let puts = (user.clone(), "admin_usage".to_owned(), pb::throttle_usage::Operation::Mutate, 2);
    assert_eq!(all, std::slice::from_ref(&puts));
    assert_eq!(usage(Some(&user), Some(&table)).await, [puts]);
    assert_eq!(usage(Some("nobody"), None).await, []);
    assert_eq!(usage(None, Some(&TableName::parse("nosuch").unwrap())).await, []);
    cluster.drop(&table).await;
}

#[tokio::test]
async fn what_is_off_says_so() {
    let cluster = Cluster::start().await;
    let admin = cluster.admin();
    admin.security_capabilities().await.unwrap();
    assert_eq!(admin.replication_peers(None).await.unwrap(), []);
    assert_eq!(class(admin.replication_peer_config("nosuch").await), "ReplicationPeerNotFoundException");
    assert_eq!(class(admin.rsgroups().await), "UnknownProtocolException");
    assert_eq!(class(admin.rsgroup(&GroupOf::Name("default".into())).await), "UnknownProtocolException");
    assert_eq!(class(admin.list_labels(".*").await), "TableNotFoundException");
    admin.user_permissions(None, &Scope::Global).await.unwrap_err();
}

#[tokio::test]
async fn snapshots() {
    let cluster = Cluster::start().await;
    let admin = cluster.admin();
    let table = cluster.table("admin_snapshot", &[]).await;
    let snapshot =
        pb::SnapshotDescription { name: "admin_s".into(), table: Some(table.to_string()), ..Default::default() };
    cluster.put(&table, "a").await;
    admin.snapshot(&snapshot).await.unwrap();
    assert!(admin.is_snapshot_done(&snapshot).await.unwrap());
    assert!(admin.snapshots().await.unwrap().iter().any(|s| s.name == "admin_s"));
    let copy = TableName::parse("admin_copy").unwrap();
    cluster.drop(&copy).await;
    admin.clone_snapshot("admin_s", &copy, false, None).await.unwrap();
    assert_eq!(class(admin.clone_snapshot("admin_s", &copy, false, None).await), "TableExistsException");
    assert!(cluster.connection.table(copy.clone()).exists(Get::row("a")).await.unwrap());
    admin.disable_table(&table).await.unwrap();
    admin.restore_snapshot("admin_s", false).await.unwrap();
    admin.delete_snapshot("admin_s").await.unwrap();
    assert_eq!(class(admin.delete_snapshot("admin_s").await), "SnapshotDoesNotExistException");
    cluster.drop(&copy).await;
    cluster.drop(&table).await;
}
