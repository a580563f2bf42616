//! `[1].pack('q>')` and `"\x00…".unpack('q>')`: numbers as bytes, for rows and values that are not text.

use super::value::{Raise, Value};
use bytes::Bytes;

struct Directive {
    kind: u8,
    big_endian: bool,
    /// None: `*`.
    count: Option<usize>,
    is_counted: bool,
}

fn directives(template: &str) -> Result<Vec<Directive>, Raise> {
    let mut out = Vec::new();
    let mut rest = template.bytes().peekable();
    while let Some(kind) = rest.next() {
        if kind.is_ascii_whitespace() {
            continue;
        }
        let mut big_endian = matches!(kind, b'n' | b'N' | b'G' | b'g');
        while let Some(mark @ (b'>' | b'<' | b'!' | b'_')) = rest.peek().copied() {
            big_endian = big_endian || mark == b'>';
            rest.next();
        }
        let mut count = Some(1);
        let mut is_counted = false;
        if rest.next_if_eq(&b'*').is_some() {
            (count, is_counted) = (None, true);
        } else {
            let mut digits = String::new();
            while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
                digits.push(digit as char);
            }
            if !digits.is_empty() {
                let number = digits.parse().map_err(|_| Raise::new("RangeError", "pack length too big"))?;
                (count, is_counted) = (Some(number), true);
            }
        }
        if width(kind).is_none() && !matches!(kind, b'a' | b'A' | b'H' | b'B' | b'x' | b'G' | b'g' | b'D' | b'd') {
            return Err(Raise::argument(format!("unknown pack directive '{}'", kind as char)));
        }
        out.push(Directive { kind, big_endian, count, is_counted });
    }
    Ok(out)
}

/// Bytes of an integer.
fn width(kind: u8) -> Option<usize> {
    match kind {
        b'C' | b'c' => Some(1),
        b'S' | b's' | b'n' | b'v' => Some(2),
        b'L' | b'l' | b'N' | b'V' => Some(4),
        b'Q' | b'q' | b'J' | b'j' => Some(8),
        _ => None,
    }
}

pub fn pack(items: &[Value], template: &str) -> Result<Vec<u8>, Raise> {
    let mut out = Vec::new();
    let mut items = items.iter();
    for directive in directives(template)? {
        let few = || Raise::argument("too few arguments");
        if directive.kind == b'x' {
            out.extend(std::iter::repeat_n(0, directive.count.unwrap_or(0).min(super::methods::MOST_BYTES)));
        } else if matches!(directive.kind, b'a' | b'A' | b'H' | b'B') {
            let bytes = items.next().ok_or_else(few)?.to_bytes();
            pack_text(&mut out, &directive, &bytes)?;
        } else {
            let count = directive.count.unwrap_or(items.len());
            for _ in 0..count {
                pack_number(&mut out, &directive, items.next().ok_or_else(few)?)?;
            }
        }
    }
    Ok(out)
}

fn pack_text(out: &mut Vec<u8>, directive: &Directive, bytes: &[u8]) -> Result<(), Raise> {
    match directive.kind {
        b'H' => {
            for pair in bytes.chunks(2) {
                let text = String::from_utf8_lossy(pair);
                let byte = u8::from_str_radix(&text, 16)
                    .map_err(|_| Raise::argument(format!("{text:?} is no hexadecimal byte")))?;
                out.push(if pair.len() == 1 { byte << 4 } else { byte });
            }
        }
        b'B' => {
            for bits in bytes.chunks(8) {
                out.push((0..8).fold(0, |byte, i| (byte << 1) | u8::from(bits.get(i) == Some(&b'1'))));
            }
        }
        kind => {
            let length = if directive.is_counted { directive.count.unwrap_or(bytes.len()) } else { 1 };
            let length = length.min(super::methods::MOST_BYTES);
            let fill = if kind == b'a' { 0 } else { b' ' };
            out.extend((0..length).map(|i| bytes.get(i).copied().unwrap_or(fill)));
        }
    }
    Ok(())
}

fn pack_number(out: &mut Vec<u8>, directive: &Directive, value: &Value) -> Result<(), Raise> {
    if matches!(directive.kind, b'G' | b'D' | b'd' | b'g') {
        let number = match value {
            Value::Float(f) => *f,
            Value::Integer(i) => *i as f64,
            other => return Err(Raise::of_type(format!("can't convert {} into Float", other.class()))),
        };
        match directive.kind {
            b'G' => out.extend_from_slice(&number.to_be_bytes()),
            b'g' => out.extend_from_slice(&(number as f32).to_be_bytes()),
            _ => out.extend_from_slice(&number.to_le_bytes()),
        }
        return Ok(());
    }
    let Value::Integer(number) = value else {
        let of = super::operators::implicit(value);
        return Err(Raise::of_type(format!("no implicit conversion of {of} into Integer")));
    };
    let width = width(directive.kind).unwrap_or(8);
    if directive.big_endian {
        out.extend_from_slice(&number.to_be_bytes()[8 - width..]);
    } else {
        out.extend_from_slice(&number.to_le_bytes()[..width]);
    }
    Ok(())
}

pub fn unpack(bytes: &Bytes, template: &str) -> Result<Vec<Value>, Raise> {
    let mut out = Vec::new();
    let mut rest = &bytes[..];
    for directive in directives(template)? {
        if let Some(width) = width(directive.kind) {
            let count = directive.count.unwrap_or(rest.len() / width);
            for _ in 0..count.min(super::methods::MOST_ITEMS) {
                let Some((head, tail)) = rest.split_at_checked(width) else {
                    out.push(Value::Nil);
                    continue;
                };
                rest = tail;
                out.push(Value::Integer(number(&directive, head)));
            }
            continue;
        }
        let length = if directive.is_counted { directive.count.unwrap_or(usize::MAX) } else { 1 };
        let length = if directive.kind == b'H' { length.div_ceil(2) } else { length };
        let wanted = if matches!(directive.kind, b'G' | b'D' | b'd') { 8 } else { length };
        let (head, tail) = rest.split_at(wanted.min(rest.len()));
        rest = tail;
        match directive.kind {
            b'H' => out.push(Value::text(head.iter().map(|b| format!("{b:02x}")).collect::<String>())),
            b'A' => out.push(Value::text(head.trim_ascii_end())),
            b'G' | b'D' | b'd' => out.push(match <[u8; 8]>::try_from(head) {
                Ok(eight) if directive.kind == b'G' => Value::Float(f64::from_be_bytes(eight)),
                Ok(eight) => Value::Float(f64::from_le_bytes(eight)),
                Err(_) => Value::Nil,
            }),
            b'x' => {}
            _ => out.push(Value::text(head)),
        }
    }
    Ok(out)
}

fn number(directive: &Directive, bytes: &[u8]) -> i64 {
    let signed = matches!(directive.kind, b'c' | b's' | b'l' | b'q' | b'j');
    let fold = |number: u64, byte: &u8| (number << 8) | u64::from(*byte);
    let number = if directive.big_endian { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) };
    let shift = 64 - 8 * bytes.len() as u32;
    if signed { ((number << shift) as i64) >> shift } else { number as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_both_ways() {
        let packed = pack(&[Value::Integer(-2), Value::Integer(258), Value::text("ab")], "q>na3").unwrap();
        assert_eq!(packed, b"\xff\xff\xff\xff\xff\xff\xff\xfe\x01\x02ab\0");
        let values = unpack(&packed.into(), "q>na2").unwrap();
        assert_eq!(Value::array(values).inspect(), "[-2, 258, \"ab\"]");
        assert_eq!(pack(&[Value::text("0aff")], "H*").unwrap(), [10, 255]);
        assert_eq!(Value::array(unpack(&Bytes::from_static(&[10, 255]), "H*").unwrap()).inspect(), "[\"0aff\"]");
        assert_eq!(pack(&[], "N").unwrap_err().message, "too few arguments");
        assert_eq!(pack(&[Value::Nil], "Z").unwrap_err().message, "unknown pack directive 'Z'");
    }
}
