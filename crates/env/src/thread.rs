//! How the calling thread stands to others of the machine, and what it or a process has used. What the system does not grant
//! is an error that changes nothing.
#![allow(unsafe_code, reason = "the scheduler's system calls take structures by address")]

use std::io;
use std::time::Duration;

/// Takes what others leave: it gets almost nothing while they want to run, and whoever wakes up runs at once in its place. (A
/// thread with `nice` 19 alone may first use up its slice, milliseconds.) What it uses counts as idle ([`crate::idle`]). Disks serve it
/// as they serve others: it may be in the way of those while it waits.
pub fn stand_back() -> io::Result<()> {
    imp::stand_back()
}

/// Asks for the processor in short slices, and soon: when it wakes up, a thread with a longer slice makes way at once, if this one
/// has not had more than its share, instead of running its slice of a few milliseconds to its end. The share stays what it
/// is. For threads that do little at a time and that others wait for. Linux before 6.12 takes the wish and ignores it.
pub fn be_prompt() -> io::Result<()> {
    imp::ask_for_slices(SHORTEST_SLICE)
}

/// Asks for the processor in slices of such a length.
pub fn ask_for_slices(length: Duration) -> io::Result<()> {
    imp::ask_for_slices(length)
}

/// The shortest that Linux grants.
const SHORTEST_SLICE: Duration = Duration::from_micros(100);

/// The processor's time that the calling thread has had.
pub fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system writes a `timespec` at the address, which lives until the call returns. Should it know no such clock,
    // no time has been used.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// The processor's time that all threads of a process have had, those that ended too.
pub fn cpu_time_of(pid: u32) -> io::Result<Duration> {
    imp::cpu_time_of(i32::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?)
}

/// Numbers of the processors that the calling thread may use, the least first.
pub fn processors() -> io::Result<Vec<usize>> {
    imp::processors()
}

/// Where the calling thread is.
pub fn processor() -> Option<usize> {
    imp::processor()
}

/// The calling thread goes to that processor, from where the system may move it on to those that it may use now.
pub fn go_to(processor: usize) -> io::Result<()> {
    imp::go_to(processor)
}

/// For how long the thread that opened it has waited for a processor while it wanted to run (Linux's `schedstat`).
#[derive(Debug)]
pub struct RunDelay(std::fs::File);

impl RunDelay {
    /// Of the calling thread.
    pub fn open() -> io::Result<RunDelay> {
        let delay = RunDelay(std::fs::File::open("/proc/thread-self/schedstat")?);
        delay.read().map(|_| delay)
    }

    /// Since the thread began.
    pub fn read(&self) -> io::Result<Duration> {
        let mut text = [0; 96];
        let len = std::os::unix::fs::FileExt::read_at(&self.0, &mut text, 0)?;
        // Its time on a processor, the wait, and how often it ran.
        let second = std::str::from_utf8(&text[..len]).ok().and_then(|text| text.split_ascii_whitespace().nth(1));
        second.and_then(|ns| ns.parse().ok()).map(Duration::from_nanos).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use std::io;
    use std::time::Duration;

    /// The greatest `nice`.
    const LEAST: i32 = 19;

    /// From linux/ioprio.h: the best-effort class, its middle, of a thread.
    pub const ORDINARY_IO: libc::c_int = 2 << 13 | 4;
    pub const IO_OF_THREAD: libc::c_int = 1;

    pub fn stand_back() -> io::Result<()> {
        // Otherwise it has the class that disks serve when nobody else wants anything of them: still so where the call is forbidden.
        // SAFETY: the call takes numbers only.
        let _ = unsafe { libc::syscall(libc::SYS_ioprio_set, IO_OF_THREAD, 0, ORDINARY_IO) };
        let parameter = libc::sched_param { sched_priority: 0 };
        // SAFETY: the kernel reads a `sched_param` at the address, which lives until the call returns.
        let outcome = unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameter) };
        if outcome != 0 {
            return Err(io::Error::last_os_error());
        }
        // Of a thread of that kind this changes nothing but where the system counts its time.
        Ok(rustix::process::setpriority_process(None, LEAST)?)
    }

    pub fn ask_for_slices(length: Duration) -> io::Result<()> {
        let mut attributes = attributes()?;
        attributes.sched_runtime = length.as_nanos() as u64;
        // SAFETY: the kernel reads as many bytes as the structure says it has, which lives until the call returns.
        let outcome = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
        if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    pub fn processors() -> io::Result<Vec<usize>> {
        let set = rustix::thread::sched_getaffinity(None)?;
        Ok((0..rustix::thread::CpuSet::MAX_CPU).filter(|number| set.is_set(*number)).collect())
    }

    pub fn processor() -> Option<usize> {
        Some(rustix::thread::sched_getcpu())
    }

    pub fn go_to(processor: usize) -> io::Result<()> {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

        let all = sched_getaffinity(None)?;
        if processor >= CpuSet::MAX_CPU || !all.is_set(processor) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut there = CpuSet::new();
        there.set(processor);
        sched_setaffinity(None, &there)?;
        Ok(sched_setaffinity(None, &all)?)
    }

    pub fn cpu_time_of(pid: libc::pid_t) -> io::Result<Duration> {
        let (mut clock, mut time) = (0, libc::timespec { tv_sec: 0, tv_nsec: 0 });
        // SAFETY: the system writes a `clockid_t` at the address, which lives until the call returns.
        let outcome = unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) };
        if outcome != 0 {
            return Err(io::Error::from_raw_os_error(outcome));
        }
        // SAFETY: the system writes a `timespec` at the address, which lives until the call returns.
        if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32))
    }

    /// Policy, nice value and slice of the calling thread.
    pub fn attributes() -> io::Result<libc::sched_attr> {
        let mut attributes = libc::sched_attr {
            size: size_of::<libc::sched_attr>() as u32,
            sched_policy: 0,
            sched_flags: 0,
            sched_nice: 0,
            sched_priority: 0,
            sched_runtime: 0,
            sched_deadline: 0,
            sched_period: 0,
        };
        // SAFETY: the kernel writes no more bytes than it is told to, into a structure that lives until the call returns.
        let outcome = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, attributes.size, 0) };
        if outcome == 0 { Ok(attributes) } else { Err(io::Error::last_os_error()) }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use std::io;
    use std::time::Duration;

    pub fn processors() -> io::Result<Vec<usize>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn processor() -> Option<usize> {
        None
    }

    pub fn go_to(_: usize) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn cpu_time_of(_: i32) -> io::Result<Duration> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn stand_back() -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn ask_for_slices(_: Duration) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    /// Of the calling thread: field 41 of its `stat`, which is behind the name in brackets.
    fn policy() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let after_name = stat.rsplit_once(") ").unwrap().1;
        after_name.split(' ').nth(41 - 3).unwrap().parse().unwrap()
    }

    #[test]
    fn a_thread_stands_back_alone() {
        let behind = std::thread::spawn(|| {
            stand_back().unwrap();
            // SAFETY: the call takes numbers only.
            let io = unsafe { libc::syscall(libc::SYS_ioprio_get, imp::IO_OF_THREAD, 0) };
            assert_eq!(io, i64::from(imp::ORDINARY_IO));
            (policy(), rustix::process::getpriority_process(None).unwrap())
        });
        assert_eq!((behind.join().unwrap(), policy()), ((libc::SCHED_IDLE, 19), libc::SCHED_OTHER));
    }

    #[test]
    fn a_thread_that_does_something_uses_time() {
        let (began, before) = (std::time::Instant::now(), cpu_time());
        while cpu_time() < before + Duration::from_millis(2) {}
        let used = cpu_time() - before;
        assert!(used <= began.elapsed() + Duration::from_millis(1), "{used:?}");
    }

    #[test]
    fn a_process_uses_what_its_threads_do() {
        let mine = || cpu_time_of(std::process::id()).unwrap();
        let (before, used) = (mine(), std::thread::spawn(a_thread_that_does_something_uses_time));
        used.join().unwrap();
        assert!(mine() >= before + Duration::from_millis(2));
        assert!(cpu_time_of(u32::MAX).is_err() && cpu_time_of(1 << 27).is_err());
    }

    #[test]
    fn a_thread_that_waits_for_a_processor_knows_for_how_long() {
        let delay = RunDelay::open().unwrap();
        let before = delay.read().unwrap();
        // More threads than processors that never sleep: each has to wait.
        let enough = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let count = std::thread::available_parallelism().map_or(1, usize::from);
            for _ in 0..2 * count {
                scope.spawn(|| {
                    while !enough.load(std::sync::atomic::Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            while delay.read().unwrap() == before {}
            enough.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert!(delay.read().unwrap() > before);
    }

    #[test]
    fn a_thread_goes_where_it_is_told_and_may_be_moved_on() {
        let all = processors().unwrap();
        for wanted in &all {
            // The system may move it on before it looks.
            while processor() != Some(*wanted) {
                go_to(*wanted).unwrap();
            }
        }
        assert_eq!(processors().unwrap(), all);
        let none = all.last().unwrap() + 1;
        assert!(go_to(none).is_err() && go_to(usize::MAX).is_err());
        assert_eq!(processors().unwrap(), all);
    }

    #[test]
    fn a_prompt_thread_keeps_all_but_its_slice() {
        let of_thread = || imp::attributes().map(|a| (a.sched_policy, a.sched_nice, a.sched_runtime)).unwrap();
        let (policy, nice, slice) = of_thread();
        let prompt = std::thread::spawn(move || {
            be_prompt().unwrap();
            of_thread()
        });
        let found = prompt.join().unwrap();
        assert_eq!((found.0, found.1), (policy, nice));
        // Systems that have no slices of threads say 0.
        assert!(found.2 == 100_000 || found.2 == slice, "{found:?}");
        assert_eq!(of_thread(), (policy, nice, slice));
    }
}
