//! Compactions that are switched off, by the configuration or by a user, and flushes that wait for one.

use crate::rig::Rig;
use martite_catalog::TableDescriptor;
use martite_proto as pb;
use martite_regionserver::Options;
use martite_rpc::PoolOptions;
use pb::Message;
use std::time::Duration;

async fn switch(rig: &Rig, enabled: bool) -> bool {
    let answer = rig.administer("CompactionSwitch", pb::CompactionSwitchRequest { enabled }).await;
    pb::CompactionSwitchResponse::decode(answer).unwrap().prev_state
}

/// A row in a file of its own.
async fn flushed(rig: &Rig, row: &str) {
    rig.multi(row, 1, 0).await.unwrap().unwrap();
    rig.flush().await;
}

#[tokio::test]
async fn there_are_none_whoever_asks_until_they_are_switched_on() {
    let options = Options { compactions_enabled: false, ..Options::default() };
    let rig = Rig::with(PoolOptions::new(2), 1000, options, |table| table).await;
    for row in ["a", "b", "c", "d"] {
        flushed(&rig, row).await;
    }
    rig.compact().await;
    assert_eq!(rig.files(), 4);
    assert!(!switch(&rig, true).await);
    rig.compact().await;
    assert_eq!(rig.files(), 1);
    assert!(switch(&rig, false).await);
    rig.end().await;
}

/// Two files are too many, each write wants a flush, and no compaction comes by itself.
fn crowded(table: TableDescriptor) -> TableDescriptor {
    let few = table.with("hbase.hstore.blockingStoreFiles", "2").with("hbase.hstore.compaction.min", "100");
    few.with("MEMSTORE_FLUSHSIZE", "1")
}

async fn crowded_rig(blocking_wait: Duration) -> Rig {
    let rig = Rig::with(PoolOptions::new(2), 1000, Options { blocking_wait, ..Options::default() }, crowded).await;
    for (row, files) in [("a", 1), ("b", 2)] {
        rig.multi(row, 1, 0).await.unwrap().unwrap();
        rig.until(async || rig.files() == files).await;
    }
    rig.multi("c", 1, 0).await.unwrap().unwrap();
    rig
}

#[tokio::test]
async fn with_too_many_files_a_flush_waits_for_a_compaction() {
    let rig = crowded_rig(Duration::from_hours(1)).await;
    rig.until(async || rig.background.flushes_delayed() == 1).await;
    assert_eq!(rig.files(), 2);
    rig.compact().await;
    rig.until(async || rig.background.flushes_delayed() == 0 && rig.files() == 2).await;
    assert!(rig.has("free", "a").await && rig.has("free", "c").await);
    rig.end().await;
}

#[tokio::test]
async fn such_a_flush_waits_no_longer_than_it_may_and_not_where_a_user_asks() {
    let rig = crowded_rig(Duration::from_millis(300)).await;
    rig.until(async || rig.files() == 3).await;
    rig.end().await;
    let rig = crowded_rig(Duration::from_hours(1)).await;
    rig.until(async || rig.background.flushes_delayed() == 1).await;
    rig.flush().await;
    assert_eq!(rig.files(), 3);
    rig.end().await;
}

#[tokio::test]
async fn a_flush_that_waits_goes_on_when_compactions_are_switched_off() {
    let rig = crowded_rig(Duration::from_hours(1)).await;
    rig.until(async || rig.background.flushes_delayed() == 1).await;
    assert!(switch(&rig, false).await);
    rig.until(async || rig.files() == 3 && rig.background.flushes_delayed() == 0).await;
    rig.end().await;
}
