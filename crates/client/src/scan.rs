//! A whole region's cells, for what is small: hbase:meta, tables in tests.

use crate::Error;
use martite_cell::{CellBuf, OwnedCell};
use martite_proto as pb;
use martite_rpc::client::Client;

/// Rows asked for at a time.
const ROWS: u32 = 1000;

/// All cells that `scan` finds in a region, read in as many calls as it takes.
pub async fn scan_region(
    client: &Client,
    region: pb::RegionSpecifier,
    scan: pb::Scan,
) -> Result<Vec<OwnedCell>, Error> {
    let mut request =
        pb::ScanRequest { region: Some(region), scan: Some(scan), number_of_rows: Some(ROWS), ..Default::default() };
    let mut out = Vec::new();
    let mut seq = 0;
    loop {
        let answer = client.call("Scan", &request, &[]).await?;
        let response: pb::ScanResponse = answer.decode()?;
        out.extend(CellBuf::from_block(answer.cells.to_vec(), false)?.to_owned_cells());
        if response.more_results == Some(false) || response.more_results_in_region == Some(false) {
            return Ok(out);
        }
        request = pb::ScanRequest {
            scanner_id: response.scanner_id,
            number_of_rows: Some(ROWS),
            next_call_seq: Some(seq),
            ..Default::default()
        };
        seq += 1;
    }
}
