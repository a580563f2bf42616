//! Ruby's `format`: `"row%05d" % i`.

use super::inspect;
use super::value::{Raise, Value};

#[derive(Default)]
struct Directive {
    left: bool,
    zero: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

/// Widths beyond this are mistakes.
const MOST_WIDTH: usize = 1 << 16;

/// Writes values into a template.
pub fn sprintf(template: &[u8], values: &[Value]) -> Result<Vec<u8>, Raise> {
    let mut out = Vec::with_capacity(template.len() + 16);
    let mut values = values.iter();
    let mut rest = template.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut directive = Directive::default();
        let mut number = None;
        let mut in_precision = false;
        loop {
            let Some(next) = rest.next() else {
                return Err(Raise::argument("incomplete format specifier; use %% (double %) instead"));
            };
            match next {
                b'0'..=b'9' if next != b'0' || number.is_some() || in_precision => {
                    let digit = usize::from(next - b'0');
                    number = Some(number.unwrap_or(0) * 10 + digit).filter(|n| *n <= MOST_WIDTH);
                    if number.is_none() {
                        return Err(Raise::argument("width too big"));
                    }
                    if in_precision {
                        directive.precision = number;
                    } else {
                        directive.width = number.unwrap_or(0);
                    }
                }
                b'0' => directive.zero = true,
                b'-' => directive.left = true,
                b'+' => directive.plus = true,
                b' ' => directive.space = true,
                b'#' => directive.alternate = true,
                b'.' => {
                    in_precision = true;
                    number = None;
                    directive.precision = Some(0);
                }
                b'%' => {
                    out.push(b'%');
                    break;
                }
                kind => {
                    let value = values.next().ok_or_else(|| Raise::argument("too few arguments"))?;
                    write(&mut out, &directive, kind, value)?;
                    break;
                }
            }
        }
    }
    Ok(out)
}

fn write(out: &mut Vec<u8>, directive: &Directive, kind: u8, value: &Value) -> Result<(), Raise> {
    let (sign, body) = match kind {
        b's' | b'p' => {
            let mut text = if kind == b's' { value.to_bytes().to_vec() } else { value.inspect().into_bytes() };
            if let Some(most) = directive.precision {
                let text_ref = String::from_utf8_lossy(&text).into_owned();
                text = text_ref.chars().take(most).collect::<String>().into_bytes();
            }
            pad(out, directive, b"", &text, b' ');
            return Ok(());
        }
        b'c' => {
            let text = match value {
                Value::Integer(code) => {
                    u32::try_from(*code).ok().and_then(char::from_u32).map(String::from).unwrap_or_default()
                }
                other => other.to_text().chars().take(1).collect(),
            };
            pad(out, directive, b"", text.as_bytes(), b' ');
            return Ok(());
        }
        b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'b' => {
            let number = integer(value)?;
            let size = number.unsigned_abs();
            let prefix = if directive.alternate { prefix_of(kind) } else { "" };
            let digits = match kind {
                b'x' => format!("{size:x}"),
                b'X' => format!("{size:X}"),
                b'o' => format!("{size:o}"),
                b'b' => format!("{size:b}"),
                _ => size.to_string(),
            };
            let least = directive.precision.unwrap_or(0);
            (format!("{}{prefix}", sign_of(directive, number < 0)), format!("{digits:0>least$}"))
        }
        b'f' | b'e' | b'E' | b'g' | b'G' => {
            let number = float(value)?;
            let digits = directive.precision.unwrap_or(6);
            let body = match kind {
                b'f' => format!("{:.digits$}", number.abs()),
                b'e' | b'E' => exponent(number.abs(), digits),
                _ => inspect::float(number.abs()).trim_end_matches(".0").to_owned(),
            };
            (sign_of(directive, number < 0.0).to_owned(), body)
        }
        other => return Err(Raise::argument(format!("malformed format string - %{}", other as char))),
    };
    let fill = if directive.zero && !directive.left { b'0' } else { b' ' };
    pad(out, directive, sign.as_bytes(), body.as_bytes(), fill);
    Ok(())
}

fn prefix_of(kind: u8) -> &'static str {
    match kind {
        b'x' => "0x",
        b'X' => "0X",
        b'o' => "0",
        b'b' => "0b",
        _ => "",
    }
}

fn sign_of(directive: &Directive, negative: bool) -> &'static str {
    match (negative, directive.plus, directive.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        _ => "",
    }
}

fn exponent(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    format!("{mantissa}e{sign}{exponent:0>2}")
}

/// Zeros go between sign and digits, blanks before the sign.
fn pad(out: &mut Vec<u8>, directive: &Directive, sign: &[u8], body: &[u8], fill: u8) {
    let length = String::from_utf8_lossy(body).chars().count() + sign.len();
    let missing = directive.width.saturating_sub(length);
    let filling = std::iter::repeat_n(fill, missing);
    if directive.left {
        out.extend_from_slice(sign);
        out.extend_from_slice(body);
        out.extend(std::iter::repeat_n(b' ', missing));
    } else if fill == b'0' {
        out.extend_from_slice(sign);
        out.extend(filling);
        out.extend_from_slice(body);
    } else {
        out.extend(filling);
        out.extend_from_slice(sign);
        out.extend_from_slice(body);
    }
}

fn integer(value: &Value) -> Result<i64, Raise> {
    match value {
        Value::Integer(i) => Ok(*i),
        Value::Float(f) => Ok(f.floor() as i64),
        Value::Text(text) => std::str::from_utf8(text)
            .ok()
            .and_then(|t| t.trim().parse().ok())
            .ok_or_else(|| Raise::argument(format!("invalid value for Integer(): {}", value.inspect()))),
        Value::Nil => Err(Raise::of_type("can't convert nil into Integer")),
        other => Err(Raise::of_type(format!("can't convert {} into Integer", other.class()))),
    }
}

fn float(value: &Value) -> Result<f64, Raise> {
    match value {
        Value::Float(f) => Ok(*f),
        Value::Integer(i) => Ok(*i as f64),
        Value::Text(text) => std::str::from_utf8(text)
            .ok()
            .and_then(|t| t.trim().parse().ok())
            .ok_or_else(|| Raise::argument(format!("invalid value for Float(): {}", value.inspect()))),
        other => Err(Raise::of_type(format!("can't convert {} into Float", super::operators::implicit(other)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates() {
        let check = |template: &str, value: Value, want: &str| {
            let got = sprintf(template.as_bytes(), &[value]).unwrap();
            assert_eq!(String::from_utf8(got).unwrap(), want, "{template}");
        };
        check("row%05d", Value::Integer(42), "row00042");
        check("%-5d|", Value::Integer(42), "42   |");
        check("%+05d", Value::Integer(42), "+0042");
        check("%05d", Value::Integer(-42), "-0042");
        check("%x %%", Value::Integer(255), "ff %");
        check("%#X", Value::Integer(255), "0XFF");
        check("%08b", Value::Integer(5), "00000101");
        check("%.2f", Value::Float(1.005), "1.00");
        check("%8.3f|", Value::Float(1.5), "   1.500|");
        check("%e", Value::Float(12345.678), "1.234568e+04");
        check("%s", Value::Nil, "");
        check("%p", Value::Nil, "nil");
        check("%-6s|", Value::text("ab"), "ab    |");
        check("%.1s", Value::text("ab"), "a");
        assert_eq!(sprintf(b"%d", &[]).unwrap_err().message, "too few arguments");
        assert_eq!(sprintf(b"%d", &[Value::text("x")]).unwrap_err().message, "invalid value for Integer(): \"x\"");
    }
}
