//! Streams with bytes flipped, cut and repeated: whatever comes, no network thread panics and others are served.

mod echo;

use std::sync::atomic::{AtomicU32, Ordering};

use echo::{Running, options};
use martite_rpc::client::{CallOptions, request_frame};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

static PANICS: AtomicU32 = AtomicU32::new(0);

/// xorshift, so that a failing seed can be run again.
struct Luck(u64);

impl Luck {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

fn damaged(luck: &mut Luck, compressor: Option<&str>) -> Vec<u8> {
    let mut header = options();
    header.compressor = compressor.map(|class| format!("org.apache.hadoop.io.compress.{class}"));
    let mut bytes = header.opening();
    let spared = [0, bytes.len()][luck.below(4).min(1)];
    for id in 0..5 {
        let cells = vec![id as u8; luck.below(50)];
        let options =
            CallOptions { timeout_ms: Some(5), attributes: vec![("a".into(), "b".into())], priority: Some(7) };
        bytes.extend(request_frame(id, "Echo", &vec![1; luck.below(300)], &cells, options));
    }
    for _ in 0..1 + luck.below(4) {
        let at = spared + luck.below(bytes.len() - spared);
        match luck.below(4) {
            0 => bytes[at] = luck.below(256) as u8,
            1 => bytes[at] ^= 1 << luck.below(8),
            2 => drop(bytes.drain(at..(at + luck.below(9)).min(bytes.len()))),
            _ => bytes.insert(at, [0, 0xff, 0x80][luck.below(3)]),
        }
    }
    bytes
}

#[tokio::test]
async fn damaged_streams_harm_nobody() {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("{panic}");
        PANICS.fetch_add(1, Ordering::Relaxed);
    }));
    let running = Running::start();
    let client = running.client().await;
    for seed in 1..=2000u64 {
        let luck = &mut Luck(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let compressor = [None, Some("SnappyCodec"), Some("GzipCodec")][luck.below(3)];
        let bytes = damaged(luck, compressor);
        let mut raw = running.raw().await;
        // The server may close before all is written.
        let _ = raw.0.write_all(&bytes).await;
        let _ = raw.0.shutdown().await;
        let _ = raw.0.read_to_end(&mut Vec::new()).await;
        if seed % 100 == 0 {
            client.call_with("Echo", b"", b"", CallOptions::default()).await.unwrap();
        }
        assert_eq!(PANICS.load(Ordering::Relaxed), 0, "seed {seed}");
    }
    running.until(|c| c.connections_open == 1 && c.queued_calls == 0 && c.queued_bytes == 0).await;
}
