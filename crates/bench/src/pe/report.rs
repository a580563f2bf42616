//! What is told: a line for each client's progress, to standard error, and the summary in HBase's words, to standard output.

use super::options::Options;
use crate::{Error, progress};
use hdrhistogram::Histogram;
use indicatif::ProgressBar;
use std::cell::Cell;
use std::time::Duration;

/// Latencies are kept in µs up to an hour.
const HIGHEST_US: u64 = 3_600_000_000;
/// How often the bar moves.
const BAR: Duration = Duration::from_millis(500);

/// Latencies with their deviation.
pub fn histogram() -> Result<Histogram<u64>, Error> {
    Histogram::new_with_bounds(1, HIGHEST_US, 3).map_err(|e| Error::Setup(e.to_string()))
}

/// What one client found.
#[derive(Debug)]
pub struct Finished {
    pub took: Duration,
    pub latencies_us: Histogram<u64>,
    pub over_threshold: u64,
    pub stale: u64,
}

/// A line as HBase's logger writes it.
fn line(thread: &str, text: &str) -> String {
    let time = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S,%3f");
    format!("{time} INFO  [{thread}] hbase.PerformanceEvaluation: {text}")
}

/// Progress, to standard error.
pub fn log(thread: &str, text: &str) {
    eprintln!("{}", line(thread, text));
}

/// How far all clients are: their lines, and on a terminal a bar below them.
pub struct Watch {
    bar: ProgressBar,
    rows: Cell<u64>,
}

impl Watch {
    pub fn new(options: &Options) -> Watch {
        let rows = options.clients as u64 * options.cycles * options.rows.div_ceil(options.every());
        Watch { bar: progress::of_work(Some(rows)), rows: Cell::new(0) }
    }

    /// A client has one row more behind it.
    pub fn row(&self) {
        self.rows.set(self.rows.get() + 1);
    }

    pub fn log(&self, thread: &str, text: &str) {
        if self.bar.is_hidden() {
            log(thread, text);
        } else {
            self.bar.println(line(thread, text));
        }
    }

    /// Moves the bar; never ends.
    pub async fn show(&self) -> ! {
        loop {
            self.bar.set_position(self.rows.get());
            tokio::time::sleep(BAR).await;
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn tell(text: &str) {
    println!("{}", line("main", text));
}

/// `mean=…, min=…, max=…, stdDev=…, 95th=…, 99th=…`
pub fn short(h: &Histogram<u64>) -> String {
    let at = |percent: f64| h.value_at_quantile(percent / 100.0);
    format!(
        "mean={:.2}, min={}.00, max={}.00, stdDev={:.2}, 95th={}.00, 99th={}.00",
        h.mean(),
        h.min(),
        h.max(),
        h.stdev(),
        at(95.0),
        at(99.0)
    )
}

/// The same with all percentiles.
pub fn whole(h: &Histogram<u64>) -> String {
    let percentiles = [("50th", 50.0), ("75th", 75.0), ("95th", 95.0), ("99th", 99.0), ("99.9th", 99.9)];
    let more = [("99.99th", 99.99), ("99.999th", 99.999)];
    let told = percentiles.iter().chain(&more).map(|(name, p)| format!("{name}={}.00", h.value_at_quantile(p / 100.0)));
    let told: Vec<String> = told.collect();
    format!(
        "mean={:.2}, min={}.00, max={}.00, stdDev={:.2}, {}",
        h.mean(),
        h.min(),
        h.max(),
        h.stdev(),
        told.join(", ")
    )
}

/// `12.34 MB/s`; digits behind the point only where there are any.
pub fn megabytes_per_second(bytes: f64, took: Duration) -> String {
    let rate = bytes / (took.as_millis().max(1) as f64 / 1000.0) / f64::from(1 << 20);
    format!("{} MB/s", crate::ycsb::two_digits(rate))
}

/// A client's own lines, when it has ended.
pub fn client(options: &Options, watch: &Watch, index: usize, start: u64, finished: &Finished) {
    let thread = format!("TestClient-{index}");
    let (name, h, ms) = (options.command.test_name(), &finished.latencies_us, finished.took.as_millis());
    watch.log(&thread, &format!("Test : {name}, Thread : {thread}"));
    watch.log(&thread, &format!("Latency (us) : {}", whole(h)));
    watch.log(&thread, &format!("Num measures (latency) : {}", h.len()));
    let bytes = options.rows as f64 * options.sample_rate * options.row_bytes() as f64;
    let rate = megabytes_per_second(bytes, finished.took);
    watch.log(&thread, &format!("Finished {name} in {ms}ms at offset {start} for {} rows ({rate})", options.rows));
    if options.latency_threshold > 0 {
        let (most, over) = (options.latency_threshold, finished.over_threshold);
        watch.log(&thread, &format!("Number of replies over latency threshold {most}(ms) is {over}"));
    }
}

/// Of all clients together.
pub fn summary(options: &Options, finished: Vec<Finished>) {
    for text in summary_lines(options, finished) {
        tell(&text);
    }
}

fn summary_lines(options: &Options, finished: Vec<Finished>) -> Vec<String> {
    let name = options.command.test_name();
    let times: Vec<u128> = finished.iter().map(|client| client.took.as_millis()).collect();
    let clients = times.len().max(1);
    let (least, most) = (times.iter().min().copied().unwrap_or(0), times.iter().max().copied().unwrap_or(0));
    let average = times.iter().sum::<u128>() / clients as u128;
    let latency = finished.iter().map(|client| client.latencies_us.mean()).sum::<f64>() / clients as f64;
    let rate: f64 = times.iter().map(|ms| options.rows as f64 / (*ms).max(1) as f64 * 1000.0).sum();
    let mut lines = vec![
        format!("[{name}] Summary of timings (ms): {times:?}"),
        format!("[{name} duration ]\tMin: {least}ms\tMax: {most}ms\tAvg: {average}ms"),
        format!("[ Avg latency (us)]\t{}", latency.round()),
        format!("[ Avg TPS/QPS]\t{}\t row per second", rate.round()),
    ];
    let stale: u64 = finished.iter().map(|client| client.stale).sum();
    if options.replicas > 1 {
        lines.push(format!("[results from replica regions] {stale}"));
    }
    let all = finished.into_iter().map(|client| client.latencies_us).reduce(|mut all, more| {
        // Of the same bounds.
        let _ = all.add(more);
        all
    });
    if let Some(all) = all.filter(|all| !all.is_empty()) {
        lines.push(format!("[ Latency (us)]\t{}", whole(&all)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pe::options::tests::parse;

    #[test]
    fn summary_lines_are_hbase_s_and_percentiles_of_all() {
        let client = |ms: u64, us: u64| {
            let mut latencies_us = histogram().unwrap();
            latencies_us.record_n(us, 10).unwrap();
            Finished { took: Duration::from_millis(ms), latencies_us, over_threshold: 0, stale: 3 }
        };
        let options = parse("--rows=10000 --replicas=2 randomRead 2").unwrap();
        let lines = summary_lines(&options, vec![client(2000, 100), client(1000, 200)]);
        assert_eq!(
            lines[..5],
            [
                "[RandomReadTest] Summary of timings (ms): [2000, 1000]",
                "[RandomReadTest duration ]\tMin: 1000ms\tMax: 2000ms\tAvg: 1500ms",
                "[ Avg latency (us)]\t150",
                "[ Avg TPS/QPS]\t15000\t row per second",
                "[results from replica regions] 6",
            ]
        );
        assert!(
            lines[5].starts_with("[ Latency (us)]\tmean=150.00, min=100.00, max=200.00, stdDev=50.00, 50th=100.00")
        );
        assert!(lines[5].ends_with("99.9th=200.00, 99.99th=200.00, 99.999th=200.00"), "{}", lines[5]);
    }

    #[test]
    fn throughput_has_two_digits() {
        let told = |bytes: f64, ms: u64| megabytes_per_second(bytes, Duration::from_millis(ms));
        assert_eq!(
            [told(1048576.0, 1000), told(1572864.0, 1000), told(1e6, 3000)],
            ["1 MB/s", "1.5 MB/s", "0.32 MB/s"]
        );
    }
}
