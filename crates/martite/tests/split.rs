//! A daughter loses its references to the parent's files by itself, so that it can be split again.

use martite_catalog::{FamilyDescriptor, RegionInfo, TableDescriptor, TableName};
use martite_testkit::{Admin, Server, Table, TestError};
use std::path::Path;
use std::time::{Duration, Instant};

/// Nothing but compactions of a few rows is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

async fn split_again_and_again(server: &Server) -> Result<usize, TestError> {
    let name = TableName::parse("t")?;
    let admin = Admin::connect(server.master, server.regionserver).await?;
    // A block a row, for regions are cut between blocks.
    let family = FamilyDescriptor::new("f").with("BLOCKSIZE", "1024");
    admin.create_table(&TableDescriptor::new(name.clone()).with_family(family), &[]).await?;
    let table = Table::connect(server.regionserver, &name).await?;
    for row in 0..64 {
        table.put(format!("row{row:02}").as_bytes(), &["f"], "q", &[b'v'; 1024]).await?;
    }
    for _ in 0..3 {
        for region in table.load_regions().await? {
            split(&admin, &region).await?;
        }
    }
    assert_eq!(table.scan_all().await?.len(), 64);
    Ok(table.load_regions().await?.len())
}

/// Asks until the region has no references any more.
async fn split(admin: &Admin, region: &RegionInfo) -> Result<(), TestError> {
    let start = Instant::now();
    loop {
        match admin.split_region(region).await {
            Err(_) if start.elapsed() < PATIENCE => tokio::time::sleep(Duration::from_millis(10)).await,
            done => return Ok(done?),
        }
    }
}

#[test]
fn a_daughter_can_be_split_soon() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Path::new(env!("CARGO_BIN_EXE_martite")), &folder.path().join("data"), &[]).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let regions = runtime.block_on(split_again_and_again(&server)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(regions, 8);
}
