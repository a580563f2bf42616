//! Numbers as people read them: three digits and a unit.

use crate::beside::Work;

/// `1.23 M`, `45.6 K`, `789`, `0.12`.
pub fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 999_500_000.0 => three(value / 1e9) + " G",
        v if v >= 999_500.0 => three(value / 1e6) + " M",
        v if v >= 999.5 => three(value / 1e3) + " K",
        _ => three(value),
    }
}

/// Of microseconds: `890 ns`, `12.3 µs`, `4.56 ms`, `7.89 s`.
pub fn time(us: f64) -> String {
    match us.abs() {
        v if v >= 999_500.0 => three(us / 1e6) + " s",
        v if v >= 999.5 => three(us / 1e3) + " ms",
        v if v >= 0.9995 => three(us) + " µs",
        _ => three(us * 1e3) + " ns",
    }
}

/// Three digits; three behind the point of what is below 1.
pub fn three(value: f64) -> String {
    let digits = match value.abs() {
        0.0 => 0,
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

/// The same text without zeros at the end of its fraction: `20.0 K` is `20 K`.
pub fn trimmed(text: &str) -> String {
    let (number, unit) = text.split_once(' ').map_or((text, None), |(number, unit)| (number, Some(unit)));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    unit.map_or_else(|| number.to_owned(), |unit| format!("{number} {unit}"))
}

/// A share of something, in which thousandths matter.
pub fn share(value: f64) -> String {
    format!("{value:.3}")
}

/// A number that may be unknown.
pub fn or_dash(value: Option<f64>, write: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), write)
}

pub fn work(work: &Work) -> String {
    match work {
        Work::Scan { at_once, returns, rows_per_s } => {
            let scans = if *at_once == 1 { "a scan".to_owned() } else { format!("{at_once} scans") };
            format!("{scans}, {} rows/s{}", short(*rows_per_s), if *returns { " returned" } else { "" })
        }
        Work::Compaction { outlasted: true } => "a compaction".to_owned(),
        Work::Compaction { outlasted: false } => "a compaction that ended before".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        let cases = [
            (0.0, "0"),
            (0.1234, "0.123"),
            (0.9996, "1.00"),
            (7.0, "7.00"),
            (9.996, "10.0"),
            (99.96, "100"),
            (999.6, "1.00 K"),
            (45_678.0, "45.7 K"),
            (1_234_567.0, "1.23 M"),
            (3e9, "3.00 G"),
        ];
        for (value, want) in cases {
            assert_eq!(short(value), want);
        }
        for (us, want) in [(0.0513, "51.3 ns"), (12.34, "12.3 µs"), (4_560.0, "4.56 ms"), (2e6, "2.00 s")] {
            assert_eq!(time(us), want);
        }
        for (text, want) in [("20.0 K", "20 K"), ("2.50 ms", "2.5 ms"), ("100", "100"), ("0.020", "0.02"), ("0", "0")] {
            assert_eq!(trimmed(text), want);
        }
        assert_eq!((or_dash(None, short), or_dash(Some(1.0), short)), ("–".into(), "1.00".into()));
    }
}
