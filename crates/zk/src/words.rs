//! The four-letter words: what administrators and HBase's `zk_dump` send in place of a session.
//!
//! Source: ZooKeeper 3.8 administrator's guide.

use crate::server::Shared;
use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;

const VERSION: &str = concat!("3.8.4-martite-", env!("CARGO_PKG_VERSION"));

/// The answer to a word; `None` if these are no word, but the length of a frame.
pub(crate) fn answer(word: &[u8; 4], shared: &Shared, peer: SocketAddr) -> Option<String> {
    Some(match word {
        b"ruok" => "imok".into(),
        b"isro" => "rw".into(),
        b"srvr" => server(shared),
        b"stat" => stat(shared, peer),
        b"mntr" => monitor(shared),
        other if other.iter().all(u8::is_ascii_lowercase) => {
            format!("{} is not executed because it is not in the whitelist.\n", other.escape_ascii())
        }
        _ => return None,
    })
}

fn server(shared: &Shared) -> String {
    format!("Zookeeper version: {VERSION}, built on unknown\n{}", numbers(shared))
}

fn stat(shared: &Shared, peer: SocketAddr) -> String {
    let head = format!("Zookeeper version: {VERSION}, built on unknown\nClients:\n");
    format!("{head} /{peer}[0](queued=0,recved=1,sent=0)\n\n{}", numbers(shared))
}

fn numbers(shared: &Shared) -> String {
    let counters = &shared.counters;
    let zxid = shared.tree.serve(0, |state| state.zxid()).1;
    let mut out = String::from("Latency min/avg/max: 0/0.0/0\n");
    // Writing to a string does not fail.
    let _ = writeln!(out, "Received: {}", counters.received.load(Ordering::Relaxed));
    let _ = writeln!(out, "Sent: {}", counters.sent.load(Ordering::Relaxed));
    let _ = writeln!(out, "Connections: {}", counters.connections.load(Ordering::Relaxed));
    let _ = writeln!(out, "Outstanding: 0\nZxid: {zxid:#x}\nMode: standalone");
    let _ = writeln!(out, "Node count: {}", shared.tree.node_count());
    out
}

fn monitor(shared: &Shared) -> String {
    let counters = &shared.counters;
    let rows = [
        ("packets_received", counters.received.load(Ordering::Relaxed)),
        ("packets_sent", counters.sent.load(Ordering::Relaxed)),
        ("num_alive_connections", counters.connections.load(Ordering::Relaxed) as u64),
        ("outstanding_requests", 0),
        ("znode_count", shared.tree.node_count() as u64),
        ("watch_count", shared.tree.watch_count() as u64),
        ("approximate_data_size", shared.tree.size_bytes() as u64),
        ("global_sessions", shared.sessions.count() as u64),
    ];
    let mut out = format!("zk_version\t{VERSION}\nzk_server_state\tstandalone\n");
    for (name, value) in rows {
        let _ = writeln!(out, "zk_{name}\t{value}");
    }
    out
}
