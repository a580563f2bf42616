//! Ruby's `inspect`: a value as it would be typed. What the prompt shows behind `=>`.

use super::value::Value;

impl Value {
    pub fn inspect(&self) -> String {
        match self {
            Value::Nil => "nil".to_owned(),
            Value::Bool(b) => b.to_string(),
            Value::Integer(i) => i.to_string(),
            Value::Float(f) => float(*f),
            Value::Text(bytes) => quoted(bytes),
            Value::Symbol(name) => symbol(name),
            Value::Array(items) => {
                let items: Vec<String> = items.borrow().iter().map(Value::inspect).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Hash(pairs) => {
                let pairs: Vec<String> = pairs.borrow().iter().map(|(k, v)| pair(k, v)).collect();
                format!("{{{}}}", pairs.join(", "))
            }
            Value::Range(range) => {
                format!("{}{}{}", range.0.inspect(), if range.2 { "..." } else { ".." }, range.1.inspect())
            }
            Value::Pattern(pattern) => format!("/{}/{}", pattern.0, pattern.1),
            Value::Time(ns) => time(*ns),
            Value::Filter(filter) => format!("#<{}>", filter.name),
            Value::Comparator(comparator) => format!("#<{}>", comparator.name),
            Value::Error(raise) => format!("#<{}: {}>", raise.class, raise.message),
            Value::Opaque(text) => format!("#<{text}>"),
            Value::Table(_) | Value::Package(_) | Value::Class(_) => self.to_text(),
        }
    }
}

fn pair(key: &Value, value: &Value) -> String {
    match key {
        Value::Symbol(name) => match symbol(name).strip_prefix(":\"") {
            Some(rest) => format!("\"{rest}: {}", value.inspect()),
            None => format!(":{name}=>{}", value.inspect()),
        },
        key => format!("{}=>{}", key.inspect(), value.inspect()),
    }
}

/// Ruby's text of a float: always with a fraction; an exponent from 1e16 on and below 1e-4.
pub fn float(f: f64) -> String {
    if f.is_nan() {
        return "NaN".to_owned();
    }
    if f.is_infinite() {
        return if f > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let size = f.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let text = format!("{f:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = if digits.contains('.') { digits.to_owned() } else { format!("{digits}.0") };
        let (sign, exponent) = exponent.strip_prefix('-').map_or(("+", exponent), |rest| ("-", rest));
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    let text = f.to_string();
    if text.contains('.') { text } else { format!("{text}.0") }
}

fn time(ns: i128) -> String {
    let at = jiff::Timestamp::from_nanosecond(ns).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S %z").to_string()
}

fn symbol(name: &str) -> String {
    let mut chars = name.chars();
    let plain = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && name.trim_end_matches(['?', '!', '=']).chars().all(|c| c.is_alphanumeric() || c == '_');
    if plain { format!(":{name}") } else { format!(":{}", quoted(name.as_bytes())) }
}

/// A string in double quotes: what cannot be printed is escaped, as `\u` within UTF-8 and as `\x` outside of it.
pub fn quoted(bytes: &[u8]) -> String {
    let is_unicode = std::str::from_utf8(bytes).is_ok();
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        let mut chars = chunk.valid().chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '#' if matches!(chars.peek(), Some('{' | '$' | '@')) => out.push_str("\\#"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                '\u{7}' => out.push_str("\\a"),
                '\u{8}' => out.push_str("\\b"),
                '\u{b}' => out.push_str("\\v"),
                '\u{c}' => out.push_str("\\f"),
                '\u{1b}' => out.push_str("\\e"),
                c if c.is_control() && is_unicode => out.push_str(&format!("\\u{:04X}", c as u32)),
                c if c.is_control() => {
                    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                        out.push_str(&format!("\\x{byte:02X}"));
                    }
                }
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02X}"));
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_as_ruby_has_them() {
        for (value, want) in [
            (2.5, "2.5"),
            (3.0, "3.0"),
            (1e20, "1.0e+20"),
            (1.25e-7, "1.25e-07"),
            (0.0001, "0.0001"),
            (1e15, "1000000000000000.0"),
            (-0.5, "-0.5"),
            (f64::INFINITY, "Infinity"),
        ] {
            assert_eq!(float(value), want);
        }
    }

    #[test]
    fn strings_as_ruby_has_them() {
        assert_eq!(quoted(b"a\0b\xC3\xA9"), "\"a\\u0000bé\"");
        assert_eq!(quoted(b"\x80\x01\n"), "\"\\x80\\x01\\n\"");
        assert_eq!(quoted(b"say \"#{x}\" #1"), "\"say \\\"\\#{x}\\\" #1\"");
    }
}
