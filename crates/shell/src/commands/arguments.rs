//! [`Arguments`] of a command, and [`Options`]: a hash among them, from which what is known is taken.

use crate::failure::{Failure, Run};
use crate::language::{Raise, Value};
use bytes::Bytes;

#[derive(Debug)]
pub struct Arguments(Vec<Value>);

impl Arguments {
    pub fn new(values: Vec<Value>) -> Arguments {
        Arguments(values)
    }
    pub fn len(&self) -> usize {
        self.0.len()
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// An argument that is there and is not nil.
    pub fn get(&self, index: usize) -> Option<&Value> {
        self.0.get(index).filter(|value| !value.is_nil())
    }
    pub fn values(&self) -> &[Value] {
        &self.0
    }
    /// An argument as text; the arity says that it is there.
    pub fn text(&self, index: usize) -> String {
        self.0.get(index).map(Value::to_text).unwrap_or_default()
    }
    /// An argument as bytes: a row, a column, a value.
    pub fn bytes(&self, index: usize) -> Bytes {
        self.0.get(index).map(Value::to_bytes).unwrap_or_default()
    }
    /// A text, or `default` where it is not given.
    pub fn text_or(&self, index: usize, default: &str) -> String {
        self.get(index).map_or_else(|| default.to_owned(), Value::to_text)
    }
    /// A string: HBase refuses other types for the names of tables and namespaces.
    pub fn string(&self, index: usize, what: &str) -> Run<String> {
        match self.0.get(index) {
            Some(value @ Value::Text(_)) => Ok(value.to_text()),
            _ => Err(Failure::argument(format!("{what} must be of type String"))),
        }
    }
    /// The rest of the arguments: arrays are taken apart, nil is left out.
    pub fn flattened(&self, from: usize) -> Vec<Value> {
        fn flatten(value: &Value, out: &mut Vec<Value>) {
            match value {
                Value::Array(items) => items.borrow().iter().for_each(|item| flatten(item, out)),
                Value::Nil => {}
                other => out.push(other.clone()),
            }
        }
        let mut out = Vec::new();
        self.0.iter().skip(from).for_each(|value| flatten(value, &mut out));
        out
    }
    /// The hash at a place; empty where there is none.
    pub fn options(&self, index: usize) -> Run<Options> {
        match self.get(index) {
            None => Ok(Options::default()),
            Some(value) => Options::of(value),
        }
    }
}

/// The pairs of a hash. Taking removes: what is left at the end is not known.
#[derive(Debug, Default, Clone)]
pub struct Options(Vec<(Value, Value)>);

impl Options {
    pub fn of(value: &Value) -> Run<Options> {
        match value {
            Value::Hash(pairs) => Ok(Options(pairs.borrow().clone())),
            other => Err(Failure::argument(format!("{} of {} is not of Hash type", other.class(), other.inspect()))),
        }
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(k, _)| is_key(k, key))
    }
    /// The value of a key, if it is there; it may be nil or false.
    pub fn take_any(&mut self, key: &str) -> Option<Value> {
        let at = self.0.iter().position(|(k, _)| is_key(k, key))?;
        Some(self.0.remove(at).1)
    }
    /// The value of a key, if it is neither nil nor false.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        self.take_any(key).filter(Value::is_true)
    }
    pub fn take_text(&mut self, key: &str) -> Option<String> {
        self.take(key).map(|value| value.to_text())
    }
    pub fn take_bytes(&mut self, key: &str) -> Option<Bytes> {
        self.take(key).map(|value| value.to_bytes())
    }
    /// As Java's Boolean.valueOf: true, or the text `true`.
    pub fn take_bool(&mut self, key: &str) -> Option<bool> {
        self.take_any(key).map(|value| is_java_true(&value))
    }
    pub fn take_integer(&mut self, key: &str) -> Run<Option<i64>> {
        self.take(key).map(|value| integer(key, &value)).transpose()
    }
    /// The strings of an array, or the one string.
    pub fn take_texts(&mut self, key: &str) -> Option<Vec<String>> {
        self.take(key).map(|value| texts(&value))
    }
    /// Keys that nobody took.
    pub fn keys(&self) -> Vec<String> {
        self.0.iter().map(|(key, _)| key.to_text()).collect()
    }
    pub fn pairs(&self) -> &[(Value, Value)] {
        &self.0
    }
}

fn is_key(value: &Value, key: &str) -> bool {
    matches!(value, Value::Text(text) if text == key)
}

/// Java's Boolean.valueOf.
pub fn is_java_true(value: &Value) -> bool {
    value.to_text().eq_ignore_ascii_case("true")
}

/// The strings of an array, or the one value as a string.
pub fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.borrow().iter().map(Value::to_text).collect(),
        other => vec![other.to_text()],
    }
}

/// An integer, or a text that is one.
pub fn integer(what: &str, value: &Value) -> Run<i64> {
    match value {
        Value::Integer(i) => Ok(*i),
        Value::Float(f) => Ok(*f as i64),
        other => other.to_text().trim().parse().map_err(|_| {
            Failure::Raise(Raise::argument(format!("{what} is {}, which is no integer", other.inspect())))
        }),
    }
}
