//! Numbers and hashes as Java writes them: scripts read YCSB's output.

/// `Double.toString`: at least one digit behind the point; powers of ten beyond 10^7 and below 10^-3.
pub fn double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let size = value.abs();
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        let text = format!("{value}");
        return if text.contains('.') { text } else { text + ".0" };
    }
    let text = format!("{value:e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point}E{power}")
}

/// `DecimalFormat("#.##")`: two digits behind the point, without zeros at the end.
pub fn two_digits(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "NaN" } else { "∞" }.to_owned();
    }
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `String.hashCode` of bytes that are ASCII.
pub fn string_hash(text: &[u8]) -> i32 {
    text.iter().fold(0i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(*byte)))
}

/// The place of a key in a small `HashMap` of Java's: maps are iterated by it.
pub fn place_in_map(key: &str) -> u32 {
    let hash = string_hash(key.as_bytes()) as u32;
    (hash ^ (hash >> 16)) & 15
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_as_in_java() {
        for (value, want) in [
            (0.0, "0.0"),
            (1.0, "1.0"),
            (1234.5, "1234.5"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (1.25e7, "1.25E7"),
            (0.001, "0.001"),
            (0.000_25, "2.5E-4"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
        ] {
            assert_eq!(double(value), want);
        }
        for (value, want) in
            [(0.0, "0"), (0.5, "0.5"), (1234.0, "1234"), (1.239, "1.24"), (100.0, "100"), (f64::NAN, "NaN")]
        {
            assert_eq!(two_digits(value), want);
        }
    }

    #[test]
    fn hashes_are_java_s() {
        assert_eq!(string_hash(b""), 0);
        assert_eq!(string_hash(b"hello"), 99_162_322);
        assert_eq!(string_hash(b"polygenelubricants"), i32::MIN);
        // As an output of YCSB has them: first READ, then CLEANUP, then UPDATE.
        let mut names = ["UPDATE", "CLEANUP", "READ"];
        names.sort_by_key(|name| place_in_map(name));
        assert_eq!(names, ["READ", "CLEANUP", "UPDATE"]);
    }
}
