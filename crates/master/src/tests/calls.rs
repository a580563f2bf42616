//! What clients are answered.

use super::*;

#[test]
fn a_new_cluster_has_what_every_cluster_has() {
    let rig = Rig::new();
    rig.check();
    let names: pb::GetTableNamesResponse = rig
        .call("GetTableNames", &pb::GetTableNamesRequest { include_sys_tables: Some(true), ..Default::default() })
        .unwrap();
    let names: Vec<String> = names.table_names.iter().map(|n| TableName::from_proto(n).unwrap().to_string()).collect();
    assert_eq!(names, ["hbase:meta", "hbase:namespace", "hbase:quota"]);
    let namespaces: pb::ListNamespacesResponse = rig.call("ListNamespaces", &pb::ListNamespacesRequest {}).unwrap();
    assert_eq!(namespaces.namespace_name, ["default", "hbase"]);
    assert_eq!(rig.fs.read(&Layout::new(ROOT).version_file()).unwrap(), b"PBUF\x0a\x018");
    assert_eq!(rig.master.cluster_id().len(), 36);
    let running: pb::IsMasterRunningResponse = rig.call("IsMasterRunning", &pb::IsMasterRunningRequest {}).unwrap();
    assert!(running.is_master_running);
}

#[test]
fn tables_live_and_die() {
    let rig = Rig::new();
    rig.create(&plain("t"), &["m", "c"]).unwrap();
    assert_eq!(rig.state("t"), Some(TableState::Enabled));
    assert_eq!(rig.regions("t").len(), 3);
    assert_eq!(rig.descriptor("t").attributes.text("hbase.store.file-tracker.impl"), Some("DEFAULT"));
    rig.put("t", "d", "1");
    assert_eq!(class_of(rig.create(&plain("t"), &[])), "TableExistsException");
    assert_eq!(class_of(rig.enable("t")), "TableNotDisabledException");
    assert_eq!(class_of(rig.delete("t")), "TableNotDisabledException");
    assert_eq!(class_of(rig.disable("nope")), "TableNotFoundException");
    assert_eq!(class_of(rig.disable("hbase:meta")), "ConstraintException");
    rig.disable("t").unwrap();
    rig.check();
    let twice = rig.disable("t").unwrap_err();
    assert_eq!(twice.message, "t");
    assert_eq!(rig.get("t", "d"), None);
    rig.enable("t").unwrap();
    assert_eq!(rig.get("t", "d").as_deref(), Some("1"));
    rig.disable("t").unwrap();
    rig.truncate("t", true).unwrap();
    rig.check();
    assert_eq!((rig.regions("t").len(), rig.get("t", "d"), rig.state("t")), (3, None, Some(TableState::Enabled)));
    rig.disable("t").unwrap();
    rig.truncate("t", false).unwrap();
    assert_eq!(rig.regions("t").len(), 1);
    rig.disable("t").unwrap();
    rig.delete("t").unwrap();
    rig.check();
    assert_eq!((rig.state("t"), rig.regions("t").len()), (None, 0));
    rig.create(&plain("t"), &[]).unwrap();
    assert_eq!(rig.get("t", "d"), None);
    rig.check();
}

#[test]
fn families_come_and_go() {
    let rig = Rig::new();
    rig.create(&plain("t"), &[]).unwrap();
    rig.put("t", "a", "1");
    let add = |family: &FamilyDescriptor| -> Result<(), MasterError> {
        let request = pb::AddColumnRequest {
            table_name: table("t").to_proto(),
            column_families: family.to_proto(),
            ..Default::default()
        };
        let response: pb::AddColumnResponse = rig.call("AddColumn", &request)?;
        rig.done(response.proc_id)
    };
    let delete = |family: &'static str| -> Result<(), MasterError> {
        let request = pb::DeleteColumnRequest {
            table_name: table("t").to_proto(),
            column_name: family.into(),
            ..Default::default()
        };
        let response: pb::DeleteColumnResponse = rig.call("DeleteColumn", &request)?;
        rig.done(response.proc_id)
    };
    add(&FamilyDescriptor::new("g").with("TTL", "60")).unwrap();
    assert_eq!(
        add(&FamilyDescriptor::new("g")).unwrap_err().message,
        "Column family 'g' in table 't' already exists so cannot be added"
    );
    assert_eq!(rig.descriptor("t").family(b"g").unwrap().ttl_s(), 60);
    let region = rig.host.region(rig.regions("t")[0].encoded_name()).unwrap();
    assert!(region.store(b"g").is_some(), "the region was opened again");
    assert_eq!(rig.get("t", "a").as_deref(), Some("1"));
    let dir = rig.services().layout.family_dir(region.info(), "g");
    assert!(rig.fs.exists(&dir));
    delete("g").unwrap();
    assert!(!rig.fs.exists(&dir));
    assert_eq!(class_of(delete("g")), "InvalidFamilyOperationException");
    assert_eq!(
        delete("f").unwrap_err().message,
        "Family 'f' is the only column family in the table, so it cannot be deleted"
    );
    let bad = rig.modify(&plain("t").with("MAX_FILESIZE", "1")).unwrap_err();
    assert!(bad.message.starts_with("MAX_FILESIZE for table descriptor or"));
}

#[test]
fn namespaces_live_and_die() {
    let rig = Rig::new();
    assert_eq!(class_of(rig.create(&plain("ns:t"), &[])), "NamespaceNotFoundException");
    rig.create_namespace("ns").unwrap();
    assert_eq!(class_of(rig.create_namespace("ns")), "NamespaceExistException");
    rig.create(&plain("ns:t"), &[]).unwrap();
    let inside: pb::ListTableNamesByNamespaceResponse = rig
        .call("ListTableNamesByNamespace", &pb::ListTableNamesByNamespaceRequest { namespace_name: "ns".into() })
        .unwrap();
    assert_eq!(inside.table_name, [table("ns:t").to_proto()]);
    assert_eq!(
        rig.delete_namespace("ns").unwrap_err().message,
        "Only empty namespaces can be removed. Namespace ns has 1 tables"
    );
    assert_eq!(rig.delete_namespace("hbase").unwrap_err().message, "Reserved namespace hbase cannot be removed.");
    rig.disable("ns:t").unwrap();
    rig.delete("ns:t").unwrap();
    rig.delete_namespace("ns").unwrap();
    assert_eq!(class_of(rig.delete_namespace("ns")), "NamespaceNotFoundException");
    let rig = rig.restart();
    assert_eq!(class_of(rig.create(&plain("ns:t"), &[])), "NamespaceNotFoundException");
}

#[test]
fn a_repeated_request_is_one_request() {
    let rig = Rig::new();
    let request = pb::CreateTableRequest {
        table_schema: plain("t").to_proto(),
        nonce_group: Some(3),
        nonce: Some(4),
        ..Default::default()
    };
    let first: pb::CreateTableResponse = rig.call("CreateTable", &request).unwrap();
    let second: pb::CreateTableResponse = rig.call("CreateTable", &request).unwrap();
    assert_eq!(first.proc_id, second.proc_id);
    let rig = rig.restart();
    let third: pb::CreateTableResponse = rig.call("CreateTable", &request).unwrap();
    assert_eq!(first.proc_id, third.proc_id, "the request is known after a restart");
}

#[test]
fn results_and_failures_are_kept_until_they_are_old() {
    use pb::get_procedure_result_response::State;
    let rig = Rig::new();
    rig.create(&plain("t"), &[]).unwrap();
    let body = crate::procedure::CreateTable::new(&plain("t"), &rig.regions("t"));
    let id = rig.master.procedures().submit(Box::new(body), &Caller::default(), (0, 0)).unwrap();
    let result = |rig: &Rig| -> pb::GetProcedureResultResponse {
        rig.call("getProcedureResult", &pb::GetProcedureResultRequest { proc_id: id }).unwrap()
    };
    let failed = result(&rig);
    assert_eq!(failed.state, State::Finished as i32);
    let exception = failed.exception.unwrap().generic_exception.unwrap();
    assert_eq!(exception.class_name.as_deref(), Some(crate::class::TABLE_EXISTS));
    let rig = rig.restart();
    assert!(result(&rig).exception.is_some(), "kept over a restart");
    rig.clock.advance(std::time::Duration::from_millis(301_000));
    rig.master.run_chores();
    assert_eq!(result(&rig).state, State::NotFound as i32);
}

#[test]
fn the_status_of_the_cluster() {
    let rig = Rig::new();
    rig.create(&plain("t"), &["m"]).unwrap();
    let status = |options: Vec<i32>| -> pb::ClusterStatus {
        let response: pb::GetClusterStatusResponse =
            rig.call("GetClusterStatus", &pb::GetClusterStatusRequest { options }).unwrap();
        response.cluster_status
    };
    let all = status(vec![]);
    assert_eq!(all.hbase_version.unwrap().version, "2.6.4");
    assert_eq!(all.live_servers.len(), 1);
    assert_eq!(all.live_servers[0].server_load.region_loads.len(), 5);
    assert_eq!((all.balancer_on, all.master_info_port), (Some(true), Some(0)));
    let t = all.table_region_states_count.iter().find(|c| c.table_name == table("t").to_proto()).unwrap();
    assert_eq!((t.region_states_count.open_regions, t.region_states_count.total_regions), (2, 2));
    let some = status(vec![pb::Option::Master as i32, 99]);
    assert_eq!((some.master.unwrap().port, some.live_servers.len(), some.hbase_version), (Some(1), 0, None));
}

#[test]
fn listings_filter() {
    let rig = Rig::new();
    rig.create_namespace("ns").unwrap();
    for name in ["a1", "a2", "ns:a1", "z"] {
        rig.create(&plain(name), &[]).unwrap();
    }
    rig.disable("a2").unwrap();
    let names = |regex: Option<&str>, namespace: Option<&str>| -> Vec<String> {
        let request = pb::GetTableNamesRequest {
            regex: regex.map(str::to_string),
            namespace: namespace.map(str::to_string),
            include_sys_tables: None,
        };
        let response: pb::GetTableNamesResponse = rig.call("GetTableNames", &request).unwrap();
        response.table_names.iter().map(|n| TableName::from_proto(n).unwrap().to_string()).collect()
    };
    assert_eq!(names(None, None), ["a1", "a2", "z", "ns:a1"]);
    assert_eq!(names(Some(".*a1"), None), ["a1", "ns:a1"]);
    assert_eq!(names(None, Some("ns")), ["ns:a1"]);
    assert_eq!(names(Some("default:.*"), None), ["a1", "a2", "z"]);
    let by_state: pb::ListTableNamesByStateResponse =
        rig.call("ListTableNamesByState", &pb::ListTableNamesByStateRequest { is_enabled: false }).unwrap();
    assert_eq!(by_state.table_names, [table("a2").to_proto()]);
}

#[test]
fn switches_keep_their_position() {
    let rig = Rig::new();
    let set = |rig: &Rig, on| -> Option<bool> {
        let request = pb::SetBalancerRunningRequest { on, synchronous: None };
        let response: pb::SetBalancerRunningResponse = rig.call("SetBalancerRunning", &request).unwrap();
        response.prev_balance_value
    };
    assert_eq!((set(&rig, false), set(&rig, false)), (Some(true), Some(false)));
    let split = pb::SetSplitOrMergeEnabledRequest { enabled: false, synchronous: None, switch_types: vec![0, 1] };
    let previous: pb::SetSplitOrMergeEnabledResponse = rig.call("SetSplitOrMergeEnabled", &split).unwrap();
    assert_eq!(previous.prev_value, [true, true]);
    let rig = rig.crash();
    let on: pb::IsBalancerEnabledResponse = rig.call("IsBalancerEnabled", &pb::IsBalancerEnabledRequest {}).unwrap();
    let merge: pb::IsSplitOrMergeEnabledResponse =
        rig.call("IsSplitOrMergeEnabled", &pb::IsSplitOrMergeEnabledRequest { switch_type: 1 }).unwrap();
    assert!(!on.enabled && !merge.enabled);
}

#[test]
fn what_is_not_there_is_named() {
    let rig = Rig::new();
    let request = pb::AddReplicationPeerRequest::default();
    let outcome: Result<pb::AddReplicationPeerResponse, MasterError> = rig.call("AddReplicationPeer", &request);
    let error = outcome.unwrap_err();
    assert_eq!(error.message, "AddReplicationPeer is not supported by this server");
    assert!(error.do_not_retry);
    let garbage = rig.master.call("MasterService", "CreateTable", b"\xff\xff", &Caller::default()).unwrap_err();
    assert!(garbage.message.starts_with("CreateTable: malformed request"), "{}", garbage.message);
    let empty = rig.master.call("MasterService", "CreateTable", b"", &Caller::default()).unwrap_err();
    assert!(empty.do_not_retry, "{empty}");
}
