//! How the calling thread stands to others of the machine. What the system does not grant is an error that changes nothing.
#![cfg_attr(
    target_os = "linux",
    allow(unsafe_code, reason = "the scheduler's system call takes a structure by address")
)]

use std::io;

/// Takes what others leave: it gets almost nothing while they want to run, and whoever wakes up runs at once in its place. (A
/// thread with `nice` 19 may first use up its slice, milliseconds.)
pub fn stand_back() -> io::Result<()> {
    imp::stand_back()
}

#[cfg(target_os = "linux")]
mod imp {
    use std::io;

    pub fn stand_back() -> io::Result<()> {
        let parameter = libc::sched_param { sched_priority: 0 };
        // SAFETY: the kernel reads a `sched_param` at the address, which lives until the call returns.
        let outcome = unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameter) };
        if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use std::io;

    pub fn stand_back() -> io::Result<()> {
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
            policy()
        });
        assert_eq!((behind.join().unwrap(), policy()), (libc::SCHED_IDLE, libc::SCHED_OTHER));
    }
}
