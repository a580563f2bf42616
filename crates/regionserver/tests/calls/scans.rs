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

/// As asynchbase does, which does not ask for it in the call that opens.
#[tokio::test]
async fn a_scanner_that_ended_in_its_first_call_can_be_closed() {
    let rig = Rig::start(PoolOptions::new(2), 1).await;
    rig.multi("row", 3, 0).await.unwrap().unwrap();
    let scan = async |request: pb::ScanRequest| {
        let answer = rig.client.call_with("Scan", &request.encode_to_vec(), b"", CallOptions::default()).await?;
        Ok::<_, martite_rpc::client::ClientError>(pb::ScanResponse::decode(answer.message).unwrap())
    };
    let open = pb::ScanRequest {
        region: Some(specifier("free")),
        scan: Some(pb::Scan::default()),
        number_of_rows: Some(128),
        ..Default::default()
    };
    let opened = scan(open.clone()).await.unwrap();
    assert_eq!((opened.cells_per_result.len(), opened.more_results_in_region), (3, Some(false)));
    let next = |rows, close| pb::ScanRequest {
        scanner_id: opened.scanner_id,
        number_of_rows: Some(rows),
        close_scanner: Some(close),
        ..Default::default()
    };
    for request in [next(10, false), next(0, true), next(0, true)] {
        assert_eq!(scan(request).await.unwrap().cells_per_result.len(), 0);
    }
    // Neither the next one's id, which nobody has, nor that of a scanner that is open, which is another.
    let unknown = pb::ScanRequest { scanner_id: opened.scanner_id.map(|id| (id & !0x8000_0000) + 1), ..next(0, true) };
    assert!(scan(unknown).await.unwrap_err().to_string().contains("Unknown scanner"));
    let longer = scan(pb::ScanRequest { number_of_rows: Some(1), ..open }).await.unwrap();
    assert_eq!((longer.cells_per_result.len(), longer.more_results_in_region), (1, Some(true)));
    let rest = scan(pb::ScanRequest { scanner_id: longer.scanner_id, ..next(10, true) }).await.unwrap();
    assert_eq!(rest.cells_per_result.len(), 2);
    rig.end().await;
}
