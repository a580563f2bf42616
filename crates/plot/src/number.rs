//! Numbers as people read them: three digits and a unit.

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

/// `98.7 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", three(share * 100.0))
}

/// `1.50 GiB`.
pub fn bytes(count: f64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut unit = 0;
    let mut count = count;
    while count >= 999.5 && unit + 1 < UNITS.len() {
        (count, unit) = (count / 1024.0, unit + 1);
    }
    if unit == 0 { format!("{count:.0} B") } else { format!("{} {}", three(count), UNITS[unit]) }
}

/// Of nanoseconds.
pub fn duration(ns: f64) -> String {
    if ns == 0.0 { "0".to_owned() } else { time(ns / 1e3) }
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
        let sizes = [0.0, 999.0, 1000.0, 1_536.0, 3e9, 1e20].map(bytes);
        assert_eq!(sizes, ["0 B", "999 B", "0.977 KiB", "1.50 KiB", "2.79 GiB", "88818 PiB"]);
        assert_eq!((duration(0.0), duration(1_500.0), percent(0.125)), ("0".into(), "1.50 µs".into(), "12.5 %".into()));
        assert_eq!((or_dash(None, short), or_dash(Some(1.0), short)), ("–".into(), "1.00".into()));
    }
}
