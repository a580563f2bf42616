//! Gets of one connection that wait for a limit: given out together, they are read together.

use crate::rig::{PATIENCE, Rig, specifier};
use martite_proto as pb;
use martite_quota::Operation;
use martite_rpc::PoolOptions;
use martite_rpc::client::{CallOptions, Client};
use pb::Message;
use std::sync::Arc;

/// A second: the puts of the rows use it up for a while.
const LIMIT: usize = 500;
const GETS: usize = 300;

/// What one of the Gets wants: most are of the limited table, and some want to know only whether their row is there.
struct Wanted {
    table: &'static str,
    row: String,
    exists_only: bool,
}

fn wanted(nth: usize) -> Wanted {
    let table = if nth.is_multiple_of(10) { "free" } else { "slow" };
    Wanted { table, row: format!("row-{nth}"), exists_only: nth.is_multiple_of(7) }
}

/// Whether its row is there, by the client's word and by the row of the cells.
async fn get(client: Arc<Client>, wanted: Wanted) -> bool {
    let Wanted { table, row, exists_only } = wanted;
    let get = pb::Get { row: row.clone().into(), existence_only: Some(exists_only), ..pb::Get::default() };
    let request = pb::GetRequest { region: specifier(table), get };
    let options = CallOptions { timeout_ms: Some(PATIENCE.as_millis() as u32), ..CallOptions::default() };
    let answer = client.call_with("Get", &request.encode_to_vec(), b"", options).await.unwrap();
    let result = pb::GetResponse::decode(answer.message).unwrap().result.unwrap_or_default();
    if exists_only {
        return result.exists();
    }
    if answer.cells.is_empty() {
        return false;
    }
    // One cell: i32 of all, i32 of the key, i32 of the value, u16 of the row, the row.
    let (len, rest) = answer.cells[12..].split_first_chunk().unwrap();
    assert_eq!(rest[..usize::from(u16::from_be_bytes(*len))], *row.as_bytes(), "{row}");
    true
}

/// Gets of the limited table, and how many of them had to wait.
fn counted(rig: &Rig) -> (u64, u64) {
    let all = rig.regions.throttles.usage.all();
    let of_slow = all.iter().filter(|(key, _)| &*key.table == "slow").map(|(_, of)| of.operation(Operation::Get));
    of_slow.map(|of| (of.service.snapshot().count(), of.parked.snapshot().count())).next().unwrap_or_default()
}

#[tokio::test]
async fn those_that_wait_have_each_its_own_answer_and_are_counted_once() {
    let rig = Rig::start(PoolOptions::new(2), LIMIT).await;
    // The first half of the rows is in both tables.
    rig.multi("row", GETS / 2, GETS / 2).await.unwrap().unwrap();
    let gets: Vec<_> = (0..GETS).map(|nth| tokio::spawn(get(rig.client.clone(), wanted(nth)))).collect();
    for (nth, get) in gets.into_iter().enumerate() {
        assert_eq!(get.await.unwrap(), nth < GETS / 2, "row-{nth}");
    }
    let of_slow = (0..GETS).filter(|nth| wanted(*nth).table == "slow").count() as u64;
    // Counted after they are answered.
    rig.until(async || counted(&rig).0 == of_slow).await;
    assert!(counted(&rig).1 > 0, "{:?}", counted(&rig));
    assert_eq!(rig.regions.throttles.parked(), 0);
    rig.end().await;
}
