//! Endpoints that are built in: AggregateService.

use crate::rig::{PATIENCE, Rig, specifier};
use martite_proto as pb;
use martite_quota::Operation;
use martite_rpc::PoolOptions;
use martite_rpc::client::{CallOptions, ClientError};
use pb::Message;

const ROWS: usize = 3000;

fn aggregate(table: &str, method: &str, scan: pb::Scan, interpreter: &str) -> pb::CoprocessorServiceRequest {
    let interpreter_class_name = format!("org.apache.hadoop.hbase.client.coprocessor.{interpreter}ColumnInterpreter");
    let request = pb::AggregateRequest { interpreter_class_name, scan, ..Default::default() };
    let call = pb::CoprocessorServiceCall {
        row: Default::default(),
        service_name: "AggregateService".to_owned(),
        method_name: method.to_owned(),
        request: request.encode_to_vec().into(),
    };
    pb::CoprocessorServiceRequest { region: specifier(table), call }
}

fn whole() -> pb::Scan {
    let column = vec![pb::Column { family: "f".into(), qualifier: Vec::new() }];
    pb::Scan { column, ..Default::default() }
}

impl Rig {
    async fn exec(&self, request: &pb::CoprocessorServiceRequest) -> Result<pb::AggregateResponse, ClientError> {
        let options = CallOptions { timeout_ms: Some(PATIENCE.as_millis() as u32), ..CallOptions::default() };
        let answer = self.client.call_with("ExecService", &request.encode_to_vec(), b"", options).await?;
        let answer = pb::CoprocessorServiceResponse::decode(answer.message).unwrap();
        Ok(pb::AggregateResponse::decode(answer.value.value.unwrap()).unwrap())
    }

    /// Rows of a number each, and one cell that is none.
    async fn numbers(&self) {
        let mutation = |i: usize| {
            let value = if i == 7 { vec![1] } else { (i as i64 - 100).to_be_bytes().to_vec() };
            let value = pb::mutation_proto::column_value::QualifierValue {
                qualifier: Some("q".into()),
                value: Some(value.into()),
                ..Default::default()
            };
            let family = pb::mutation_proto::ColumnValue { family: "f".into(), qualifier_value: vec![value] };
            pb::MutationProto {
                row: Some(format!("row{i:06}").into_bytes().into()),
                mutate_type: Some(pb::mutation_proto::MutationType::Put as i32),
                column_value: vec![family],
                ..Default::default()
            }
        };
        let action = |i| pb::Action { index: Some(i as u32), mutation: Some(mutation(i)), ..Default::default() };
        let part = pb::RegionAction {
            region: specifier("free"),
            action: (0..ROWS).map(action).collect(),
            ..Default::default()
        };
        let request = pb::MultiRequest { region_action: vec![part], ..Default::default() };
        self.client.call_with("Multi", &request.encode_to_vec(), b"", CallOptions::default()).await.unwrap();
    }
}

fn longs(answer: &pb::AggregateResponse) -> Vec<i64> {
    answer.first_part.iter().map(|part| pb::LongMsg::decode(part.clone()).unwrap().long_msg).collect()
}

#[tokio::test]
async fn aggregates_are_of_all_rows_that_the_scan_gives() {
    let rig = Rig::start(PoolOptions::new(2), 1).await;
    rig.numbers().await;
    rig.flush().await;
    let count = |answer: &pb::AggregateResponse| {
        i64::from_be_bytes(answer.second_part.as_deref().unwrap_or_default().try_into().unwrap())
    };
    let sum: i64 = (0..ROWS as i64).filter(|i| *i != 7).map(|i| i - 100).sum();
    let squares: i64 = (0..ROWS as i64).filter(|i| *i != 7).map(|i| (i - 100) * (i - 100)).sum();
    let of = async |method| rig.exec(&aggregate("free", method, whole(), "Long")).await.unwrap();
    assert_eq!(longs(&of("GetMax").await), [ROWS as i64 - 101]);
    assert_eq!(longs(&of("GetMin").await), [-100]);
    assert_eq!(longs(&of("GetSum").await), [sum]);
    assert_eq!(of("GetRowNum").await.first_part[0][..], (ROWS as i64).to_be_bytes());
    let avg = of("GetAvg").await;
    assert_eq!((longs(&avg), count(&avg)), (vec![sum], ROWS as i64));
    let std = of("GetStd").await;
    assert_eq!((longs(&std), count(&std)), (vec![sum, squares], ROWS as i64));
    assert_eq!(longs(&of("GetMedian").await), [sum, i64::MIN]);

    let range = pb::Scan { start_row: Some("row000010".into()), stop_row: Some("row000013".into()), ..whole() };
    let answer = rig.exec(&aggregate("free", "GetSum", range.clone(), "Long")).await.unwrap();
    assert_eq!(longs(&answer), [-90 - 89 - 88]);
    // Without a family, rows only.
    let rows = rig.exec(&aggregate("free", "GetRowNum", pb::Scan { column: Vec::new(), ..range }, "Long")).await;
    assert_eq!(rows.unwrap().first_part[0][..], 3i64.to_be_bytes());

    for (method, scan, interpreter, says) in [
        ("GetMode", whole(), "Long", "Unknown method GetMode called on service AggregateService"),
        ("GetMax", pb::Scan::default(), "Long", "must name a column family"),
        ("GetMax", whole(), "Text", "TextColumnInterpreter"),
        ("GetMax", whole(), "BigDecimal", "no BigDecimal"),
    ] {
        let error = rig.exec(&aggregate("free", method, scan, interpreter)).await.unwrap_err().to_string();
        assert!(error.contains(says), "{method}: {error}");
    }
    rig.end().await;
}

/// As scans do, they wait for the limit, and are not refused.
#[tokio::test]
async fn an_aggregate_waits_for_its_turn() {
    let rig = Rig::start(PoolOptions::new(2), 1).await;
    rig.multi("row", 0, 2).await.unwrap().unwrap();
    let count = aggregate("slow", "GetRowNum", whole(), "Long");
    let (first, second) = tokio::join!(rig.exec(&count), rig.exec(&count));
    for answer in [first, second] {
        assert_eq!(answer.unwrap().first_part[0][..], 2i64.to_be_bytes());
    }
    let all = rig.regions.throttles.usage.all();
    let scans: Vec<_> =
        all.iter().filter(|(key, _)| &*key.table == "slow").map(|(_, of)| of.operation(Operation::Scan)).collect();
    let sum = |of: fn(&martite_regionserver::OfOperation) -> u64| scans.iter().map(|scan| of(scan)).sum::<u64>();
    assert_eq!(sum(|scan| scan.service.snapshot().count()), 2);
    assert!(sum(|scan| scan.parked.snapshot().count()) >= 1);
    rig.end().await;
}
