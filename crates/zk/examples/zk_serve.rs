//! Serves a small tree for ZooKeeper's own tools to look at: `zk_serve ADDRESS`. Each line of input is `set PATH TEXT` or
//! `remove PATH`.

use martite_env::SystemClock;
use martite_zk::{Tree, ZkOptions, ZkServer, cluster_id_value};
use std::error::Error;
use std::io::BufRead;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let addr = std::env::args().nth(1).ok_or("zk_serve ADDRESS")?.parse()?;
    let tree = Tree::new(Arc::new(SystemClock));
    tree.set("/hbase/hbaseid", cluster_id_value("master:16000", "00000000-0000-0000-0000-000000000001"), false);
    tree.set("/hbase/rs/localhost,16020,1700000000000", "", true);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = runtime.block_on(ZkServer::bind(addr, Arc::clone(&tree), ZkOptions::default()))?;
    println!("{}", server.local_addr());
    std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    for line in std::io::stdin().lock().lines() {
        match line?.splitn(3, ' ').collect::<Vec<_>>()[..] {
            ["set", path, text] => tree.set(path, text.to_string(), false),
            ["remove", path] => println!("{}", tree.remove(path)),
            _ => println!("set PATH TEXT, remove PATH"),
        }
    }
    Ok(())
}
