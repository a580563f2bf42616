//! A server for the tests: it echoes, waits, fails or panics as the method says, over real loopback sockets.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use martite_proto::{Message, ResponseHeader};
use martite_rpc::client::{Client, ClientOptions};
use martite_rpc::{
    Call, Class, Counters, Exception, Handler, Pool, PoolOptions, Position, Rest, Server, ServerOptions, Shards,
    on_network_thread, others_wait,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc};

/// What the methods of the test service do.
pub struct Echo {
    pub cluster_id: String,
    /// Receives the calls of method `Park`.
    parked: mpsc::UnboundedSender<Call>,
    /// What calls of method `Hold` wait for, on the network thread, and `HoldBehind` on the one for work of low priority.
    release: Arc<Mutex<Receiver<()>>>,
    /// Calls of method `Later`.
    later: Mutex<Vec<Call>>,
    pool: Arc<Pool>,
    /// A permit for each `Linger` and `AsideLinger` that has begun.
    lingers: Arc<Semaphore>,
}

impl Handler for Echo {
    fn serves(&self, service: &str) -> bool {
        service == "ClientService"
    }
    fn cluster_id(&self) -> String {
        self.cluster_id.clone()
    }
    fn call(&self, call: Call) {
        let burned = Instant::now();
        match &*call.method {
            "Echo" => echo(call),
            // The same with cells that are copied.
            "EchoCopied" => call.responder.ok_copied(&call.param, &call.cells),
            // `Echo` as a part of longer work.
            "EchoOfPart" => {
                let mut call = call;
                call.responder.note_part();
                echo(call);
            }
            // Of low priority if the message says so; answers with the name of the thread that reads the connection.
            "Where" => {
                call.conn.saw_priority(&*call.param == b"low");
                answer_where(call);
            }
            "Hold" => {
                self.release.lock().unwrap().recv().unwrap();
                call.responder.ok_encoded(Vec::new(), Vec::new());
            }
            "HoldBehind" => {
                let release = self.release.clone();
                self.pool.spawn_call(Class::Batch, call, move |call| {
                    release.lock().unwrap().recv().unwrap();
                    call.responder.ok_encoded(Vec::new(), Vec::new());
                });
            }
            // Of low priority. Answered with the name of the thread, or, if the message says so, with the names of all: it goes on on
            // the pool.
            "Aside" if &*call.param == b"on" => {
                let pool = self.pool.clone();
                self.pool.spawn_aside(call, move |call| go_on(call, &pool, Class::Batch, String::new()));
            }
            // The same as a scan.
            "AsideScan" => {
                let pool = self.pool.clone();
                self.pool.spawn_rest(Class::Scan, Position::New, Rest::Anywhere, call, move |call| {
                    go_on(call, &pool, Class::Scan, String::new());
                });
            }
            "Aside" => self.pool.spawn_aside(call, answer_where),
            "AsideEcho" => self.pool.spawn_aside(call, echo),
            // The same as `Aside` until others wait for the network thread.
            "AsideLinger" => {
                let lingers = self.lingers.clone();
                self.pool.spawn_aside(call, move |call| {
                    lingers.add_permits(1);
                    while call.responder.is_connected() && !others_wait() {}
                    answer_where(call);
                })
            }
            // Answered between two reads, with the name of the thread.
            "Later" => self.later.lock().unwrap().push(call),
            "Park" => self.parked.send(call).unwrap(),
            // Answers with as many bytes of cells as the message, read as text, says.
            "Big" => big(call),
            "BigInPool" => self.pool.spawn_call(Class::Scan, call, big),
            "Burn" => {
                while call.responder.is_connected() && burned.elapsed() < Duration::from_micros(100) {}
                call.responder.ok_encoded(Vec::new(), Vec::new());
            }
            // On the network thread until others wait for that.
            "Linger" => {
                self.lingers.add_permits(1);
                while call.responder.is_connected() && !others_wait() {}
                call.responder.ok_encoded(Vec::new(), Vec::new());
            }
            "Fail" => call.responder.fail(Exception::do_not_retry("as asked")),
            "Move" => {
                let mut e = Exception::new("org.apache.hadoop.hbase.exceptions.RegionMovedException", "elsewhere");
                e.moved_to = Some(("host.example".to_owned(), 16020));
                call.responder.fail(e);
            }
            "Panic" => panic!("as asked"),
            // Alone; see `calls`.
            "Gather" => call.responder.ok_encoded(b"alone".to_vec(), Vec::new()),
            "Forget" => drop(call),
            "Discard" => call.responder.discard(),
            other => call.responder.fail(Exception::unknown_method(other)),
        }
    }

    fn gathers(&self, call: &Call) -> bool {
        &*call.method == "Gather"
    }

    /// Answers with how many there were, leaves every call whose message is `left`, panics at one that is `panic`.
    fn calls(&self, calls: &mut Vec<Call>) {
        let size = calls.len().to_string().into_bytes();
        for call in calls.extract_if(.., |call| &*call.param != b"left") {
            assert!(&*call.param != b"panic", "as asked");
            call.responder.ok_encoded(size.clone(), Vec::new());
        }
    }

    fn between_reads(&self, _: Instant) {
        self.later.lock().unwrap().drain(..).for_each(answer_where);
    }

    fn pool(&self) -> Option<&Arc<Pool>> {
        Some(&self.pool)
    }
}

fn here() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
}

fn answer_where(call: Call) {
    call.responder.ok_encoded(here().into_bytes(), Vec::new());
}

fn echo(call: Call) {
    call.responder.ok_encoded(call.param.to_vec(), call.cells.to_vec());
}

fn go_on(call: Call, pool: &Arc<Pool>, class: Class, before: String) {
    let names = format!("{before}{} ", here());
    if on_network_thread() {
        let next = pool.clone();
        pool.spawn_rest(class, Position::First, Rest::OnPool, call, move |call| go_on(call, &next, class, names));
    } else {
        call.responder.ok_encoded(names.into_bytes(), Vec::new());
    }
}

fn big(call: Call) {
    let len = std::str::from_utf8(&call.param).unwrap().parse().unwrap();
    call.responder.ok_encoded(Vec::new(), vec![7; len]);
}

/// A running test server.
pub struct Running {
    pub server: Arc<Server>,
    pub shards: Shards,
    pub parked: mpsc::UnboundedReceiver<Call>,
    pub release: Sender<()>,
    pub lingers: Arc<Semaphore>,
}

impl Running {
    pub fn start() -> Running {
        Running::with(ServerOptions::default())
    }
    pub fn with(options: ServerOptions) -> Running {
        Running::of_cluster("5f5d9a44-0001", options)
    }
    pub fn of_cluster(cluster_id: &str, options: ServerOptions) -> Running {
        Running::new(cluster_id, 2, options)
    }
    /// With this many network threads.
    pub fn on(threads: usize, options: ServerOptions) -> Running {
        Running::new("5f5d9a44-0001", threads, options)
    }
    /// With one network thread, on so many processors.
    pub fn on_processors(processors: Option<usize>) -> Running {
        Running::with_shards("5f5d9a44-0001", Shards::start_on(1, processors).unwrap(), ServerOptions::default())
    }
    fn new(cluster_id: &str, threads: usize, options: ServerOptions) -> Running {
        Running::with_shards(cluster_id, Shards::start(threads).unwrap(), options)
    }
    fn with_shards(cluster_id: &str, shards: Shards, options: ServerOptions) -> Running {
        let (sender, parked) = mpsc::unbounded_channel();
        let (release, released) = std::sync::mpsc::channel();
        let lingers = Arc::new(Semaphore::new(0));
        let handler = Arc::new(Echo {
            cluster_id: cluster_id.to_owned(),
            parked: sender,
            release: Arc::new(Mutex::new(released)),
            later: Mutex::default(),
            pool: Pool::new(PoolOptions::new(3)).unwrap(),
            lingers: lingers.clone(),
        });
        let addr = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = Arc::new(Server::bind(addr, handler, options, shards.clone()).unwrap());
        Running { server, shards, parked, release, lingers }
    }
    pub fn addr(&self) -> SocketAddr {
        self.server.local_addr()
    }
    pub async fn raw(&self) -> Raw {
        Raw(TcpStream::connect(self.addr()).await.unwrap())
    }
    /// A raw connection whose header is sent.
    pub async fn opened(&self) -> Raw {
        let mut raw = self.raw().await;
        raw.send(&options().opening()).await;
        raw
    }
    pub async fn client(&self) -> Client {
        Client::connect(self.addr(), &options()).await.unwrap()
    }
    /// Waits until the counters are as wanted.
    pub async fn until(&self, wanted: impl Fn(&Counters) -> bool) {
        while !wanted(&self.server.counters()) {
            tokio::task::yield_now().await;
        }
    }
}

pub fn options() -> ClientOptions {
    ClientOptions::new("ClientService")
}

/// A connection of bytes.
pub struct Raw(pub TcpStream);

/// An answer frame.
#[derive(Debug)]
pub struct Frame {
    pub header: ResponseHeader,
    /// Message with its length, and cells.
    pub body: Bytes,
}

impl Frame {
    pub fn class(&self) -> &str {
        self.header.exception.as_ref().unwrap().exception_class_name()
    }
    pub fn text(&self) -> &str {
        self.header.exception.as_ref().unwrap().stack_trace()
    }
}

impl Raw {
    pub async fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
    }
    pub async fn read(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.0.read_exact(&mut bytes).await.unwrap();
        bytes
    }
    pub async fn frame(&mut self) -> Frame {
        let len = self.0.read_u32().await.unwrap();
        let mut body = Bytes::from(self.read(len as usize).await);
        let header = ResponseHeader::decode_length_delimited(&mut body).unwrap();
        Frame { header, body }
    }
    /// The server says nothing more and closes.
    pub async fn is_closed(&mut self) -> bool {
        matches!(self.0.read(&mut [0; 1]).await, Ok(0) | Err(_))
    }
}
