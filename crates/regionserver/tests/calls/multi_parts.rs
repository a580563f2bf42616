//! A Multi over two tables of which one is limited: its parts end at different times, and one that cannot end well fails the call.

use crate::rig::{PATIENCE, Rig, specifier};
use martite_env::Fault;
use martite_proto as pb;
use martite_rpc::client::{CallOptions, ClientError};
use martite_rpc::{Class, PoolOptions};
use pb::Message;

/// A part of more puts goes to the pool.
const SHORT: usize = 1000;

impl Rig {
    /// A Multi that puts so many rows into each table; its answer comes later.
    pub fn multi(&self, row: &str, free: usize, slow: usize) -> tokio::task::JoinHandle<Result<usize, ClientError>> {
        let actions = [("free", free), ("slow", slow)].into_iter().filter(|(_, count)| *count > 0);
        let region_action = actions.map(|(table, count)| {
            let action = |i| pb::Action { index: Some(i as u32), mutation: Some(put(row, i)), ..Default::default() };
            pb::RegionAction {
                region: specifier(table),
                action: (0..count).map(action).collect(),
                ..Default::default()
            }
        });
        let request = pb::MultiRequest { region_action: region_action.collect(), ..Default::default() };
        let client = self.client.clone();
        tokio::spawn(async move {
            let options = CallOptions { timeout_ms: Some(PATIENCE.as_millis() as u32), ..CallOptions::default() };
            let answer = client.call_with("Multi", &request.encode_to_vec(), b"", options).await?;
            let answer = pb::MultiResponse::decode(answer.message).unwrap();
            Ok(answer.region_action_result.iter().map(|r| r.result_or_exception.len()).sum())
        })
    }

    /// A Multi whose part for `slow` waits, and the name of its rows.
    async fn waiting_multi(
        &self,
        free: usize,
        slow: usize,
    ) -> (String, tokio::task::JoinHandle<Result<usize, ClientError>>) {
        for i in 0.. {
            // The limit is used up by one that has to wait itself.
            let before = self.multi(&format!("before-{i}"), 0, self.limit / 2);
            if !self.has_parked(&before).await {
                continue;
            }
            before.await.unwrap().unwrap();
            let row = format!("row-{i}");
            let multi = self.multi(&row, free, slow);
            // On a machine that has no time for this thread the limit has recovered.
            if self.has_parked(&multi).await {
                return (row, multi);
            }
        }
        unreachable!()
    }

    async fn has_parked<T>(&self, call: &tokio::task::JoinHandle<T>) -> bool {
        while !call.is_finished() && self.regions.throttles.parked() == 0 {
            tokio::task::yield_now().await;
        }
        self.regions.throttles.parked() > 0
    }
}

fn put(row: &str, number: usize) -> pb::MutationProto {
    let value = pb::mutation_proto::column_value::QualifierValue {
        qualifier: Some("q".into()),
        value: Some("v".into()),
        ..Default::default()
    };
    let column = pb::mutation_proto::ColumnValue { family: "f".into(), qualifier_value: vec![value] };
    pb::MutationProto {
        row: Some(format!("{row}-{number}").into_bytes().into()),
        mutate_type: Some(2),
        column_value: vec![column],
        ..Default::default()
    }
}

fn class(outcome: Result<usize, ClientError>) -> String {
    match outcome {
        Err(ClientError::Remote { class, text, .. }) => {
            assert!(!text.contains("Internal error"), "{text}");
            class
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_part_waits_and_the_answer_is_one() {
    let rig = Rig::start(PoolOptions::new(2), 2).await;
    let (row, multi) = rig.waiting_multi(3, 2).await;
    rig.until(async || rig.has("free", &row).await).await;
    assert_eq!(multi.await.unwrap().unwrap(), 5);
    assert!(rig.has("slow", &row).await);
    rig.end().await;
}

#[tokio::test]
async fn a_part_whose_log_fails_fails_the_call() {
    let rig = Rig::start(PoolOptions::new(2), 2).await;
    let multi = loop {
        let (row, multi) = rig.waiting_multi(3, 2).await;
        rig.until(async || rig.has("free", &row).await).await;
        // One part has been written, the other waits for its time, unless this thread had none.
        if rig.regions.throttles.parked() > 0 {
            break multi;
        }
        multi.await.unwrap().unwrap();
    };
    rig.fs.inject(Fault::HaltAt { nth: 1 });
    assert_eq!(class(multi.await.unwrap()), "java.io.IOException");
    assert!(rig.regions.is_stopping(), "a server whose log has failed serves nobody any more");
    rig.end().await;
}

#[tokio::test]
async fn a_part_that_finds_the_pool_full_fails_the_call() {
    let mut pool = PoolOptions::new(2);
    pool.classes[Class::Write as usize].max_queued = 0;
    let large = SHORT + 1;
    // A large part waits for half a second.
    for (free, slow, limit) in [(large, 1, 2), (1, large, 2 * SHORT), (large, large, 2 * SHORT)] {
        let rig = Rig::start(pool.clone(), limit).await;
        let (row, multi) = rig.waiting_multi(free, slow).await;
        let what = format!("{free} and {slow} puts");
        assert_eq!(class(multi.await.unwrap()), "org.apache.hadoop.hbase.CallQueueTooBigException", "{what}");
        // The part that was not too large has been done.
        assert_eq!((rig.has("free", &row).await, rig.has("slow", &row).await), (free == 1, slow == 1), "{what}");
        assert_eq!(rig.regions.throttles.parked(), 0);
        rig.end().await;
    }
}
