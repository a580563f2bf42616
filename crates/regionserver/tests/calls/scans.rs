//! Scans that take long, and others beside them.

use crate::rig::{PATIENCE, Rig, specifier};
use martite_proto as pb;
use martite_rpc::client::CallOptions;
use martite_rpc::{Class, PoolOptions};
use pb::Message;

const ROWS: usize = 20_000;
/// Filters that each row is shown to.
const FILTERS: usize = 500;

fn filter(name: &str, message: impl Message) -> pb::Filter {
    let name = format!("org.apache.hadoop.hbase.filter.{name}");
    pb::Filter { name, serialized_filter: Some(message.encode_to_vec().into()) }
}

/// Refuses every row, and takes its time.
fn slow_filter() -> pb::Filter {
    let comparable = pb::ByteArrayComparable { value: Some("no such row".into()) };
    let comparator = pb::Comparator {
        name: "org.apache.hadoop.hbase.filter.BinaryComparator".into(),
        serialized_comparator: Some(pb::BinaryComparator { comparable }.encode_to_vec().into()),
    };
    let compare_filter = pb::CompareFilter { compare_op: pb::CompareType::Equal as i32, comparator: Some(comparator) };
    let one = filter("RowFilter", pb::RowFilter { compare_filter });
    let operator = pb::filter_list::Operator::MustPassOne as i32;
    filter("FilterList", pb::FilterList { operator, filters: vec![one; FILTERS] })
}

impl Rig {
    /// A Scan of the rows from one of `free` up to another, none of which is returned.
    fn slow_scan(&self, rows: [&str; 2]) -> tokio::task::JoinHandle<()> {
        let [start, stop] = rows.map(|row| Some(row.as_bytes().to_vec().into()));
        let scan = pb::Scan { start_row: start, stop_row: stop, filter: Some(slow_filter()), ..Default::default() };
        let request = pb::ScanRequest {
            region: Some(specifier("free")),
            scan: Some(scan),
            number_of_rows: Some(10),
            close_scanner: Some(true),
            ..Default::default()
        };
        let client = self.client.clone();
        tokio::spawn(async move {
            let options = CallOptions { timeout_ms: Some(PATIENCE.as_millis() as u32), ..CallOptions::default() };
            let answer = client.call_with("Scan", &request.encode_to_vec(), b"", options).await.unwrap();
            let answer = pb::ScanResponse::decode(answer.message).unwrap();
            assert_eq!((answer.cells_per_result.len(), answer.more_results_in_region), (0, Some(false)));
        })
    }
}

/// Both are the one scan's that runs at a time.
#[tokio::test]
async fn a_long_scan_lets_others_take_their_turn() {
    let rig = Rig::start(PoolOptions::new(2), 1).await;
    rig.multi("row", ROWS, 0).await.unwrap().unwrap();
    let long = rig.slow_scan(["", ""]);
    rig.until(async || rig.pool.queued(Class::Scan) == (0, 1)).await;
    // A twentieth of the rows, more than are looked at on the network thread.
    rig.slow_scan(["row-10", "row-11"]).await.unwrap();
    assert!(!long.is_finished());
    long.await.unwrap();
    rig.end().await;
}
