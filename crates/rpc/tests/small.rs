//! Whether clients wait for small answers is known for the process: here nothing else is done by it.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod echo;

use echo::Running;
use martite_rpc::client::CallOptions;
use martite_rpc::small_answers_leave;

#[tokio::test]
async fn small_answers_of_calls_that_are_no_part_of_longer_work_tell_that_clients_wait_for_such() {
    let running = Running::start();
    let client = running.client().await;
    let answer = |method, message: &'static [u8]| client.call_with(method, message, b"", CallOptions::default());
    for (method, message) in [("Big", &b"32768"[..]), ("EchoOfPart", b"small"), ("EchoOfPart", &[1; 5_000])] {
        answer(method, message).await.unwrap();
        assert!(!small_answers_leave(), "{method} {}", message.len());
    }
    answer("Echo", b"small").await.unwrap();
    assert!(small_answers_leave());
}
