//! Sizes and times as people write them, in HBase's forms: `1 DAY 2 HOURS`, `65536 B (64KB)`.

use crate::failure::{Failure, Run};
use crate::language::Value;

const TIMES: [(&str, i64); 4] = [("DAY", 86_400), ("HOUR", 3600), ("MINUTE", 60), ("SECOND", 1)];
const SIZES: [(&str, i64); 5] = [("TB", 1 << 40), ("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10), ("B", 1)];

/// A TTL in seconds.
pub fn time(seconds: i64) -> String {
    if seconds == i64::from(i32::MAX) {
        return "FOREVER".to_owned();
    }
    let plural = |n: i64| if n == 1 { "" } else { "S" };
    if seconds < 60 {
        return format!("{seconds} SECOND{}", plural(seconds));
    }
    let mut rest = seconds;
    let mut minutes = 0;
    let mut parts = Vec::new();
    for (word, unit) in TIMES {
        let count = rest / unit;
        rest %= unit;
        if word == "MINUTE" {
            minutes = count;
        }
        if count > 0 {
            // As HBase has it: seconds take the number of the minutes.
            let number = if word == "SECOND" { minutes } else { count };
            parts.push(format!("{count} {word}{}", plural(number)));
        }
    }
    format!("{seconds} SECONDS ({})", parts.join(" "))
}

pub fn size(bytes: i64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut rest = bytes;
    let mut parts = Vec::new();
    for (word, unit) in SIZES {
        if rest / unit > 0 {
            parts.push(format!("{}{word}", rest / unit));
        }
        rest %= unit;
    }
    format!("{bytes} B ({})", parts.join(" "))
}

/// Seconds of a number, `FOREVER`, `1 DAY 2 HOURS`; what is none of these is 0, as in HBase.
pub fn parse_time(value: &Value) -> Run<i64> {
    if value.to_text().eq_ignore_ascii_case("FOREVER") {
        return Ok(i64::from(i32::MAX));
    }
    parse(value, &TIMES, "Malformed TTL string: TTL values in seconds and human readableformat do not match")
}

/// Bytes of a number, `64KB`, `1 GB 512 MB`.
pub fn parse_size(value: &Value) -> Run<i64> {
    parse(value, &SIZES, "Malformed size string: values in byte and human readableformat do not match")
}

fn parse(value: &Value, units: &[(&str, i64)], mismatch: &str) -> Run<i64> {
    let text = match value {
        Value::Integer(number) => return Ok(*number),
        other => other.to_text(),
    };
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let upper = text.to_uppercase();
    // `93600 SECONDS (1 DAY 2 HOURS)`: the total, and the same in parts.
    let (total, parts) = match upper.split_once('(') {
        Some((total, parts)) => (Some(total), parts.trim_end().trim_end_matches(')')),
        None => (None, upper.as_str()),
    };
    let Some(sum) = sum(parts, units) else { return Ok(0) };
    if let Some(total) = total {
        let digits: String = total.chars().take_while(char::is_ascii_digit).collect();
        if digits.parse() != Ok(sum) {
            return Err(Failure::argument(mismatch));
        }
    }
    Ok(sum)
}

/// The sum of counts with units, largest first.
fn sum(text: &str, units: &[(&str, i64)]) -> Option<i64> {
    let mut rest = text.trim();
    let mut sum = 0i64;
    let mut units = units.iter();
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let count: i64 = rest[..digits].parse().ok()?;
        rest = rest[digits..].trim_start();
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let word = &rest[..letters];
        let fits = |name: &str| {
            word == name || word.strip_suffix('S') == Some(name) || (name.len() == 2 && word == &name[..1])
        };
        let (_, unit) = units.find(|(name, _)| fits(name))?;
        sum = sum.checked_add(count.checked_mul(*unit)?)?;
        rest = rest[letters..].trim_start();
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_both_ways() {
        assert_eq!(time(i64::from(i32::MAX)), "FOREVER");
        assert_eq!(time(1), "1 SECOND");
        assert_eq!(time(93_600), "93600 SECONDS (1 DAY 2 HOURS)");
        assert_eq!(time(61), "61 SECONDS (1 MINUTE 1 SECOND)");
        assert_eq!(time(121), "121 SECONDS (2 MINUTES 1 SECONDS)");
        assert_eq!(size(65536), "65536 B (64KB)");
        assert_eq!(size(100), "100 B");
        assert_eq!(size((1 << 30) + 1), "1073741825 B (1GB 1B)");
        let of = |text: &str| (parse_time(&Value::text(text)).unwrap(), parse_size(&Value::text(text)).unwrap());
        assert_eq!(of("1 DAY 2 hours").0, 93_600);
        assert_eq!(of("93600 SECONDS (1 DAY 2 HOURS)").0, 93_600);
        assert_eq!(of("abc").0, 0);
        assert_eq!(of("64KB").1, 65536);
        assert_eq!(of("1 GB 512 M").1, (1 << 30) + (512 << 20));
        assert_eq!(of("65536 B (64KB)").1, 65536);
        assert!(parse_time(&Value::text("5 SECONDS (1 DAY)")).is_err());
    }
}
