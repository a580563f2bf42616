//! The loop: take an input, change it, run the target, keep what is new; on a thread that is watched.
//!
//! ```text
//!  caller ── waits, reports, looks at the time of the current input ──┐ too long: hung
//!  worker ── pick ─▶ mutate ─▶ execute ─▶ new code reached? keep ─▶ … ┴─▶ the first failure, made smaller
//! ```
//! The worker's stack is as small as that of a server's thread: an input that recurses too deeply ends the process.
//! Against that, the current input can be written to a file before each execution.

use crate::Dice;
use crate::coverage::{self, Seen};
use crate::judge;
use crate::mutate::Mutator;
use crate::target::Target;
use std::io::{self, Seek, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// What tokio and `std` give to the threads of a server.
const STACK_BYTES: usize = 2 << 20;
/// Attempts to make a failing input smaller, and time for them.
const MOST_SMALLER: u32 = 20_000;
const SMALLER_TIME: Duration = Duration::from_secs(20);

/// How long and how to run.
#[derive(Debug, Clone)]
pub struct Options {
    pub seed: u64,
    /// Ends after so many executions (seeds included) or so long, whichever is first.
    pub executions: u64,
    pub time: Duration,
    /// An execution that works for longer hangs.
    pub hang: Duration,
    /// Inputs that reached new code are kept here, and taken up again.
    pub corpus: Option<PathBuf>,
    /// Holds the current input: what is left when the process dies.
    pub running: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        let (executions, time) = (u64::MAX, Duration::MAX);
        Options { seed: 1, executions, time, hang: Duration::from_secs(10), corpus: None, running: None }
    }
}

/// An input that the target does not bear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub what: String,
    pub input: Vec<u8>,
}

/// What was done so far.
#[derive(Debug, Default)]
pub struct Progress {
    pub executions: AtomicU64,
    /// Inputs that others are made of.
    pub corpus: AtomicU64,
    /// Edges of the control flow that were reached; 0 in a build that does not count them.
    pub edges: AtomicU64,
    /// The longest execution.
    pub slowest_us: AtomicU64,
    /// When the current execution began, in ms since the start, plus 1; 0 between executions.
    current_since_ms: AtomicU64,
    current: Mutex<Vec<u8>>,
}

/// Runs until the options end it or an input fails. `report` is called about once a second.
pub fn run(target: Target, options: &Options, report: &mut dyn FnMut(&Progress)) -> io::Result<Result<(), Failure>> {
    judge::note_panics();
    let progress = Arc::new(Progress::default());
    let started = Instant::now();
    let (done, result) = mpsc::channel();
    let mut worker = Worker::new(target, options.clone(), progress.clone(), started)?;
    std::thread::Builder::new().name(format!("fuzz-{}", target.name)).stack_size(STACK_BYTES).spawn(move || {
        let _ = done.send(worker.run());
    })?;
    let mut reported = Instant::now();
    let mut watch = Watch { hang: options.hang, since: 0, cpu: None };
    loop {
        match result.recv_timeout(Duration::from_millis(50)) {
            Ok(result) => return result,
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(io::Error::other("the worker is gone")),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        let since = progress.current_since_ms.load(Relaxed);
        let now_ms = started.elapsed().as_millis() as u64;
        if since > 0 && watch.hangs(since, Duration::from_millis(now_ms.saturating_sub(since - 1)), cpu_time()) {
            // The thread cannot be stopped: whoever called must end the process.
            let input = progress.current.lock().unwrap_or_else(|e| e.into_inner()).clone();
            return Ok(Err(Failure { what: format!("runs for more than {:?}", options.hang), input }));
        }
        if reported.elapsed() > Duration::from_secs(1) {
            reported = Instant::now();
            report(&progress);
        }
    }
}

/// On a machine with other work to do an execution may take long and do little: what counts is the process's own time
/// from then on, or very much time.
struct Watch {
    hang: Duration,
    /// The execution that was seen to take long, by its beginning.
    since: u64,
    /// The time of the process then.
    cpu: Option<Duration>,
}

/// Times `hang` that an execution may take without doing anything.
const MOST_WAITING: u32 = 30;

impl Watch {
    /// Whether the execution that began at `since` and has run for `elapsed` is never going to end.
    fn hangs(&mut self, since: u64, elapsed: Duration, cpu: Option<Duration>) -> bool {
        if elapsed <= self.hang {
            return false;
        }
        if self.since != since {
            (self.since, self.cpu) = (since, cpu);
        }
        let used = cpu.zip(self.cpu).map(|(now, then)| now.saturating_sub(then));
        used.is_none_or(|used| used > self.hang) || elapsed > self.hang * MOST_WAITING
    }
}

/// What this process has used of the processors; None where there is no `/proc`.
fn cpu_time() -> Option<Duration> {
    const TICK_MS: u64 = 10;
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // `pid (name) state …`: user and system time are words 14 and 15, and the name may hold anything.
    let mut words = text.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut ticks = || words.next()?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks()? + ticks()?) * TICK_MS))
}

struct Worker {
    target: Target,
    options: Options,
    progress: Arc<Progress>,
    started: Instant,
    corpus: Vec<Vec<u8>>,
    seen: Seen,
    running: Option<std::fs::File>,
}

impl Worker {
    fn new(target: Target, options: Options, progress: Arc<Progress>, started: Instant) -> io::Result<Worker> {
        let running = options.running.as_ref().map(std::fs::File::create).transpose()?;
        Ok(Worker { target, options, progress, started, corpus: Vec::new(), seen: Seen::default(), running })
    }

    fn run(&mut self) -> io::Result<Result<(), Failure>> {
        for seed in (self.target.seeds)().into_iter().chain(self.kept()?) {
            if let Err(failure) = self.execute(&seed)? {
                return Ok(Err(self.smaller(failure)));
            }
            self.seen.absorb();
            self.keep(seed);
        }
        let (form, max_len) = (self.target.form, self.target.max_len);
        let mutator = Mutator { form, max_len, words: (self.target.words)() };
        let mut dice = Dice::new(self.options.seed);
        while self.progress.executions.load(Relaxed) < self.options.executions
            && self.started.elapsed() < self.options.time
        {
            let (one, other) = (self.pick(&mut dice), self.pick(&mut dice));
            let input = mutator.mutate(&mut dice, one, other);
            if let Err(failure) = self.execute(&input)? {
                return Ok(Err(self.smaller(failure)));
            }
            if self.seen.absorb() {
                self.save(&input)?;
                self.keep(input);
                self.progress.edges.store(self.seen.edges() as u64, Relaxed);
            }
        }
        Ok(Ok(()))
    }

    /// An input of the corpus, young ones more often.
    fn pick(&self, dice: &mut Dice) -> &[u8] {
        let len = self.corpus.len();
        let at = if dice.one_in(2) { dice.below(len) } else { len.saturating_sub(1 + dice.below(len.div_ceil(8))) };
        self.corpus.get(at).map_or(&[], Vec::as_slice)
    }

    fn keep(&mut self, input: Vec<u8>) {
        self.corpus.push(input);
        self.progress.corpus.store(self.corpus.len() as u64, Relaxed);
    }

    /// What earlier runs kept.
    fn kept(&self) -> io::Result<Vec<Vec<u8>>> {
        let Some(dir) = &self.options.corpus else { return Ok(Vec::new()) };
        std::fs::create_dir_all(dir)?;
        let mut paths: Vec<_> = std::fs::read_dir(dir)?.map(|e| e.map(|e| e.path())).collect::<io::Result<_>>()?;
        paths.sort();
        paths.iter().map(std::fs::read).collect()
    }

    fn save(&self, input: &[u8]) -> io::Result<()> {
        let Some(dir) = &self.options.corpus else { return Ok(()) };
        std::fs::write(dir.join(name_of(input)), input)
    }

    fn execute(&mut self, input: &[u8]) -> io::Result<Result<(), Failure>> {
        if let Some(file) = &mut self.running {
            file.rewind()?;
            file.set_len(0)?;
            file.write_all(input)?;
        }
        let progress = &self.progress;
        {
            let mut current = progress.current.lock().unwrap_or_else(|e| e.into_inner());
            current.clear();
            current.extend_from_slice(input);
        }
        let began = Instant::now();
        progress.current_since_ms.store(self.started.elapsed().as_millis() as u64 + 1, Relaxed);
        let wrong = judge::execute(&self.target, input);
        progress.current_since_ms.store(0, Relaxed);
        progress.slowest_us.fetch_max(began.elapsed().as_micros() as u64, Relaxed);
        progress.executions.fetch_add(1, Relaxed);
        Ok(match wrong {
            Some(what) => Err(Failure { what, input: input.to_vec() }),
            None => Ok(()),
        })
    }

    /// Leaves out of a failing input what the failure does not need.
    fn smaller(&mut self, mut failure: Failure) -> Failure {
        let (mut attempts, began) = (0, Instant::now());
        let mut piece = failure.input.len() / 2;
        while piece > 0 {
            let mut at = 0;
            while at < failure.input.len() {
                if attempts == MOST_SMALLER || began.elapsed() > SMALLER_TIME {
                    return failure;
                }
                attempts += 1;
                let end = failure.input.len().min(at + piece);
                let shorter = [&failure.input[..at], &failure.input[end..]].concat();
                match self.execute(&shorter) {
                    Ok(Err(still)) => failure = still,
                    _ => at += piece,
                }
            }
            piece /= 2;
        }
        failure
    }
}

/// A file name for an input: 16 hex digits of its FNV-1a hash.
pub fn name_of(input: &[u8]) -> String {
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

/// Whether the build tells which code an input reached.
pub fn has_coverage() -> bool {
    coverage::is_on()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_hangs_when_it_works_for_too_long_or_waits_for_very_long() {
        let ms = Duration::from_millis;
        let mut watch = Watch { hang: ms(100), since: 0, cpu: None };
        assert!(!watch.hangs(1, ms(100), Some(ms(900))));
        assert!(!watch.hangs(1, ms(101), Some(ms(1000))));
        assert!(!watch.hangs(1, ms(900), Some(ms(1100))));
        assert!(watch.hangs(1, ms(900), Some(ms(1101))));
        // The next execution counts anew.
        assert!(!watch.hangs(2, ms(500), Some(ms(1101))));
        assert!(!watch.hangs(2, ms(3000), Some(ms(1101))));
        assert!(watch.hangs(2, ms(3001), Some(ms(1101))));
        assert!(watch.hangs(3, ms(101), None));
    }

    #[test]
    fn the_time_of_this_process_grows() {
        let Some(before) = cpu_time() else { return };
        let mut n = 0u64;
        while cpu_time().is_some_and(|now| now == before) {
            n = std::hint::black_box(n.wrapping_add(1));
        }
        assert!(cpu_time() > Some(before));
    }
}
