//! Methods of strings. Positions count characters, as in Ruby; bytes that are no UTF-8 count one each.

use super::{Asked, MOST_BYTES, captures, position, regex, slice};
use crate::language::evaluate::{Host, Interpreter};
use crate::language::value::{Outcome, Raise, Value};
use crate::language::{format, java, pack};
use bytes::Bytes;

pub fn call<H: Host>(interpreter: &mut Interpreter<H>, me: &Bytes, asked: &Asked<'_>) -> Outcome<Option<Value>> {
    if let Some(value) = of_bytes(me, asked)? {
        return Ok(Some(value));
    }
    if let Some(value) = questions(me, asked)? {
        return Ok(Some(value));
    }
    let lossy = String::from_utf8_lossy(me).into_owned();
    let text = lossy.as_str();
    Ok(Some(match asked.name {
        "upcase" => Value::text(text.to_uppercase()),
        "downcase" => Value::text(text.to_lowercase()),
        "capitalize" => {
            let mut chars = text.chars();
            let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
            Value::text(format!("{first}{}", chars.as_str().to_lowercase()))
        }
        "swapcase" => Value::text(
            text.chars()
                .map(|c| if c.is_uppercase() { c.to_lowercase().to_string() } else { c.to_uppercase().to_string() })
                .collect::<String>(),
        ),
        "split" => return split(me, text, asked).map(Some),
        "sub" | "gsub" => return substitute(interpreter, text, asked).map(Some),
        "scan" => return scan(text, asked).map(Some),
        "match" => match captures(asked.first()?, text)? {
            None => Value::Nil,
            Some(groups) => {
                Value::array(groups.into_iter().map(|g| g.map_or(Value::Nil, |(_, text)| Value::text(text))).collect())
            }
        },
        "tr" | "delete" => {
            asked.arity(1, 2)?;
            let from = expand(&asked.text(0, "")?);
            let to = expand(&asked.text(1, "")?);
            let replaced = text.chars().filter_map(|c| match from.iter().position(|f| *f == c) {
                None => Some(c),
                Some(_) if to.is_empty() => None,
                Some(i) => to.get(i).or(to.last()).copied(),
            });
            Value::text(replaced.collect::<String>())
        }
        "center" | "ljust" | "rjust" => return justify(text, asked).map(Some),
        "chars" => Value::texts(characters(me)),
        "lines" => Value::texts(text.split_inclusive('\n')),
        "each_char" | "each_line" => {
            let parts: Vec<Bytes> = if asked.name == "each_char" {
                characters(me)
            } else {
                text.split_inclusive('\n').map(|l| Bytes::copy_from_slice(l.as_bytes())).collect()
            };
            for part in parts {
                interpreter.yield_to(asked.block()?, vec![Value::Text(part)])?;
            }
            Value::Text(me.clone())
        }
        "upto" => {
            let to = asked.text(0, "")?;
            for item in range(me, to.as_bytes(), false) {
                interpreter.yield_to(asked.block()?, vec![item])?;
            }
            Value::Text(me.clone())
        }
        "to_sym" | "intern" => Value::Symbol(super::shared(text)),
        "encoding" => Value::text("UTF-8"),
        _ => return Ok(None),
    }))
}

/// What does not look at characters.
fn of_bytes(me: &Bytes, asked: &Asked<'_>) -> Result<Option<Value>, Raise> {
    Ok(Some(match asked.name {
        "to_s" | "to_str" | "to_java_bytes" | "b" | "force_encoding" | "encode" | "to_java_string"
        | "unicode_normalize" => Value::Text(me.clone()),
        "bytesize" => Value::Integer(me.len() as i64),
        "length" | "size" => Value::Integer(characters(me).len() as i64),
        "bytes" => Value::array(me.iter().map(|b| Value::Integer(i64::from(*b))).collect()),
        "getbyte" => position(asked.integer(0, 0)?, me.len())
            .and_then(|i| me.get(i))
            .map_or(Value::Nil, |b| Value::Integer(i64::from(*b))),
        "reverse" => {
            let mut parts = characters(me);
            parts.reverse();
            Value::text(parts.concat())
        }
        "strip" => Value::text(me.trim_ascii()),
        "lstrip" => Value::text(me.trim_ascii_start()),
        "rstrip" => Value::text(me.trim_ascii_end()),
        "chomp" => {
            let end = asked.text(0, "\n")?;
            let cut = me.strip_suffix(end.as_bytes()).unwrap_or(me);
            Value::text(if asked.arguments.is_empty() { cut.strip_suffix(b"\r").unwrap_or(cut) } else { cut })
        }
        "chop" => {
            let parts = characters(me);
            Value::text(parts[..parts.len().saturating_sub(1)].concat())
        }
        "succ" | "next" => Value::Text(successor(me)),
        "ord" => {
            let first = characters(me).first().cloned().ok_or_else(|| Raise::argument("empty string"))?;
            let code = std::str::from_utf8(&first)
                .ok()
                .and_then(|t| t.chars().next())
                .map_or(first.first().map_or(0, |b| u32::from(*b)), |c| c as u32);
            Value::Integer(i64::from(code))
        }
        "hex" => Value::Integer(
            i64::from_str_radix(String::from_utf8_lossy(me).trim().trim_start_matches("0x"), 16).unwrap_or(0),
        ),
        "to_i" => Value::Integer(leading_integer(me, asked.integer(0, 10)?)),
        "to_f" => Value::Float(leading_float(me)),
        "unpack" => Value::array(pack::unpack(me, &asked.text(0, "")?)?),
        "unpack1" => pack::unpack(me, &asked.text(0, "")?)?.into_iter().next().unwrap_or(Value::Nil),
        "concat" | "prepend" => {
            let other: Vec<u8> = asked.arguments.iter().flat_map(|a| a.to_bytes().to_vec()).collect();
            Value::text(if asked.name == "concat" { [me, &other[..]].concat() } else { [&other[..], me].concat() })
        }
        "[]" | "slice" => return index(me, asked).map(Some),
        "%" => Value::text(match asked.first()? {
            Value::Array(items) => format::sprintf(me, &items.borrow())?,
            other => format::sprintf(me, std::slice::from_ref(other))?,
        }),
        "getBytes" => Value::Text(me.clone()),
        "to_string_binary" => Value::text(java::to_string_binary(me)),
        _ => return Ok(None),
    }))
}

fn questions(me: &Bytes, asked: &Asked<'_>) -> Result<Option<Value>, Raise> {
    let any = |test: &dyn Fn(&[u8]) -> bool| Value::Bool(asked.arguments.iter().any(|a| test(&a.to_bytes())));
    Ok(Some(match asked.name {
        "empty?" => Value::Bool(me.is_empty()),
        "include?" => Value::Bool(find(me, asked.text(0, "")?.as_bytes()).is_some()),
        "start_with?" => any(&|prefix| me.starts_with(prefix)),
        "end_with?" => any(&|suffix| me.ends_with(suffix)),
        "match?" => Value::Bool(regex(asked.first()?)?.is_match(String::from_utf8_lossy(me).as_ref()).unwrap_or(false)),
        "index" => {
            let at = find(me, asked.text(0, "")?.as_bytes());
            at.map_or(Value::Nil, |at| Value::Integer(characters(&me.slice(..at)).len() as i64))
        }
        "count" => {
            let set = expand(&asked.text(0, "")?);
            Value::Integer(String::from_utf8_lossy(me).chars().filter(|c| set.contains(c)).count() as i64)
        }
        "casecmp" => {
            let other = asked.text(0, "")?.to_lowercase();
            Value::Integer(String::from_utf8_lossy(me).to_lowercase().cmp(&other) as i64)
        }
        "casecmp?" => Value::Bool(me.eq_ignore_ascii_case(asked.text(0, "")?.as_bytes())),
        "valid_encoding?" => Value::Bool(std::str::from_utf8(me).is_ok()),
        "ascii_only?" => Value::Bool(me.is_ascii()),
        _ => return Ok(None),
    }))
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    if what.is_empty() {
        return Some(0);
    }
    text.windows(what.len()).position(|window| window == what)
}

/// Characters, each as its bytes.
fn characters(bytes: &Bytes) -> Vec<Bytes> {
    let mut out = Vec::new();
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            out.push(bytes.slice(at..at + c.len_utf8()));
            at += c.len_utf8();
        }
        for _ in chunk.invalid() {
            out.push(bytes.slice(at..=at));
            at += 1;
        }
    }
    out
}

fn index(me: &Bytes, asked: &Asked<'_>) -> Result<Value, Raise> {
    asked.arity(1, 2)?;
    let parts = characters(me);
    match asked.arguments.as_slice() {
        [Value::Integer(i)] => {
            Ok(position(*i, parts.len()).and_then(|i| parts.get(i)).map_or(Value::Nil, |c| Value::Text(c.clone())))
        }
        [pattern @ Value::Pattern(_), rest @ ..] => {
            let group = if let [Value::Integer(g)] = rest { usize::try_from(*g).unwrap_or(0) } else { 0 };
            let found = captures(pattern, &String::from_utf8_lossy(me))?;
            let text = found.and_then(|groups| groups.into_iter().nth(group).flatten());
            Ok(text.map_or(Value::Nil, |(_, text)| Value::text(text)))
        }
        [Value::Text(part)] => Ok(find(me, part).map_or(Value::Nil, |_| Value::Text(part.clone()))),
        arguments => Ok(slice(arguments, parts.len())
            .map_or(Value::Nil, |(start, length)| Value::text(parts[start..start + length].concat()))),
    }
}

fn split(me: &Bytes, text: &str, asked: &Asked<'_>) -> Outcome {
    asked.arity(0, 2)?;
    let most = usize::try_from(asked.integer(1, 0)?).unwrap_or(0);
    let mut parts: Vec<String> = match asked.arguments.first() {
        None => text.split_ascii_whitespace().map(str::to_owned).collect(),
        Some(Value::Text(by)) if &by[..] == b" " => text.split_ascii_whitespace().map(str::to_owned).collect(),
        Some(Value::Text(by)) if by.is_empty() => return Ok(Value::texts(characters(me))),
        Some(Value::Text(by)) => {
            let by = String::from_utf8_lossy(by).into_owned();
            match most {
                0 => text.split(&by).map(str::to_owned).collect(),
                most => text.splitn(most, &by).map(str::to_owned).collect(),
            }
        }
        Some(pattern) => {
            let regex = regex(pattern)?;
            let mut parts = Vec::new();
            let mut start = 0;
            for found in regex.find_iter(text).flatten() {
                if most != 0 && parts.len() + 1 == most {
                    break;
                }
                parts.push(text[start..found.start()].to_owned());
                start = found.end();
            }
            parts.push(text[start..].to_owned());
            parts
        }
    };
    // Ruby drops empty parts at the end, unless their number was asked for.
    while most == 0 && parts.last().is_some_and(String::is_empty) {
        parts.pop();
    }
    Ok(Value::texts(parts))
}

fn substitute<H: Host>(interpreter: &mut Interpreter<H>, text: &str, asked: &Asked<'_>) -> Outcome {
    asked.arity(1, 2)?;
    let pattern = regex(asked.first()?)?;
    let mut out = String::new();
    let mut end = 0;
    for found in pattern.captures_iter(text).flatten() {
        let Some(whole) = found.get(0) else { continue };
        out.push_str(&text[end..whole.start()]);
        end = whole.end();
        match asked.arguments.get(1) {
            Some(Value::Hash(_)) => {
                let key = asked.arguments[1].entry(whole.as_str());
                out.push_str(&key.map(|v| v.to_text()).unwrap_or_default());
            }
            Some(with) => {
                let mut rest = with.to_text().chars().collect::<Vec<_>>().into_iter().peekable();
                while let Some(c) = rest.next() {
                    match (c, rest.peek().and_then(|c| c.to_digit(10))) {
                        ('\\', Some(group)) => {
                            rest.next();
                            out.push_str(found.get(group as usize).map_or("", |g| g.as_str()));
                        }
                        _ => out.push(c),
                    }
                }
            }
            None => {
                let value = interpreter.yield_to(asked.block()?, vec![Value::text(whole.as_str())])?;
                out.push_str(&value.to_text());
            }
        }
        if asked.name == "sub" {
            break;
        }
    }
    out.push_str(&text[end..]);
    Ok(Value::text(out))
}

fn scan(text: &str, asked: &Asked<'_>) -> Outcome {
    let pattern = regex(asked.first()?)?;
    let found = pattern.captures_iter(text).flatten().map(|groups| {
        let group = |i: usize| groups.get(i).map_or(Value::Nil, |g| Value::text(g.as_str()));
        match groups.len() {
            1 => group(0),
            n => Value::array((1..n).map(group).collect()),
        }
    });
    Ok(Value::array(found.collect()))
}

fn justify(text: &str, asked: &Asked<'_>) -> Outcome {
    asked.arity(1, 2)?;
    let width = usize::try_from(asked.integer(0, 0)?).unwrap_or(0);
    let fill: Vec<char> = asked.text(1, " ")?.chars().collect();
    if fill.is_empty() || width > MOST_BYTES {
        return Err(Raise::argument("zero width padding").into());
    }
    let missing = width.saturating_sub(text.chars().count());
    let (before, after) = match asked.name {
        "ljust" => (0, missing),
        "rjust" => (missing, 0),
        _ => (missing / 2, missing - missing / 2),
    };
    let padding = |n: usize| fill.iter().cycle().take(n).collect::<String>();
    Ok(Value::text(format!("{}{text}{}", padding(before), padding(after))))
}

/// `a-z` in `tr`.
fn expand(set: &str) -> Vec<char> {
    let chars: Vec<char> = set.chars().collect();
    let mut out = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        if chars.get(i + 1) == Some(&'-') && i + 2 < chars.len() {
            out.extend(chars[i]..=chars[i + 2]);
            i += 3;
        } else {
            out.push(chars[i]);
            i += 1;
        }
    }
    out
}

fn leading_integer(bytes: &[u8], radix: i64) -> i64 {
    let radix = u32::try_from(radix).ok().filter(|r| (2..=36).contains(r)).unwrap_or(10);
    let text = String::from_utf8_lossy(bytes).replace('_', "");
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    i64::from_str_radix(&digits[..end], radix).unwrap_or(0) * sign
}

fn leading_float(bytes: &[u8]) -> f64 {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let text = text.trim();
    let number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    let end = text.find(|c| !number(c)).unwrap_or(text.len());
    (0..=end).rev().find_map(|end| text.get(..end)?.parse().ok()).unwrap_or(0.0)
}

/// Ruby's `succ`: the rightmost letter or digit goes up, with carries.
fn successor(bytes: &[u8]) -> Bytes {
    let mut out = bytes.to_vec();
    let last = out.iter().rposition(u8::is_ascii_alphanumeric);
    let Some(mut at) = last else {
        for byte in out.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
        return out.into();
    };
    loop {
        let (next, first) = match out[at] {
            b'z' => (b'a', b'a'),
            b'Z' => (b'A', b'A'),
            b'9' => (b'0', b'1'),
            byte => {
                out[at] = byte + 1;
                return out.into();
            }
        };
        out[at] = next;
        if at > 0 && out[at - 1].is_ascii_alphanumeric() {
            at -= 1;
        } else {
            out.insert(at, first);
            return out.into();
        }
    }
}

/// `'a'..'e'`: successors until the end, or until they are longer.
pub fn range(from: &[u8], to: &[u8], excluded: bool) -> Vec<Value> {
    let mut out = Vec::new();
    let mut at = Bytes::copy_from_slice(from);
    while at.len() <= to.len() && out.len() < super::MOST_ITEMS {
        let is_last = &at[..] == to;
        if !(is_last && excluded) {
            out.push(Value::Text(at.clone()));
        }
        if is_last {
            break;
        }
        at = successor(&at);
    }
    if from.len() == to.len() && from > to { Vec::new() } else { out }
}
