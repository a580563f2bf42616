//! The ZooKeeper endpoint: a whole connection over a loopback socket.
//!
//! Input: `| flags | bytes of the client |`. Flag 1: a sound hello of a new session comes before the bytes.

use crate::mutate::Form;
use crate::target::{Budget, Target, words};
use crate::targets::peer;
use martite_env::{ManualClock, SeededRandom};
use martite_rpc::Shards;
use martite_zk::{Tree, ZkOptions, ZkServer};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub const TARGET: Target = Target {
    name: "zk",
    run,
    seeds,
    words: paths,
    form: Form::Binary,
    max_len: 16 << 10,
    // Watches on paths that are not there, and an event for each of them.
    budget: Budget { fixed_bytes: 4 << 20, per_byte: 256 },
    smoke: 1_500,
};

struct Endpoint {
    tree: Arc<Tree>,
    server: ZkServer,
    _shards: Shards,
}

fn start() -> std::io::Result<Endpoint> {
    let shards = Shards::start(1)?;
    let tree = Tree::new(Arc::new(ManualClock::new(1000)));
    for path in ["/hbase/master", "/hbase/hbaseid", "/hbase/rs/host,16020,1", "/hbase/meta-region-server"] {
        tree.set(path, path.as_bytes().to_vec(), true);
    }
    let options =
        ZkOptions { max_frame_bytes: 64 << 10, min_session_timeout: Duration::from_secs(60), ..Default::default() };
    let addr = SocketAddr::from(([127, 0, 0, 1], 0));
    let random = Arc::new(SeededRandom::new(1));
    let server = shards.runtime().block_on(ZkServer::bind_with(addr, tree.clone(), options, random))?;
    Ok(Endpoint { tree, server, _shards: shards })
}

fn run(input: &[u8]) {
    static ENDPOINT: OnceLock<std::io::Result<Endpoint>> = OnceLock::new();
    let endpoint = ENDPOINT.get_or_init(start).as_ref().unwrap_or_else(|e| panic!("no endpoint: {e}"));
    let Some((flags, bytes)) = input.split_first() else { return };
    let bytes = if flags & 1 != 0 { [&hello(0)[..], bytes].concat() } else { bytes.to_vec() };
    let _ = peer::talk(endpoint.server.local_addr(), &bytes);
    // Whoever is gone watches nothing.
    peer::until("the watches of a closed connection", || endpoint.tree.watch_count() == 0);
}

fn frame(parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    [&(body.len() as u32).to_be_bytes(), &body[..]].concat()
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_be_bytes(), text.as_bytes()].concat()
}

fn hello(session: i64) -> Vec<u8> {
    let password = [&16u32.to_be_bytes()[..], &[0; 16]].concat();
    frame(&[&[0; 12], &30_000i32.to_be_bytes(), &session.to_be_bytes(), &password, &[0]])
}

fn request(xid: i32, op: i32, parts: &[&[u8]]) -> Vec<u8> {
    frame(&[&xid.to_be_bytes(), &op.to_be_bytes(), &parts.concat()])
}

fn seeds() -> Vec<Vec<u8>> {
    let list = |paths: &[&str]| {
        [(paths.len() as u32).to_be_bytes().to_vec(), paths.iter().flat_map(|p| string(p)).collect()].concat()
    };
    let reads = [3, 4, 8, 12].map(|op| request(op, op, &[&string("/hbase/master"), &[1]])).concat();
    let others = [6, 104, 9].map(|op| request(op, op, &[&string("/hbase")])).concat();
    let watches =
        [&0i64.to_be_bytes()[..], &list(&["/hbase/master", "/none"]), &list(&["/a"]), &list(&["/hbase"])].concat();
    let persistent = [&watches[..], &list(&[]), &list(&[])].concat();
    let writes = [1, 2, 5, 14].map(|op| request(op, op, &[&string("/hbase/x"), &string("data"), &[0; 12]])).concat();
    let auth = request(-4, 100, &[&[0; 4], &string("digest"), &string("user:password")]);
    vec![
        [&[0][..], &hello(0), &reads].concat(),
        [&[0][..], b"ruok"].concat(),
        [&[0][..], b"mntr"].concat(),
        [&[0][..], &hello(77)].concat(),
        [&[1][..], &reads, &others, &request(-2, 11, &[]), &request(9, -11, &[])].concat(),
        [&[1][..], &request(1, 101, &[&watches]), &request(2, 105, &[&persistent]), &reads].concat(),
        [&[1][..], &auth, &writes, &request(3, 102, &[&string("token")])].concat(),
    ]
}

fn paths() -> Vec<Vec<u8>> {
    let mut all =
        words(&["/", "/hbase", "/hbase/master", "/hbase/rs", "/zookeeper", "//", "/.", "/..", "ruok", "stat"]);
    all.extend(words(&[
        "mntr",
        "srvr",
        "conf",
        "cons",
        "dump",
        "envi",
        "isro",
        "wchs",
        "\0\0\0\x0c\0\0\0\x01\0\0\0\x0b",
    ]));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_answered() {
        let endpoint = start().expect("an endpoint");
        let answer = peer::talk(endpoint.server.local_addr(), &seeds()[0][1..]).expect("an answer");
        // The welcome, and four answers of data.
        assert!(answer.len() > 41 + 4 * 20, "{}", answer.len());
        assert_eq!(peer::talk(endpoint.server.local_addr(), b"ruok").expect("an answer"), b"imok");
    }
}
