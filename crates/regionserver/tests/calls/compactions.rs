//! Compactions that are switched off, by the configuration or by a user.

use crate::rig::{Rig, region_of, specifier};
use martite_proto as pb;
use martite_regionserver::Options;
use martite_rpc::PoolOptions;
use pb::Message;

/// Files of the one family of `free`.
fn files(rig: &Rig) -> usize {
    let region = rig.regions.online.by_name(region_of("free").name()).unwrap();
    region.stores()[0].1.files().len()
}

/// Asks for a major compaction and waits until it has ended, or has been left out.
async fn compact(rig: &Rig) {
    let region = specifier("free");
    rig.administer("CompactRegion", pb::CompactRegionRequest { region, major: Some(true), family: None }).await;
    let name = region_of("free").encoded_name().to_owned();
    rig.until(async || rig.background.compactions_of(&name) == (false, false)).await;
}

async fn switch(rig: &Rig, enabled: bool) -> bool {
    let answer = rig.administer("CompactionSwitch", pb::CompactionSwitchRequest { enabled }).await;
    pb::CompactionSwitchResponse::decode(answer).unwrap().prev_state
}

#[tokio::test]
async fn there_are_none_whoever_asks_until_they_are_switched_on() {
    let options = Options { compactions_enabled: false, ..Options::default() };
    let rig = Rig::with(PoolOptions::new(2), 1000, options).await;
    for i in 0..4 {
        rig.multi(&format!("row-{i}"), 1, 0).await.unwrap().unwrap();
        let request = pb::FlushRegionRequest { region: specifier("free"), ..Default::default() };
        rig.administer("FlushRegion", request).await;
    }
    compact(&rig).await;
    assert_eq!(files(&rig), 4);
    assert!(!switch(&rig, true).await);
    compact(&rig).await;
    assert_eq!(files(&rig), 1);
    assert!(switch(&rig, false).await);
    rig.end().await;
}
