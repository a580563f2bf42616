//! Operators of two operands.

use super::evaluate::{Host, Interpreter};
use super::value::{Outcome, Raise, Value};
use super::{format, methods};
use std::cmp::Ordering;

pub fn binary(operator: &str, left: &Value, right: &Value) -> Result<Value, Raise> {
    match operator {
        "==" => Ok(Value::Bool(left.equals(right, false))),
        "!=" => Ok(Value::Bool(!left.equals(right, false))),
        "===" => case_equals(left, right).map(Value::Bool),
        "<=>" => Ok(left.compare(right).map_or(Value::Nil, |o| Value::Integer(o as i64))),
        "<" | "<=" | ">" | ">=" => compare(operator, left, right),
        "+" | "-" | "*" | "/" | "%" | "**" | "<<" | ">>" | "&" | "|" | "^" => arithmetic(operator, left, right),
        _ => Err(Raise::no_method(operator, left)),
    }
}

fn compare(operator: &str, left: &Value, right: &Value) -> Result<Value, Raise> {
    let order = left
        .compare(right)
        .ok_or_else(|| Raise::argument(format!("comparison of {} with {} failed", left.class(), described(right))))?;
    Ok(Value::Bool(match operator {
        "<" => order == Ordering::Less,
        "<=" => order != Ordering::Greater,
        ">" => order == Ordering::Greater,
        _ => order != Ordering::Less,
    }))
}

fn described(value: &Value) -> String {
    match value {
        Value::Nil | Value::Bool(_) | Value::Integer(_) | Value::Float(_) => value.inspect(),
        _ => value.class().to_owned(),
    }
}

fn arithmetic(operator: &str, left: &Value, right: &Value) -> Result<Value, Raise> {
    match (left, right) {
        (Value::Integer(a), Value::Integer(b)) => integers(operator, *a, *b),
        (Value::Float(a), Value::Float(b)) => floats(operator, *a, *b),
        (Value::Integer(a), Value::Float(b)) => floats(operator, *a as f64, *b),
        (Value::Float(a), Value::Integer(b)) => floats(operator, *a, *b as f64),
        (Value::Integer(_) | Value::Float(_), _) => {
            Err(Raise::of_type(format!("{} can't be coerced into {}", described(right), left.class())))
        }
        (Value::Text(a), _) => text(operator, a, left, right),
        (Value::Array(_), _) => lists(operator, left, right),
        (Value::Time(ns), _) => time(operator, *ns, left, right),
        _ => Err(Raise::no_method(operator, left)),
    }
}

fn integers(operator: &str, a: i64, b: i64) -> Result<Value, Raise> {
    let by_zero = || Raise::new("ZeroDivisionError", "divided by 0");
    let result = match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" | "%" if b == 0 => return Err(by_zero()),
        // Ruby rounds towards minus infinity.
        "/" => a.checked_div(b).map(|q| q - i64::from(a % b != 0 && (a < 0) != (b < 0))),
        "%" => a.checked_rem(b).map(|r| if r != 0 && (r < 0) != (b < 0) { r + b } else { r }),
        "**" if b < 0 => return Ok(Value::Float((a as f64).powf(b as f64))),
        "**" => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        "<<" => u32::try_from(b).ok().and_then(|b| a.checked_mul(1i64.checked_shl(b)?)),
        ">>" => Some(a >> b.clamp(0, 63)),
        "&" => Some(a & b),
        "|" => Some(a | b),
        _ => Some(a ^ b),
    };
    result.map(Value::Integer).ok_or_else(|| {
        Raise::new("RangeError", format!("{a} {operator} {b} is no integer of 64 bits; larger ones are not supported"))
    })
}

fn floats(operator: &str, a: f64, b: f64) -> Result<Value, Raise> {
    Ok(Value::Float(match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "%" => a - b * (a / b).floor(),
        "**" => a.powf(b),
        _ => return Err(Raise::no_method(operator, &Value::Float(a))),
    }))
}

fn text(operator: &str, a: &[u8], left: &Value, right: &Value) -> Result<Value, Raise> {
    match (operator, right) {
        ("+" | "<<", Value::Text(b)) => Ok(Value::text([a, b].concat())),
        ("+" | "<<", other) => {
            Err(Raise::of_type(format!("no implicit conversion of {} into String", implicit(other))))
        }
        ("*", Value::Integer(n)) => match usize::try_from(*n) {
            Ok(n) if a.len().saturating_mul(n) <= methods::MOST_BYTES => Ok(Value::text(a.repeat(n))),
            Ok(_) => Err(Raise::argument("argument too big")),
            Err(_) => Err(Raise::argument("negative argument")),
        },
        ("%", Value::Array(items)) => format::sprintf(a, &items.borrow()).map(Value::text),
        ("%", other) => format::sprintf(a, std::slice::from_ref(other)).map(Value::text),
        _ => Err(Raise::no_method(operator, left)),
    }
}

/// How Ruby names a value that is of the wrong type.
pub fn implicit(value: &Value) -> &str {
    match value {
        Value::Nil => "nil",
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        other => other.class(),
    }
}

fn lists(operator: &str, left: &Value, right: &Value) -> Result<Value, Raise> {
    let Value::Array(items) = left else { return Err(Raise::no_method(operator, left)) };
    match (operator, right) {
        ("<<", item) => {
            super::evaluate::shared(items).push(item.clone());
            Ok(left.clone())
        }
        ("+", Value::Array(other)) => Ok(Value::array([items.borrow().as_slice(), &other.borrow()].concat())),
        ("-", Value::Array(other)) => {
            let other = other.borrow();
            let kept = items.borrow().iter().filter(|i| !other.iter().any(|o| o.equals(i, true))).cloned().collect();
            Ok(Value::array(kept))
        }
        ("&", Value::Array(other)) => {
            let other = other.borrow();
            let kept: Vec<Value> =
                items.borrow().iter().filter(|i| other.iter().any(|o| o.equals(i, true))).cloned().collect();
            Ok(Value::array(methods::unique(kept)))
        }
        ("|", Value::Array(other)) => {
            Ok(Value::array(methods::unique([items.borrow().as_slice(), &other.borrow()].concat())))
        }
        ("*", Value::Integer(n)) => {
            let n = usize::try_from(*n).map_err(|_| Raise::argument("argument must be non-negative"))?;
            if items.borrow().len().saturating_mul(n) > methods::MOST_ITEMS {
                return Err(Raise::argument("argument too big"));
            }
            Ok(Value::array(std::iter::repeat_n(&*items.borrow(), n).flatten().cloned().collect()))
        }
        ("*", Value::Text(between)) => Ok(Value::text(methods::joined(left, between))),
        (_, other) => Err(Raise::of_type(format!("no implicit conversion of {} into Array", implicit(other)))),
    }
}

fn time(operator: &str, ns: i128, left: &Value, right: &Value) -> Result<Value, Raise> {
    let seconds = |value: f64| (value * 1e9) as i128;
    match (operator, right) {
        ("-", Value::Time(other)) => Ok(Value::Float((ns - other) as f64 / 1e9)),
        ("+", Value::Integer(s)) => Ok(Value::Time(ns + i128::from(*s) * 1_000_000_000)),
        ("-", Value::Integer(s)) => Ok(Value::Time(ns - i128::from(*s) * 1_000_000_000)),
        ("+", Value::Float(s)) => Ok(Value::Time(ns + seconds(*s))),
        ("-", Value::Float(s)) => Ok(Value::Time(ns - seconds(*s))),
        _ => Err(Raise::no_method(operator, left)),
    }
}

/// Ruby's `===`, what `when` asks.
pub fn case_equals(pattern: &Value, value: &Value) -> Result<bool, Raise> {
    match pattern {
        Value::Range(range) => {
            let from = range.0.compare(value);
            let to = value.compare(&range.1);
            let below = |order| order == Ordering::Less || (order == Ordering::Equal && !range.2);
            Ok(matches!(from, Some(Ordering::Less | Ordering::Equal)) && to.is_some_and(below))
        }
        Value::Pattern(_) => Ok(methods::regex(pattern)?.is_match(&value.to_text()).unwrap_or(false)),
        Value::Class(class) => Ok(methods::is_a(value, class)),
        other => Ok(other.equals(value, false)),
    }
}

/// `=~` and `!~`; the groups go to `$~`, `$1` and so on.
pub fn matches<H: Host>(interpreter: &mut Interpreter<H>, left: &Value, right: &Value, negated: bool) -> Outcome {
    let (pattern, text) = if matches!(left, Value::Pattern(_)) { (left, right) } else { (right, left) };
    if !matches!(pattern, Value::Pattern(_)) {
        return Err(Raise::of_type(format!("wrong argument type {} (expected Regexp)", implicit(pattern))).into());
    }
    if text.is_nil() {
        return Ok(if negated { Value::Bool(true) } else { Value::Nil });
    }
    let text = text.to_text();
    let found = methods::captures(pattern, &text)?;
    let start = found.as_ref().and_then(|groups| groups.first().cloned().flatten()).map(|(start, _)| start);
    for number in 1..=9 {
        let group = found.as_ref().and_then(|groups| groups.get(number).cloned().flatten());
        let value = group.map_or(Value::Nil, |(_, text)| Value::text(text));
        interpreter.globals.insert(format!("${number}"), value);
    }
    if negated {
        return Ok(Value::Bool(start.is_none()));
    }
    Ok(start.map_or(Value::Nil, |byte| Value::Integer(text[..byte].chars().count() as i64)))
}
