//! [`Sampler`]: looks at the server's counters every few seconds; what came of them since the last look goes into the plots.

use super::{Shown, TIMED_METHODS};
use crate::machine;
use martite_metrics::{CallSnapshot, Snapshot};
use martite_plot::{Timeline, Unit};
use martite_web::{History, STEP};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

#[derive(Default)]
pub struct Sampler(Mutex<State>);

#[derive(Default)]
struct State {
    history: History,
    last: Option<(Instant, Counters)>,
}

/// What only grows.
#[derive(Default)]
struct Counters {
    counts: BTreeMap<&'static str, u64>,
    times: BTreeMap<&'static str, Snapshot>,
}

impl Sampler {
    /// Both ports ask for it at the same time: the second one changes nothing.
    pub fn look(&self, shown: &Shown) {
        let now = Instant::now();
        let mut state = self.0.lock();
        if state.last.as_ref().is_some_and(|(last, _)| now.saturating_duration_since(*last) < STEP / 2) {
            return;
        }
        let counters = Counters::read(shown);
        let mut values = gauges(shown);
        if let Some((then, before)) = &state.last {
            counters.put_since(before, now.saturating_duration_since(*then), &mut values);
        }
        state.last = Some((now, counters));
        state.history.push(values);
    }

    /// The last value of a series.
    pub fn last(&self, series: &str) -> Option<f64> {
        self.0.lock().history.last(series)
    }

    /// Plots of requests and of how long they took.
    pub fn of_calls(&self) -> Vec<Timeline> {
        let of_each = |what: &str| TIMED_METHODS.iter().map(|method| (*method, format!("{what}.{method}"))).collect();
        let (requests, slowest): (Vec<_>, Vec<_>) = (of_each("requests"), of_each("p99"));
        let of_gets = ["p50", "p99", "p99.9"].map(|name| (name, format!("{name}.Get")));
        vec![
            self.plot("Calls a second", Unit::Count, &requests),
            self.plot("Time that 99 % of calls take at most", Unit::Nanoseconds, &slowest),
            self.plot("Time of Gets", Unit::Nanoseconds, &of_gets),
        ]
    }

    /// Plots of what the server has and uses.
    pub fn of_server(&self) -> Vec<Timeline> {
        let one = |series: &str, name| [(name, series.to_owned())];
        let memory = [("block cache", "memory.cache"), ("memstores", "memory.memstores"), ("other", "memory.other")];
        let memory = memory.map(|(name, series)| (name, series.to_owned()));
        let network = [("received", "bytes.received"), ("sent", "bytes.sent")].map(|(name, s)| (name, s.to_owned()));
        let written = [("log", "bytes.log"), ("flushes", "bytes.flushed"), ("compactions", "bytes.compacted")];
        vec![
            self.plot("Processors in use", Unit::Count, &one("cpu", "this process")),
            Timeline { stacked: true, ..self.plot("Memory", Unit::Bytes, &memory) },
            self.plot("Blocks that were in the cache", Unit::Share, &one("hits", "of those asked for")),
            self.plot("Network, bytes a second", Unit::Bytes, &network),
            self.plot("Written, bytes a second", Unit::Bytes, &written.map(|(name, s)| (name, s.to_owned()))),
            self.plot("Calls that wait for their limit", Unit::Count, &one("parked", "waiting")),
        ]
    }

    fn plot(&self, title: &str, unit: Unit, series: &[(&str, String)]) -> Timeline {
        let state = self.0.lock();
        let lines = series.iter().map(|(name, series)| state.history.line(series, *name)).collect();
        let (step_s, room) = (STEP.as_secs() as u32, state.history.room());
        Timeline { title: title.to_owned(), step_s, room, lines, unit, stacked: false }
    }
}

impl Counters {
    fn read(shown: &Shown) -> Counters {
        let mut counters = Counters::default();
        for (name, times) in shown.regionserver.times() {
            let CallSnapshot { total, .. } = times;
            counters.times.insert(name, total);
        }
        let counts = &mut counters.counts;
        for network in [shown.regionserver.counters(), shown.master_rpc.counters()] {
            *counts.entry("bytes.received").or_default() += network.received_bytes;
            *counts.entry("bytes.sent").or_default() += network.sent_bytes;
        }
        let context = &shown.regions.ctx;
        counts.insert("bytes.log", context.wal.stats().appended_bytes);
        for store in shown.regions.online.all().iter().flat_map(|region| region.stores()) {
            let of_store = store.1.counters();
            *counts.entry("bytes.flushed").or_default() += of_store.flushed_bytes;
            *counts.entry("bytes.compacted").or_default() += of_store.compacted_bytes;
        }
        let cache = context.stores.files.cache().stats();
        counts.insert("blocks.hit", cache.hits);
        counts.insert("blocks.missed", cache.misses);
        counts.insert("cpu_ns", machine::cpu_time().as_nanos() as u64);
        counters
    }

    /// What came since an earlier look: rates, and percentiles of what took its time then.
    fn put_since(&self, before: &Counters, elapsed: Duration, values: &mut BTreeMap<String, f64>) {
        let seconds = elapsed.as_secs_f64().max(1e-3);
        // A region that was closed takes its counts along.
        let since = |name: &str| {
            let of = |counters: &Counters| counters.counts.get(name).copied().unwrap_or(0);
            of(self).saturating_sub(of(before)) as f64
        };
        for name in self.counts.keys().filter(|name| name.starts_with("bytes.")) {
            values.insert((*name).to_owned(), since(name) / seconds);
        }
        values.insert("cpu".to_owned(), since("cpu_ns") / 1e9 / seconds);
        let (hit, missed) = (since("blocks.hit"), since("blocks.missed"));
        if hit + missed > 0.0 {
            values.insert("hits".to_owned(), hit / (hit + missed));
        }
        let nothing = Snapshot::default();
        let mut all = 0.0;
        for (name, times) in &self.times {
            let times = times.since(before.times.get(name).unwrap_or(&nothing));
            all += times.count() as f64 / seconds;
            values.insert(format!("requests.{name}"), times.count() as f64 / seconds);
            if times.count() > 0 {
                for (title, percent) in [("p50", 50.0), ("p99", 99.0), ("p99.9", 99.9)] {
                    values.insert(format!("{title}.{name}"), times.percentile_ns(percent) as f64);
                }
            }
        }
        values.insert("requests".to_owned(), all);
    }
}

fn gauges(shown: &Shown) -> BTreeMap<String, f64> {
    let context = &shown.regions.ctx;
    let (cache, memstores) = (context.stores.files.cache().usage_bytes(), context.memstore_size.load(Relaxed));
    let mut values = BTreeMap::from([
        ("memory.cache".to_owned(), cache as f64),
        ("memory.memstores".to_owned(), memstores as f64),
        ("parked".to_owned(), shown.regions.throttles.parked() as f64),
    ]);
    if let Some(resident) = machine::resident_bytes() {
        values.insert("memory".to_owned(), resident as f64);
        values.insert("memory.other".to_owned(), resident.saturating_sub(cache + memstores) as f64);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_metrics::Histogram;

    #[test]
    fn rates_and_percentiles_are_of_the_time_between_two_looks() {
        let times = Histogram::default();
        times.record_ns(9_000_000);
        let look = |hit, log, cpu_ns, times: &Histogram| Counters {
            counts: BTreeMap::from([("blocks.hit", hit), ("blocks.missed", 1), ("bytes.log", log), ("cpu_ns", cpu_ns)]),
            times: BTreeMap::from([("Get", times.snapshot())]),
        };
        let before = look(5, 900, 0, &times);
        times.record_ns(1_000);
        let after = look(8, 1_900, 3_000_000_000, &times);
        let mut values = BTreeMap::new();
        after.put_since(&before, Duration::from_secs(2), &mut values);
        let of = |name: &str| values.get(name).copied();
        assert_eq!((of("bytes.log"), of("cpu"), of("hits")), (Some(500.0), Some(1.5), Some(1.0)));
        assert_eq!((of("requests.Get"), of("requests")), (Some(0.5), Some(0.5)));
        assert!(of("p99.Get").is_some_and(|ns| ns < 1_100.0), "{values:?}");
        let mut idle = BTreeMap::new();
        after.put_since(&after, Duration::from_secs(2), &mut idle);
        assert_eq!((idle.get("hits"), idle.get("p99.Get"), idle.get("bytes.log")), (None, None, Some(&0.0)));
        let mut closed = BTreeMap::new();
        before.put_since(&after, Duration::from_secs(2), &mut closed);
        assert_eq!(closed.get("bytes.log"), Some(&0.0), "of a region that is closed nothing is known");
    }
}
