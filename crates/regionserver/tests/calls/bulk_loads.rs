//! Bulk loads, as HBase's tool asks for them.

use crate::rig::{Rig, region_of, specifier};
use martite_catalog::Layout;
use martite_env::FileSystem;
use martite_proto as pb;
use martite_quota::space::Usage;
use martite_rpc::PoolOptions;
use martite_rpc::client::CallOptions;
use pb::Message;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

impl Rig {
    async fn ask(&self, method: &str, request: impl Message) -> Result<bytes::Bytes, String> {
        let answer = self.client.call_with(method, &request.encode_to_vec(), b"", CallOptions::default()).await;
        answer.map(|answer| answer.message).map_err(|e| e.to_string())
    }

    /// Loads a file into `slow`.
    async fn load(&self, path: &str, copy: bool) -> Result<bool, String> {
        self.load_into(specifier("slow"), path, copy).await
    }

    async fn load_into(&self, region: pb::RegionSpecifier, path: &str, copy: bool) -> Result<bool, String> {
        let file = pb::bulk_load_h_file_request::FamilyPath { family: "f".into(), path: path.into() };
        let request = pb::BulkLoadHFileRequest {
            region,
            family_path: vec![file],
            assign_seq_num: Some(true),
            copy_file: Some(copy),
            ..Default::default()
        };
        let answer = self.ask("BulkLoadHFile", request).await?;
        Ok(pb::BulkLoadHFileResponse::decode(answer).unwrap().loaded)
    }
}

#[tokio::test]
async fn a_file_is_loaded_unless_its_table_would_hold_too_much() {
    let rig = Rig::start(PoolOptions::new(2), 1000).await;
    rig.multi("a", 1, 0).await.unwrap().unwrap();
    rig.flush().await;
    let family = Layout::new("/hbase").family_dir(&region_of("free"), "f");
    let name = rig.fs.list(&family).unwrap().into_iter().find(|e| !e.is_dir).unwrap().name;
    let path = family.join(name).display().to_string();
    let holds = |limit_bytes| Usage { used_bytes: 100, limit_bytes, violated: None };
    rig.regions.apply_space(Arc::new(BTreeMap::from([("slow".to_owned(), holds(200))])));
    let refused = rig.load(&path, true).await.unwrap_err();
    let text = format!("BulkLoadVerifying Bulk load of [{path}] is disallowed because the file(s) exceed the limits");
    assert!(refused.contains("SpaceLimitingException") && refused.contains(&text), "{refused}");
    rig.regions.apply_space(Arc::new(BTreeMap::from([("slow".to_owned(), holds(1 << 30))])));
    assert!(rig.load(&path, false).await.unwrap_err().contains("it can be copied, not moved"));
    assert!(!rig.has("slow", "a").await);
    assert_eq!(rig.load(&format!("file:{path}"), true).await, Ok(true));
    assert!(rig.has("slow", "a").await);
    let text = rig.load("hdfs://namenode/made", true).await.unwrap_err();
    assert!(text.contains("hdfs://namenode/made: only files of the server's own machine can be loaded"), "{text}");
    assert!(rig.load("/hbase/none", true).await.unwrap_err().contains("/hbase/none"));
    let slow = region_of("slow");
    rig.regions.online.set_replicas(slow.encoded_name(), 2);
    let value = slow.with_replica_id(1).name().clone();
    let refused = rig.load_into(pb::RegionSpecifier { value, ..specifier("slow") }, &path, true).await.unwrap_err();
    assert!(refused.contains("region is read only"), "only the region itself is written to: {refused}");
    rig.end().await;
}

#[tokio::test]
async fn a_tool_has_a_directory_of_its_own_for_the_time() {
    let rig = Rig::start(PoolOptions::new(2), 1000).await;
    let request = pb::PrepareBulkLoadRequest { table_name: region_of("slow").table().to_proto(), region: None };
    let answer = rig.ask("PrepareBulkLoad", request).await.unwrap();
    let token = pb::PrepareBulkLoadResponse::decode(answer).unwrap().bulk_token;
    assert!(rig.fs.exists(Path::new(&token)) && token.starts_with("/hbase/staging/"), "{token}");
    let cleanup = |bulk_token: &str| pb::CleanupBulkLoadRequest { bulk_token: bulk_token.into(), region: None };
    for other in ["/hbase/data", "/hbase/staging/../data", "/hbase/staging"] {
        rig.ask("CleanupBulkLoad", cleanup(other)).await.unwrap_err();
        assert!(rig.fs.exists(Path::new("/hbase/data")));
    }
    rig.ask("CleanupBulkLoad", cleanup(&token)).await.unwrap();
    assert!(!rig.fs.exists(Path::new(&token)));
    rig.end().await;
}
