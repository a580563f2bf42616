//! Methods of values: those that all have here, the rest in a file for each kind of value.

mod hash;
mod list;
mod number;
mod text;
mod time;

use super::evaluate::{Host, Interpreter};
use super::java;
use super::node::Block;
use super::value::{Outcome, Raise, Value};
use fancy_regex::Regex;
use std::rc::Rc;

/// A string or a list that a script makes has an end.
pub const MOST_BYTES: usize = 1 << 30;
pub const MOST_ITEMS: usize = 1 << 26;

/// What a method gets: its receiver's kind is known where it is read.
pub(super) struct Asked<'a> {
    pub name: &'a str,
    pub arguments: Vec<Value>,
    pub block: Option<&'a Block>,
}

impl Asked<'_> {
    fn arity(&self, least: usize, most: usize) -> Result<(), Raise> {
        let given = self.arguments.len();
        if (least..=most).contains(&given) {
            return Ok(());
        }
        let expected = if least == most { least.to_string() } else { format!("{least}..{most}") };
        Err(Raise::arity(given, &expected))
    }
    fn first(&self) -> Result<&Value, Raise> {
        self.arguments.first().ok_or_else(|| Raise::arity(0, "1"))
    }
    fn integer(&self, index: usize, default: i64) -> Result<i64, Raise> {
        match self.arguments.get(index) {
            None => Ok(default),
            Some(Value::Integer(i)) => Ok(*i),
            Some(Value::Float(f)) => Ok(*f as i64),
            Some(other) => Err(Raise::of_type(format!(
                "no implicit conversion of {} into Integer",
                super::operators::implicit(other)
            ))),
        }
    }
    fn text(&self, index: usize, default: &str) -> Result<String, Raise> {
        match self.arguments.get(index) {
            None => Ok(default.to_owned()),
            Some(value @ Value::Text(_)) => Ok(value.to_text()),
            Some(other) => Err(Raise::of_type(format!(
                "no implicit conversion of {} into String",
                super::operators::implicit(other)
            ))),
        }
    }
    fn block(&self) -> Result<&Block, Raise> {
        self.block.ok_or_else(|| Raise::argument(format!("{}: no block given", self.name)))
    }
}

/// Calls a method: of the kind of value first, then those that all values have.
pub fn call<H: Host>(
    interpreter: &mut Interpreter<H>,
    object: &Value,
    name: &str,
    arguments: Vec<Value>,
    block: Option<&Block>,
) -> Outcome {
    let asked = Asked { name, arguments, block };
    let special = match object {
        Value::Integer(_) | Value::Float(_) => number::call(interpreter, object, &asked)?,
        Value::Text(bytes) => text::call(interpreter, bytes, &asked)?,
        Value::Symbol(symbol) => match name {
            "to_proc" => return Err(Raise::no_method(name, object).into()),
            "to_sym" => Some(object.clone()),
            _ => {
                let bytes = bytes::Bytes::copy_from_slice(symbol.as_bytes());
                let is_text = matches!(name, "length" | "size" | "upcase" | "downcase" | "start_with?" | "end_with?");
                if is_text { text::call(interpreter, &bytes, &asked)? } else { None }
            }
        },
        Value::Array(items) => list::call(interpreter, object, items, &asked)?,
        Value::Range(range) => match list::of_range(interpreter, range, &asked)? {
            Some(value) => Some(value),
            None => match elements(object).map(Value::array) {
                Ok(list @ Value::Array(_)) => {
                    let Value::Array(items) = &list else { return Ok(list) };
                    list::call(interpreter, &list, items, &asked)?
                }
                _ => None,
            },
        },
        Value::Hash(pairs) => hash::call(interpreter, object, pairs, &asked)?,
        Value::Time(ns) => time::call(*ns, &asked)?,
        Value::Class(class) if &**class == "Time" => time::of_class(&asked)?,
        Value::Class(_) | Value::Package(_) => java::call(object, &asked)?,
        Value::Error(raise) => match name {
            "message" => Some(Value::text(&raise.message)),
            "class" => Some(Value::Class(raise.class.as_str().into())),
            "backtrace" => Some(Value::array(Vec::new())),
            _ => None,
        },
        _ => None,
    };
    match special {
        Some(value) => Ok(value),
        None => common(interpreter, object, asked),
    }
}

/// Methods of every value.
fn common<H: Host>(interpreter: &mut Interpreter<H>, object: &Value, asked: Asked<'_>) -> Outcome {
    let is_operator = asked.name.chars().all(|c| !c.is_alphanumeric());
    if is_operator && asked.arguments.len() == 1 {
        return interpreter.binary(asked.name, object, asked.arguments.into_iter().next().unwrap_or(Value::Nil));
    }
    Ok(match asked.name {
        "nil?" => Value::Bool(object.is_nil()),
        "class" => Value::Class(object.class().into()),
        "inspect" => Value::text(object.inspect()),
        "to_s" | "to_string" | "toString" | "name" => Value::text(object.to_text()),
        "to_a" if object.is_nil() => Value::array(Vec::new()),
        "to_i" if object.is_nil() => Value::Integer(0),
        "is_a?" | "kind_of?" | "instance_of?" => match asked.first()? {
            Value::Class(class) => Value::Bool(is_a(object, class)),
            _ => return Err(Raise::of_type("class or module required").into()),
        },
        "equal?" | "eql?" => Value::Bool(object.equals(asked.first()?, true)),
        "freeze" | "dup" | "clone" | "itself" | "to_java" => object.clone(),
        "frozen?" => Value::Bool(true),
        "tap" => {
            interpreter.yield_to(asked.block()?, vec![object.clone()])?;
            object.clone()
        }
        "then" | "yield_self" => return interpreter.yield_to(asked.block()?, vec![object.clone()]),
        "hash" | "object_id" => Value::Integer(0),
        "respond_to?" => Value::Bool(false),
        "send" | "public_send" => {
            let mut arguments = asked.arguments;
            if arguments.is_empty() {
                return Err(Raise::argument("no method name given").into());
            }
            let name = arguments.remove(0).to_text();
            return interpreter.method(object, &name, arguments, asked.block);
        }
        name => return Err(Raise::no_method(name, object).into()),
    })
}

/// Whether a value is of a class of Ruby's.
pub fn is_a(value: &Value, class: &str) -> bool {
    class == value.class()
        || match class {
            "Object" | "BasicObject" | "Kernel" => true,
            "Numeric" | "Comparable" => matches!(value, Value::Integer(_) | Value::Float(_)),
            "Enumerable" => matches!(value, Value::Array(_) | Value::Hash(_) | Value::Range(_)),
            "StandardError" | "Exception" => matches!(value, Value::Error(_)),
            _ => false,
        }
}

/// A value as a list: an array's items, nothing for nil, else the value itself. What `*` and blocks do.
pub fn items(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items.borrow().clone(),
        Value::Nil => Vec::new(),
        Value::Range(_) => elements(value).unwrap_or_default(),
        other => vec![other.clone()],
    }
}

/// What `each` goes through.
pub fn elements(value: &Value) -> Result<Vec<Value>, Raise> {
    match value {
        Value::Array(items) => Ok(items.borrow().clone()),
        Value::Hash(pairs) => {
            Ok(pairs.borrow().iter().map(|(k, v)| Value::array(vec![k.clone(), v.clone()])).collect())
        }
        Value::Range(range) => match (&range.0, &range.1) {
            (Value::Integer(from), Value::Integer(to)) => {
                let to = if range.2 { to.saturating_sub(1) } else { *to };
                let length = usize::try_from(to.saturating_sub(*from).saturating_add(1)).unwrap_or(0);
                if length > MOST_ITEMS {
                    return Err(Raise::new("RangeError", format!("{} is too long to be a list", value.inspect())));
                }
                Ok((*from..=to).map(Value::Integer).collect())
            }
            (Value::Text(from), Value::Text(to)) => Ok(text::range(from, to, range.2)),
            _ => Err(Raise::of_type(format!("can't iterate from {}", range.0.class()))),
        },
        other => Err(Raise::no_method("each", other)),
    }
}

pub fn unique(values: Vec<Value>) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::with_capacity(values.len());
    for value in values {
        if !out.iter().any(|seen| seen.equals(&value, true)) {
            out.push(value);
        }
    }
    out
}

/// `join`: arrays within arrays, too.
pub fn joined(list: &Value, between: &[u8]) -> Vec<u8> {
    let Value::Array(items) = list else { return list.to_bytes().to_vec() };
    let parts: Vec<Vec<u8>> = items.borrow().iter().map(|item| joined(item, between)).collect();
    parts.join(between)
}

/// A pattern, ready to search with; a string searches for itself.
pub fn regex(pattern: &Value) -> Result<Regex, Raise> {
    let source = match pattern {
        Value::Pattern(pattern) => {
            let flags: String = pattern.1.chars().map(|c| if c == 'm' { 's' } else { c }).collect();
            // In Ruby, ^ and $ are the ends of lines.
            format!("(?m{flags}){}", pattern.0)
        }
        other => fancy_regex::escape(&other.to_text()).into_owned(),
    };
    let source = source.replace("\\h", "[0-9a-fA-F]").replace("\\Z", "\\z");
    Regex::new(&source).map_err(|error| Raise::new("RegexpError", error.to_string()))
}

/// Byte position and text of each group; None if the pattern is not in the text.
pub type Groups = Vec<Option<(usize, String)>>;

pub fn captures(pattern: &Value, text: &str) -> Result<Option<Groups>, Raise> {
    let found = regex(pattern)?.captures(text).map_err(|error| Raise::new("RegexpError", error.to_string()))?;
    Ok(found.map(|groups| groups.iter().map(|g| g.map(|g| (g.start(), g.as_str().to_owned()))).collect()))
}

/// Where an index from the end or the front points; None: outside.
fn position(index: i64, length: usize) -> Option<usize> {
    let index = if index < 0 { index + length as i64 } else { index };
    usize::try_from(index).ok()
}

/// Start and length that `[start, length]` or `[range]` mean; None: outside, which gives nil.
fn slice(arguments: &[Value], length: usize) -> Option<(usize, usize)> {
    let (start, count) = match arguments {
        [Value::Integer(start), Value::Integer(count)] => (position(*start, length)?, usize::try_from(*count).ok()?),
        [Value::Range(range)] => {
            let (Value::Integer(from), to) = (&range.0, &range.1) else { return None };
            let start = position(*from, length)?;
            let to = if let Value::Integer(to) = to { *to } else { -1 };
            let end = if to < 0 { to + length as i64 } else { to } + i64::from(!range.2);
            (start, usize::try_from(end - start as i64).unwrap_or(0))
        }
        _ => return None,
    };
    (start <= length).then(|| (start, count.min(length - start)))
}

/// A string for a Ruby value that is shared.
fn shared(text: &str) -> Rc<str> {
    text.into()
}
