//! What a request costs the server: CPU time of the network threads per request, for connections x pipelining.
//!
//! `cargo run --release -p martite-rpc --example echo_bench [seconds per case [network threads [number of the case]]]`
//!
//! Requests look like those of a Get (about 130 bytes), answers carry 1,000 bytes of cells. CPU is read from
//! `/proc/self/task/*/schedstat` (Linux); the clients run on threads of their own and are not counted.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use martite_rpc::client::{CallOptions, ClientOptions, request_frame};
use martite_rpc::{Call, Handler, Server, ServerOptions, Shards};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CELLS: [u8; 1000] = [7; 1000];
/// Frame length, header with a call id below 128 and a cell block of 1,000 bytes, empty message, cells.
const ANSWER: usize = 4 + 1 + 2 + 5 + 1 + CELLS.len();

struct Fixed;

impl Handler for Fixed {
    fn serves(&self, _service: &str) -> bool {
        true
    }
    fn cluster_id(&self) -> String {
        String::new()
    }
    fn call(&self, call: Call) {
        call.responder.ok_encoded(Vec::new(), CELLS.to_vec());
    }
}

/// CPU nanoseconds that the network threads have used.
fn server_cpu_ns() -> std::io::Result<u64> {
    let mut total = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let task = task?.path();
        if std::fs::read_to_string(task.join("comm"))?.starts_with("net-") {
            let stat = std::fs::read_to_string(task.join("schedstat"))?;
            total += stat.split(' ').next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0);
        }
    }
    Ok(total)
}

/// One connection that keeps `depth` requests under way.
async fn load(addr: SocketAddr, depth: usize, stop: Arc<AtomicBool>, done: Arc<AtomicU64>) -> std::io::Result<()> {
    let mut socket = TcpStream::connect(addr).await?;
    socket.set_nodelay(true)?;
    socket.write_all(&ClientOptions::new("ClientService").opening()).await?;
    let options = CallOptions { timeout_ms: Some(60_000), ..CallOptions::default() };
    let one = request_frame(5, "Get", &[1; 100], b"", options);
    let batch: Vec<u8> = one.iter().copied().cycle().take(one.len() * depth).collect();
    socket.write_all(&batch).await?;
    let mut buf = vec![0; 64 << 10];
    let mut partial = 0;
    while !stop.load(Ordering::Relaxed) {
        let n = socket.read(&mut buf).await?;
        let answers = (partial + n) / ANSWER;
        partial = (partial + n) % ANSWER;
        done.fetch_add(answers as u64, Ordering::Relaxed);
        socket.write_all(&batch[..answers * one.len()]).await?;
    }
    Ok(())
}

/// Runs one case; requests per second and server CPU microseconds per request.
fn case(addr: SocketAddr, connections: usize, depth: usize, length: Duration) -> std::io::Result<(f64, f64)> {
    let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let clients: Vec<_> = (0..2.min(connections))
        .map(|thread| {
            let (stop, done) = (stop.clone(), done.clone());
            std::thread::spawn(move || -> std::io::Result<()> {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                runtime.block_on(async {
                    let share = (connections + 1 - thread) / 2.min(connections).max(1);
                    let tasks: Vec<_> =
                        (0..share).map(|_| tokio::spawn(load(addr, depth, stop.clone(), done.clone()))).collect();
                    for task in tasks {
                        let _ = task.await;
                    }
                });
                Ok(())
            })
        })
        .collect();
    std::thread::sleep(length / 4);
    let (cpu, served, started) = (server_cpu_ns()?, done.load(Ordering::Relaxed), Instant::now());
    std::thread::sleep(length);
    let requests = (done.load(Ordering::Relaxed) - served) as f64;
    let (cpu, seconds) = ((server_cpu_ns()? - cpu) as f64, started.elapsed().as_secs_f64());
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        let _ = client.join();
    }
    Ok((requests / seconds, cpu / requests / 1000.0))
}

fn main() -> std::io::Result<()> {
    let seconds = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(2.0);
    let threads = std::env::args().nth(2).and_then(|s| s.parse().ok()).unwrap_or(2);
    let shards = Shards::start(threads)?;
    let addr = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = Server::bind(addr, Arc::new(Fixed), ServerOptions::default(), shards)?;
    println!("connections x pipelined   requests/s   server CPU us/request");
    let only: Option<usize> = std::env::args().nth(3).and_then(|s| s.parse().ok());
    let cases = [(64, 1), (64, 8), (8, 1), (1, 1), (1, 32), (1, 256)];
    for (_, (connections, depth)) in cases.into_iter().enumerate().filter(|(i, _)| only.is_none_or(|only| only == *i)) {
        let (rate, cpu) = case(server.local_addr(), connections, depth, Duration::from_secs_f64(seconds))?;
        println!("{connections:>11} x {depth:<9}   {rate:>10.0}   {cpu:>21.2}");
    }
    Ok(())
}
