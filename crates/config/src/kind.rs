//! The types that an option can have, and how their text is read.

/// A type of option.
pub trait Kind {
    type Value;
    const NAME: &'static str;
    fn parse(text: &str) -> Result<Self::Value, String>;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident -> $value:ty = $text:literal, $parse:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;
        impl Kind for $name {
            type Value = $value;
            const NAME: &'static str = $text;
            fn parse(text: &str) -> Result<$value, String> {
                let parse: fn(&str) -> Result<$value, String> = $parse;
                parse(text.trim())
            }
        }
    )*};
}

kinds! {
    /// true or false.
    Bool -> bool = "boolean", |t| match t.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err("expected true or false".into()),
    };
    /// A TCP port; −1, where HBase allows it for "none", is read as 0.
    Port -> u16 = "port", |t| if t == "-1" { Ok(0) } else { t.parse().map_err(|_| "expected a port, 0 to 65535".into()) };
    /// A whole number ≥ 0.
    Count -> u64 = "count", |t| whole(t)?.try_into().map_err(|_| "expected a whole number >= 0".into());
    /// A whole number.
    Signed -> i64 = "number", whole;
    /// Bytes; a plain number, or one with k, m, g or t (powers of 1024).
    Size -> u64 = "bytes", |t| scaled(t, &[("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30), ("t", 1 << 40)], "bytes");
    /// A time; a plain number of milliseconds, or one with ms, s, m, h or d.
    Millis -> u64 = "ms", |t| {
        scaled(t, &[("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)], "milliseconds")
    };
    /// A decimal fraction; Java's suffixes f and d are allowed.
    Decimal -> f64 = "decimal", |t| {
        let digits = t.trim_end_matches(['f', 'F', 'd', 'D']);
        digits.parse().ok().filter(|v: &f64| v.is_finite()).ok_or_else(|| "expected a decimal number".into())
    };
    /// Any text.
    Text -> String = "text", |t| Ok(t.to_string());
    /// Texts separated by commas.
    List -> Vec<String> = "list", |t| {
        Ok(t.split(',').map(str::trim).filter(|p| !p.is_empty()).map(str::to_string).collect())
    };
}

/// Decimal, or hexadecimal with 0x as Hadoop allows.
fn whole(text: &str) -> Result<i64, String> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => (hex, 16),
        None => (text, 10),
    };
    i64::from_str_radix(digits, radix).map_err(|_| "expected a whole number".into())
}

fn scaled(text: &str, units: &[(&str, u64)], what: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text[digits.len()..].to_ascii_lowercase();
    let bad = || format!("expected a number of {what}");
    let factor = match unit.as_str() {
        "" => 1,
        unit => units.iter().find(|(name, _)| *name == unit).ok_or_else(bad)?.1,
    };
    let number: u64 = digits.trim_end().parse().map_err(|_| bad())?;
    number.checked_mul(factor).ok_or_else(|| format!("too many {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_hadoop_reads_them() {
        assert_eq!(Bool::parse(" TRUE "), Ok(true));
        assert!(Bool::parse("yes").is_err());
        assert_eq!((Port::parse("16000"), Port::parse("-1")), (Ok(16000), Ok(0)));
        assert!(Port::parse("65536").is_err());
        assert_eq!((Signed::parse("-1"), Count::parse("0x10")), (Ok(-1), Ok(16)));
        assert!(Count::parse("-1").is_err());
        assert_eq!((Size::parse("128m"), Size::parse("9223372036854775807")), (Ok(134_217_728), Ok(i64::MAX as u64)));
        assert!(Size::parse("99999999999t").is_err() && Size::parse("m").is_err() && Size::parse("1x").is_err());
        assert_eq!((Millis::parse("3000"), Millis::parse("7d")), (Ok(3000), Ok(604_800_000)));
        assert_eq!(Decimal::parse("1.2F"), Ok(1.2));
        assert!(Decimal::parse("inf").is_err());
        assert_eq!(List::parse("a, b,,c"), Ok(vec!["a".into(), "b".into(), "c".into()]));
    }
}
