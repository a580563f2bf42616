//! [`IdleTime`]: how long processors had nothing to do, or only what has a lower priority.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// What Linux counts the time of processors in (USER_HZ).
const TICK: Duration = Duration::from_millis(10);
/// A line of `/proc/stat` about a processor is shorter.
const LINE: usize = 256;

/// Of the processors that the thread that opened it may use.
#[derive(Debug)]
pub struct IdleTime {
    stat: File,
    processors: Vec<usize>,
}

impl IdleTime {
    pub fn open() -> io::Result<IdleTime> {
        let idle = IdleTime { stat: File::open("/proc/stat")?, processors: crate::thread::processors()? };
        idle.read().map(|_| idle)
    }

    /// All together, since the machine began: its beginning is not known to a tick of 10 ms.
    pub fn read(&self) -> io::Result<Duration> {
        let lines = 2 + self.processors.last().copied().unwrap_or_default();
        let mut text = vec![0; lines * LINE];
        let len = self.stat.read_at(&mut text, 0)?;
        idle(&String::from_utf8_lossy(&text[..len]), &self.processors).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

/// `cpu3 USER NICE SYSTEM IDLE IOWAIT …`, in ticks. NICE is what threads of any `nice` above 0 used, whatever their policy. None: of none of the processors there is a line.
fn idle(stat: &str, processors: &[usize]) -> Option<Duration> {
    let of = |line: &str| {
        let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
        let processor = words.next()?.parse::<usize>().ok()?;
        let ticks = words.take(5).map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>()?;
        let [_, nice, _, idle, iowait] = ticks[..] else { return None };
        processors.contains(&processor).then_some(nice + idle + iowait)
    };
    let found: Vec<u64> = stat.lines().filter_map(of).collect();
    (!found.is_empty()).then(|| TICK * u32::try_from(found.iter().sum::<u64>()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_idle_or_nice_counts_of_the_processors_in_use() {
        let stat = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 100 1 100 20 300 5 5 0 0 0\ncpu1 1 2 3 4 5 6\ncpu11 1 7 1 0 0 0 0\nintr 5 6\n";
        let ticks = |processors: &[usize]| idle(stat, processors).map(|time| time.as_millis() / 10);
        assert_eq!((ticks(&[0]), ticks(&[0, 1]), ticks(&[11])), (Some(321), Some(332), Some(7)));
        assert_eq!((ticks(&[]), ticks(&[5])), (None, None));
        assert_eq!(idle("cpu0 1 2 x", &[0]), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn it_grows_with_time_at_most_by_all_processors() {
        let (idle, began) = (IdleTime::open().unwrap(), std::time::Instant::now());
        let before = idle.read().unwrap();
        let grown = idle.read().unwrap().saturating_sub(before);
        let most = (began.elapsed() + TICK * 2) * idle.processors.len() as u32;
        assert!(grown <= most, "{grown:?} of {most:?}");
    }
}
