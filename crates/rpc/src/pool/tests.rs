//! The pool from outside: who takes which work, by turns, and who makes way for whom.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc;

use super::*;
use crate::aside::Aside;
use crate::balance::Balance;
use crate::reactor::Reactor;
use crate::room::Room;
use crate::seat::Seat;

fn pool(threads: usize, classes: [ClassOptions; CLASSES]) -> Arc<Pool> {
    Pool::new(PoolOptions { threads, classes, scan_nice: 0, ..PoolOptions::new(2) }).unwrap()
}

fn pool_for_scans(scan_threads: usize) -> Arc<Pool> {
    let options = PoolOptions { threads: 1, scan_threads, scan_nice: 0, ..PoolOptions::new(2) };
    Pool::new(PoolOptions { classes: [ANY; CLASSES], ..options }).unwrap()
}

fn spawn(pool: &Pool, class: Class, job: Job) -> Result<(), Exception> {
    pool.spawn(class, &mut Some(job))
}

fn nothing() -> Waiting {
    Waiting { job: Box::new(|| ()), is_aside: false }
}

const ANY: ClassOptions = ClassOptions { weight: 1, max_queued: 10, max_running: 10 };

/// Holds `n` threads until the sender is dropped.
fn hold(pool: &Pool, class: Class, n: usize) -> mpsc::Sender<()> {
    let (release, held) = mpsc::channel::<()>();
    let held = Arc::new(Mutex::new(held));
    let (started, running) = mpsc::channel();
    for _ in 0..n {
        let (held, started) = (held.clone(), started.clone());
        let job = move || {
            started.send(()).unwrap();
            // Ends when the sender is gone.
            let _ = held.lock().recv();
        };
        spawn(pool, class, Box::new(job)).unwrap();
    }
    (0..n).for_each(|_| running.recv().unwrap());
    release
}

/// Their jobs have ended; the threads are about to.
fn wait_for_end_of_scans(pool: &Pool) {
    while pool.queued(Class::Scan) != (0, 0) {
        std::thread::yield_now();
    }
}

#[test]
fn a_full_queue_refuses_and_others_go_on() {
    let pool = pool(1, [ClassOptions { max_queued: 2, ..ANY }; CLASSES]);
    let release = hold(&pool, Class::Read, 1);
    let (done, all) = mpsc::channel();
    for class in [Class::Read, Class::Read, Class::Write] {
        let done = done.clone();
        spawn(&pool, class, Box::new(move || done.send(class).unwrap())).unwrap();
    }
    assert_eq!((pool.queued(Class::Read), pool.queued(Class::Write)), ((2, 1), (1, 0)));
    let refused = spawn(&pool, Class::Read, Box::new(|| unreachable!())).unwrap_err();
    assert_eq!(refused.class, "org.apache.hadoop.hbase.CallQueueTooBigException");
    assert!(refused.overloaded);
    drop((release, done));
    assert_eq!(all.iter().count(), 3);
}

#[test]
fn a_class_holds_no_more_threads_than_it_may() {
    let mut classes = [ANY; CLASSES];
    classes[Class::Admin as usize].max_running = 1;
    let pool = pool(2, classes);
    let release = hold(&pool, Class::Admin, 1);
    let (done, all) = mpsc::channel();
    let late = done.clone();
    spawn(&pool, Class::Admin, Box::new(move || late.send("admin").unwrap())).unwrap();
    let read = done.clone();
    spawn(&pool, Class::Read, Box::new(move || read.send("read").unwrap())).unwrap();
    assert_eq!(all.recv(), Ok("read"));
    assert_eq!(pool.queued(Class::Admin), (1, 1));
    drop(release);
    assert_eq!(all.recv(), Ok("admin"));
}

#[test]
fn scans_run_on_threads_of_their_own_that_stand_back() {
    let pool =
        Pool::new(PoolOptions { threads: 1, scan_nice: 7, classes: [ANY; CLASSES], ..PoolOptions::new(2) }).unwrap();
    let release = hold(&pool, Class::Write, 1);
    let (done, all) = mpsc::channel();
    let nice = || rustix::process::getpriority_process(None).unwrap();
    for class in SCANS {
        let scan = done.clone();
        spawn(&pool, class, Box::new(move || scan.send(nice()).unwrap())).unwrap();
    }
    let mut three = [all.recv().unwrap(), all.recv().unwrap(), all.recv().unwrap()];
    three.sort_unstable();
    assert_eq!(three, [nice(), 7, 19]);
    let (name, batch) = mpsc::channel();
    let thread = || std::thread::current().name().unwrap_or_default().to_owned();
    spawn(&pool, Class::Batch, Box::new(move || name.send(thread()).unwrap())).unwrap();
    assert!(batch.recv().unwrap().starts_with("batch-"));
    spawn(&pool, Class::Read, Box::new(move || done.send(nice()).unwrap())).unwrap();
    drop(release);
    assert_eq!(all.recv(), Ok(rustix::process::getpriority_process(None).unwrap()));
}

#[test]
fn a_scan_that_reads_from_a_disk_leaves_room_for_another() {
    let mut classes = [ANY; CLASSES];
    classes[Class::Scan as usize].max_running = 1;
    let pool = Pool::new(PoolOptions { scan_threads: 2, classes, ..PoolOptions::new(2) }).unwrap();
    let (disk, reading) = mpsc::channel::<()>();
    let (done, all) = mpsc::channel();
    let read = done.clone();
    let reads = move || {
        // Ends when the sender is gone.
        let _ = disk_time::timed(|| reading.recv());
        read.send("read").unwrap();
    };
    spawn(&pool, Class::Scan, Box::new(reads)).unwrap();
    spawn(&pool, Class::Scan, Box::new(move || done.send("other").unwrap())).unwrap();
    assert_eq!(all.recv(), Ok("other"));
    drop(disk);
    assert_eq!(all.iter().collect::<Vec<_>>(), ["read"]);
    wait_for_end_of_scans(&pool);
    let release = hold(&pool, Class::Scan, 1);
    let (late, done) = mpsc::channel();
    spawn(&pool, Class::Scan, Box::new(move || late.send(()).unwrap())).unwrap();
    assert_eq!(pool.queued(Class::Scan), (1, 1), "no room is left twice");
    drop(release);
    done.recv().unwrap();
}

#[test]
fn what_is_put_off_comes_behind_those_that_wait_and_is_never_refused() {
    let pool = pool(1, [ClassOptions { max_queued: 1, ..ANY }; CLASSES]);
    let (done, all) = mpsc::channel();
    let push = |position, name: &'static str| {
        let (done, scans) = (done.clone(), pool.clone());
        let job = Box::new(move || done.send((name, scans.keeps_scans_waiting())).unwrap());
        pool.inner.push(Kind { class: Class::Scan, is_aside: false, position }, || Some(job))
    };
    let release = hold(&pool, Class::Scan, 1);
    assert!(push(Position::New, "new") && !push(Position::New, "refused"));
    assert!(push(Position::Last, "put off") && push(Position::First, "moved"));
    assert!(!pool.keeps_scans_waiting(), "this is no thread of the pool");
    drop(release);
    let order: Vec<_> = all.iter().take(3).collect();
    assert_eq!(order, [("moved", true), ("new", true), ("put off", false)]);
}

#[test]
fn scans_go_where_they_get_something() {
    let pool = pool(1, [ANY; CLASSES]);
    if martite_env::thread::RunDelay::open().is_err() {
        assert_eq!(pool.inner.class_of_scan(Instant::now()), Class::WeightedScan, "as nobody tells what they get");
        return;
    }
    let is_out_of_place = |on: Class| {
        let (tell, told) = mpsc::channel();
        let inner = pool.clone();
        spawn(&pool, on, Box::new(move || tell.send(inner.is_out_of_place()).unwrap())).unwrap();
        told.recv().unwrap()
    };
    let now = Instant::now();
    assert_eq!(pool.inner.class_of_scan(now), Class::Scan);
    assert!(is_out_of_place(Class::WeightedScan) && !is_out_of_place(Class::Scan));
    assert!(!pool.is_out_of_place(), "this is no thread of the pool");
    let _release = hold(&pool, Class::Batch, 1);
    assert_eq!(pool.inner.class_of_scan(now), Class::WeightedScan, "batch work would have its share of what is left");
    pool.inner.scarcity.begin(now + Duration::from_secs(3600));
    assert!(!is_out_of_place(Class::WeightedScan) && is_out_of_place(Class::Scan));
}

/// Of scans, after one was left next to nothing by threads that do so.
fn class_beside(others: impl Fn(&Pool) + Sync) -> Class {
    let (pool, over) = (pool(1, [ANY; CLASSES]), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..2 * pool.processors {
            scope.spawn(|| {
                while !over.load(Relaxed) {
                    others(&pool);
                }
            });
        }
        let (tell, told) = mpsc::channel();
        let scans = pool.clone();
        let scan = move || {
            while !scans.is_out_of_place() {
                stand_aside();
            }
            tell.send(scans.inner.class_of_scan(Instant::now())).unwrap();
        };
        spawn(&pool, Class::Scan, Box::new(scan)).unwrap();
        let class = told.recv();
        over.store(true, Relaxed);
        class.unwrap()
    })
}

#[test]
fn a_scan_that_is_left_next_to_nothing_is_out_of_place() {
    if martite_env::thread::RunDelay::open().is_err() {
        return;
    }
    assert_eq!(class_beside(|_| ()), Class::OrdinaryScan);
    let calls = |pool: &Pool| {
        let before = martite_env::thread::cpu_time();
        while martite_env::thread::cpu_time() < before + Duration::from_millis(1) {}
        pool.note_calls(martite_env::thread::cpu_time() - before);
    };
    assert_eq!(class_beside(calls), Class::WeightedScan);
}

#[test]
fn what_is_for_hosts_is_left_to_them_while_there_are_any() {
    let pool = pool(1, [ANY; CLASSES]);
    let (_reactor, host) = Reactor::new(None).unwrap();
    let (done, all) = mpsc::channel();
    let push = |is_aside, name: &'static str| {
        let done = done.clone();
        let job = Box::new(move || done.send(name).unwrap());
        assert!(pool.inner.push(Kind { class: Class::Batch, is_aside, position: Position::New }, || Some(job)));
    };
    pool.begin_hosting(host.clone(), 0);
    push(true, "first aside");
    push(false, "for threads");
    assert_eq!(all.recv(), Ok("for threads"), "which come by what waits before it");
    push(true, "second aside");
    pool.take_aside().unwrap().1();
    assert_eq!(all.recv(), Ok("first aside"));
    pool.end_hosting(&host);
    assert_eq!(all.recv(), Ok("second aside"));
    // Beside a host, on a processor of its own.
    pool.begin_hosting(host.clone(), 1);
    push(true, "third aside");
    assert_eq!(all.recv(), Ok("third aside"));
    assert!(!pool.is_in_the_way());
    let release = hold(&pool, Class::Batch, 1);
    pool.begin_hosting(host, 0);
    assert!(pool.is_in_the_way());
    drop(release);
}

#[test]
fn hosts_take_scans_in_their_order_that_no_thread_is_free_for() {
    let pool = pool_for_scans(2);
    let (_reactor, host) = Reactor::new(None).unwrap();
    let (done, all) = mpsc::channel();
    let push = |class, position, is_aside, name: &'static str| {
        let done = done.clone();
        let job = Box::new(move || done.send(name).unwrap());
        assert!(pool.inner.push(Kind { class, is_aside, position }, || Some(job)));
    };
    let (release, both) = (hold(&pool, Class::Scan, 1), hold(&pool, Class::Scan, 1));
    // That they do not get on is not to matter here. Both have begun, and are not noted again.
    pool.inner.state.lock().seen.clear();
    drop(both);
    pool.begin_hosting(host.clone(), 1);
    for name in ["first", "second", "third", "fourth"] {
        push(Class::Scan, Position::New, true, name);
    }
    push(Class::Scan, Position::Last, false, "for threads");
    assert_eq!(all.recv(), Ok("for threads"), "of which the other one leaves scans to the host");
    assert!(pool.scans_wait());
    pool.take_aside().unwrap().1();
    assert_eq!(all.recv(), Ok("first"));
    // Both threads are busy: the host is not to overtake what it has left to them, nor to begin with batch work.
    let (other, batch) = (hold(&pool, Class::Scan, 1), hold(&pool, Class::Batch, 1));
    push(Class::Scan, Position::First, false, "not for hosts");
    push(Class::Batch, Position::New, true, "batch");
    assert!(pool.take_aside().is_none());
    drop(other);
    assert_eq!(all.recv(), Ok("not for hosts"));
    pool.take_aside().unwrap().1();
    assert_eq!(all.recv(), Ok("second"));
    drop((release, batch));
    let rest: Vec<_> = all.iter().take(3).collect();
    assert!(rest.contains(&"batch") && pool.take_aside().is_none() && !pool.scans_wait(), "{rest:?}");
    // Who ends to be a host leaves to the threads what it has not done.
    pool.begin_hosting(host.clone(), 0);
    push(Class::Scan, Position::New, true, "at last");
    pool.end_hosting(&host);
    assert_eq!(all.recv(), Ok("at last"));
}

#[test]
fn a_busy_host_does_a_piece_of_a_scan_now_and_then() {
    if martite_env::thread::RunDelay::open().is_err() {
        return;
    }
    let pool = pool_for_scans(1);
    let (_reactor, host) = Reactor::new(None).unwrap();
    let mut aside = Aside::new(host.clone());
    aside.know(Some(&pool), &host);
    let (done, all) = mpsc::channel();
    let push = |class, name: &'static str| {
        let done = done.clone();
        let kind = Kind { class, is_aside: true, position: Position::New };
        assert!(pool.inner.push(kind, || Some(Box::new(move || done.send(name).unwrap()))));
    };
    let (mut now, hour) = (Instant::now(), Duration::from_secs(3600));
    assert!(aside.host(now, Some(0)) && aside.work_between(now, false).is_zero());
    for scan in ["first", "second", "third"] {
        push(Class::Scan, scan);
    }
    assert!(!aside.is_short_of_time(now, false) && !aside.work_between(now, false).is_zero());
    assert_eq!(all.try_recv(), Ok("first"));
    assert!(aside.work_between(now, false).is_zero(), "that was its part for a while");
    now += hour;
    assert!(!aside.is_short_of_time(now, false), "since the first one");
    aside.work_between(now, false);
    assert_eq!(all.try_recv(), Ok("second"));
    // Batch work that gets nothing is left to threads all the same.
    push(Class::Batch, "batch");
    assert!(!aside.is_short_of_time(now, false));
    now += hour;
    aside.work_between(now, false);
    assert_eq!(all.try_recv(), Ok("third"));
    assert!(aside.work_between(now + hour, false).is_zero() && aside.is_short_of_time(now, false));
    assert!(!aside.host(now, Some(0)));
    assert_eq!(all.recv(), Ok("batch"));
}

#[test]
fn hosts_leave_scans_to_threads_one_of_which_does_not_get_on() {
    let seen = [0, 5, 1_000].map(|at| Arc::new(AtomicU64::new(at)));
    let state = State { seen: seen.to_vec(), ..State::default() };
    assert!(!state.keeps_waiting(2_005) && state.keeps_waiting(2_006));
    seen[1].store(0, Relaxed);
    assert!(!state.keeps_waiting(2_006));

    let pool = pool_for_scans(2);
    let (_reactor, host) = Reactor::new(None).unwrap();
    pool.begin_hosting(host, 1);
    let release = hold(&pool, Class::Scan, 1);
    let (done, all) = mpsc::channel();
    let job = Box::new(move || done.send(()).unwrap());
    let kind = Kind { class: Class::Scan, is_aside: true, position: Position::New };
    assert!(pool.inner.push(kind, || Some(job)));
    assert!(pool.has_scans_for_hosts() && !pool.inner.state.lock().queues[Class::Scan as usize].jobs.is_empty());
    // The held one has had its time; the other thread takes what the host is not given.
    let began = Instant::now();
    while began.elapsed() <= KEPT_WAITING {
        std::thread::yield_now();
    }
    assert!(pool.take_aside().is_none() && !pool.inner.state.lock().hosts_do_scans(began));
    // It may come too late for that, and hosts ask again.
    while all.try_recv().is_err() {
        assert!(pool.take_aside().is_none());
    }
    drop(release);
}

#[test]
fn no_scan_is_left_to_who_does_not_know_of_it() {
    let pool = pool_for_scans(1);
    let (_reactor, host) = Reactor::new(None).unwrap();
    let (done, all) = mpsc::channel();
    let push = |name: &'static str| {
        let done = done.clone();
        let job = Box::new(move || done.send(name).unwrap());
        let kind = Kind { class: Class::Scan, is_aside: true, position: Position::New };
        assert!(pool.inner.push(kind, || Some(job)));
    };
    // The thread has begun, and waits.
    drop(hold(&pool, Class::Scan, 1));
    wait_for_end_of_scans(&pool);
    // The host will do it, and then leaves it to a thread for which there is a processor now.
    pool.begin_hosting(host.clone(), 0);
    push("for a thread");
    pool.begin_hosting(host.clone(), 1);
    assert_eq!(all.recv(), Ok("for a thread"));
    wait_for_end_of_scans(&pool);
    // A thread will do it when it has time, and then leaves it to a host that does scans again.
    let release = hold(&pool, Class::Scan, 1);
    pool.begin_hosting(host.clone(), 0);
    pool.inner.state.lock().apart.begin(Instant::now());
    host.set_asleep(true);
    push("for the host");
    while !pool.has_scans_for_hosts() {
        std::thread::yield_now();
    }
    assert!(host.is_asleep());
    drop(release);
    while host.is_asleep() {
        std::thread::yield_now();
    }
    pool.take_aside().unwrap().1();
    assert_eq!(all.recv(), Ok("for the host"));
}

/// How many network threads are needed is told in it, for which a second goes by each time.
struct Needed(Arc<Balance>, AtomicU64);

impl Needed {
    fn tell(&self, load: u32) {
        let now = Duration::from_secs(self.1.fetch_add(1, Relaxed));
        self.0.tell(0, now, load, || Some(u32::MAX));
    }

    fn one_more(&self) {
        self.tell(1000);
    }

    fn one_less(&self) {
        self.tell(0);
        self.tell(0);
    }
}

/// A scan that takes so many turns, in some of which the number of network threads that are needed changes.
fn take_turns(inner: Arc<Inner>, needed: Arc<Needed>, turns: u32, done: mpsc::Sender<()>) {
    let next = inner.clone();
    let job: Job = Box::new(move || {
        match turns % 5 {
            2 => needed.one_more(),
            0 => needed.one_less(),
            _ => {}
        }
        match turns {
            0 => done.send(()).unwrap(),
            _ => take_turns(next, needed, turns - 1, done),
        }
    });
    // Some of it may be for the pool's threads only.
    let kind = Kind { class: Class::Scan, is_aside: turns % 7 != 6, position: Position::First };
    assert!(inner.push(kind, || Some(job)));
}

/// While network threads become hosts and end it, as more or fewer of them are needed.
#[test]
fn every_scan_is_done_whoever_is_there_for_it() {
    let pool = pool_for_scans(2);
    let needed = Arc::new(Needed(Arc::new(Balance::new(2)), AtomicU64::new(0)));
    let (room, origin) = (Arc::new(Room::new()), Instant::now());
    let hosts = [0, 1].map(|index| {
        let seat = Seat::new(index, needed.0.clone(), room.clone(), origin, Some(2));
        let (reactor, remote) = Reactor::new(Some(seat)).unwrap();
        let pool = pool.clone();
        (remote, std::thread::spawn(move || reactor.run_for(&pool)))
    });
    let (done, all) = mpsc::channel();
    for round in 0..300 {
        let scans = 1 + round % 3;
        needed.one_more();
        hosts.iter().for_each(|(host, _)| host.rouse());
        for scan in 0..scans {
            take_turns(pool.inner.clone(), needed.clone(), round * 7 % 11 + scan, done.clone());
        }
        (0..scans).for_each(|_| all.recv().unwrap());
    }
    for (host, thread) in hosts {
        host.stop();
        thread.join().unwrap();
    }
}

#[test]
fn a_crowd_of_scans_is_for_each_processor() {
    let mut pool = pool(2, [ANY; CLASSES]);
    Arc::get_mut(&mut pool).unwrap().processors = 1;
    assert_eq!(pool.crowd_of_scans(), 1);
    let release = hold(&pool, Class::Scan, 1);
    let _other = hold(&pool, Class::Read, 1);
    assert_eq!(pool.crowd_of_scans(), 1);
    let _weighted = hold(&pool, Class::WeightedScan, 1);
    assert_eq!((pool.crowd_of_scans(), pool.queued(Class::Scan)), (2, (0, 2)));
    drop(release);
}

#[test]
fn a_panic_costs_no_thread() {
    let pool = pool(1, [ANY; CLASSES]);
    for _ in 0..5 {
        spawn(&pool, Class::Read, Box::new(|| panic!("as asked"))).unwrap();
    }
    let (done, all) = mpsc::channel();
    spawn(&pool, Class::Read, Box::new(move || done.send(1).unwrap())).unwrap();
    assert_eq!(all.recv(), Ok(1));
}

#[test]
fn dropping_the_pool_drops_what_waits() {
    let pool = pool(1, [ANY; CLASSES]);
    let release = hold(&pool, Class::Read, 1);
    let (waiting, dropped) = mpsc::channel::<()>();
    spawn(&pool, Class::Read, Box::new(move || waiting.send(()).unwrap())).unwrap();
    let dropping = std::thread::spawn(move || drop(pool));
    assert_eq!(dropped.recv(), Err(mpsc::RecvError));
    drop(release);
    dropping.join().unwrap();
}

/// Plays the scheduler without threads: every class always has a job that takes its `took` nanoseconds.
fn play(options: [ClassOptions; CLASSES], took: [u64; CLASSES], jobs: usize) -> [u64; CLASSES] {
    let mut state = State::default();
    let mut spent = [0; CLASSES];
    for (i, (queue, class)) in state.queues.iter_mut().zip(options).enumerate() {
        (queue.weight, queue.max_running) = (u64::from(class.weight), class.max_running);
        if took[i] > 0 {
            queue.jobs.extend((0..jobs).map(|_| nothing()));
        }
    }
    for _ in 0..jobs {
        let (class, _) = state.next(Group::All).unwrap();
        let expected = state.start(class);
        state.end(class, expected, Duration::from_nanos(took[class]));
        spent[class] += took[class];
    }
    spent
}

#[test]
fn thread_time_is_shared_by_weight_whatever_the_size_of_the_jobs() {
    let mut options = [ANY; CLASSES];
    options[Class::Write as usize].weight = 3;
    let spent = play(options, [1_000, 0, 10_000, 50_000, 0, 0, 0, 0, 0], 100_000);
    let [read, _, write, priority, ..] = spent.map(|ns| ns as f64);
    for (what, ratio, wanted) in [("priority", priority / read, 1.0), ("write", write / read, 3.0)] {
        assert!((ratio / wanted - 1.0).abs() < 0.01, "{what}: {ratio} in {spent:?}");
    }
}

#[test]
fn an_idle_class_saves_up_nothing() {
    let mut state = State::default();
    for queue in &mut state.queues {
        (queue.weight, queue.max_running, queue.clock) = (1, 1, 0);
    }
    let mut now = |class: Class| {
        state.queues[class as usize].enter(state.present);
        state.queues[class as usize].jobs.push_back(nothing());
        let (served, _) = state.next(Group::All).unwrap();
        let expected = state.start(served);
        state.end(served, expected, Duration::from_micros(100));
    };
    (0..50).for_each(|_| now(Class::Read));
    now(Class::Write);
    let [read, write] = [Class::Read, Class::Write].map(|class| state.queues[class as usize].clock);
    assert!(write + 300_000 > read, "write at {write}, read at {read}");
}
