//! `martite stop`: ends the server that uses a data folder, and waits until it has let go of it.

use crate::{Failure, args, exit, lock};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::time::{Duration, Instant};

/// Longest wait: closing flushes every region.
const PATIENCE: Duration = Duration::from_secs(600);

pub fn run(args: &args::Stop) -> Result<(), Failure> {
    let Some(pid) = lock::holder(&args.data)? else {
        return Err(Failure::new(exit::FAILED, format!("no server is using {}", args.data.display())));
    };
    let Some(pid) = Pid::from_raw(pid) else {
        return Err(Failure::new(exit::FAILED, format!("{pid} is not a process id")));
    };
    kill_process(pid, Signal::TERM).map_err(|e| Failure::of("SIGTERM", e))?;
    let began = Instant::now();
    while test_kill_process(pid).is_ok() && lock::holder(&args.data)?.is_some() {
        if began.elapsed() > PATIENCE {
            return Err(Failure::new(exit::FAILED, format!("the server has not stopped after {PATIENCE:?}")));
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    Ok(())
}
