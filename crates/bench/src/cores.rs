//! [`Cores`]: server and load generator on cores of their own.
//!
//! On cores that both share, a run also measures whom the scheduler puts where: with as many busy threads as cores, who waits for
//! whom changes from run to run. Apart, each has its own, as on two machines.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::{Serialize, Serializer};
use std::fmt;
use std::io;
use std::str::FromStr;

/// `SERVER:CLIENT`, each a list such as `0-3,6`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cores {
    server: CpuSet,
    client: CpuSet,
}

impl FromStr for Cores {
    type Err = String;

    fn from_str(text: &str) -> Result<Cores, String> {
        let (server, client) = text.split_once(':').ok_or("expected SERVER:CLIENT, as in 0-3:4-7")?;
        let cores = Cores { server: list(server)?, client: list(client)? };
        match numbers(&cores.server).find(|core| cores.client.is_set(*core)) {
            Some(core) => Err(format!("core {core} is the server's and the client's")),
            None => Ok(cores),
        }
    }
}

fn list(text: &str) -> Result<CpuSet, String> {
    let number = |word: &str| {
        let parsed = word.parse::<usize>().ok().filter(|core| *core < CpuSet::MAX_CPU);
        parsed.ok_or_else(|| format!("{word:?} is no number of a core"))
    };
    let mut set = CpuSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if last < first {
            return Err(format!("{part:?} ends before it begins"));
        }
        (first..=last).for_each(|core| set.set(core));
    }
    Ok(set)
}

fn numbers(set: &CpuSet) -> impl Iterator<Item = usize> {
    (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core))
}

impl Cores {
    /// The calling thread, and those that it starts from now on, run on the client's cores.
    pub fn enter(self) -> io::Result<()> {
        Ok(sched_setaffinity(None, &self.client)?)
    }

    /// What `start` starts from the calling thread runs on the server's cores.
    pub fn start<T>(self, start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let before = sched_getaffinity(None)?;
        sched_setaffinity(None, &self.server)?;
        let started = start();
        sched_setaffinity(None, &before)?;
        started
    }
}

/// Starts a server's process, on its cores if it has some.
pub fn start<T>(cores: Option<Cores>, start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    match cores {
        Some(cores) => cores.start(start),
        None => start(),
    }
}

/// The server's cores, one by one: all that this process may use, if it has none of its own.
pub fn servers(cores: Option<Cores>) -> io::Result<Vec<usize>> {
    let set = match cores {
        Some(cores) => cores.server,
        None => sched_getaffinity(None)?,
    };
    Ok(numbers(&set).collect())
}

/// The calling thread runs on that core only.
pub fn stay(core: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}

/// Who runs where, as a part of a sentence.
pub fn who_has_which(cores: Option<&Cores>) -> String {
    match cores {
        Some(cores) => format!("the server has {}, the client {}", name(&cores.server), name(&cores.client)),
        None => "client and server share the machine".to_owned(),
    }
}

/// The same as a line of its own, if there is anything to tell.
pub fn note(cores: Option<&Cores>) -> String {
    cores.map_or_else(String::new, |cores| format!("Of the cores {}.\n", who_has_which(Some(cores))))
}

/// `core 0`, `cores 0, 1`
fn name(set: &CpuSet) -> String {
    let cores: Vec<String> = numbers(set).map(|core| core.to_string()).collect();
    format!("{} {}", if cores.len() == 1 { "core" } else { "cores" }, cores.join(", "))
}

impl fmt::Display for Cores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |set: &CpuSet| numbers(set).map(|core| core.to_string()).collect::<Vec<_>>().join(",");
        write!(f, "{}:{}", list(&self.server), list(&self.client))
    }
}

impl Serialize for Cores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores() {
        let parsed = |text: &str| text.parse::<Cores>().map(|cores| cores.to_string());
        assert_eq!(parsed("0:1"), Ok("0:1".to_owned()));
        assert_eq!(parsed("0-2,5:3-4"), Ok("0,1,2,5:3,4".to_owned()));
        let cores: Cores = "0-1:2".parse().unwrap();
        assert_eq!(who_has_which(Some(&cores)), "the server has cores 0, 1, the client core 2");
        for (wrong, why) in [
            ("", "expected SERVER:CLIENT, as in 0-3:4-7"),
            ("0", "expected SERVER:CLIENT, as in 0-3:4-7"),
            ("0:", "\"\" is no number of a core"),
            ("a:1", "\"a\" is no number of a core"),
            ("0:100000", "\"100000\" is no number of a core"),
            ("3-1:0", "\"3-1\" ends before it begins"),
            ("0-3:3", "core 3 is the server's and the client's"),
        ] {
            assert_eq!(parsed(wrong), Err(why.to_owned()), "{wrong}");
        }
    }

    #[test]
    fn a_process_runs_where_it_is_to() {
        let mine = sched_getaffinity(None).unwrap();
        let Some(core) = numbers(&mine).next() else { panic!("no core at all") };
        let mut server = CpuSet::new();
        server.set(core);
        let cores = Cores { server, client: mine };
        let seen = cores.start(|| std::fs::read_to_string("/proc/thread-self/status")).unwrap();
        let list = seen.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
        assert_eq!(list.trim(), core.to_string());
        assert_eq!(sched_getaffinity(None).unwrap(), mine, "the caller stays where it was");
        assert_eq!(servers(Some(cores)).unwrap(), [core]);
        assert!(servers(None).unwrap().contains(&core));
        let missing = cores.start(|| std::fs::File::open("/nowhere"));
        assert!(missing.is_err());
        assert_eq!(sched_getaffinity(None).unwrap(), mine);
    }
}
