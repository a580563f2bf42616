//! [`Value`]: what an expression evaluates to; [`Flow`]: how one may end without a value.

use bytes::Bytes;
use martite_proto as pb;
use std::cell::RefCell;
use std::rc::Rc;

/// A value. Arrays and hashes are shared by those who hold them, as in Ruby; strings are bytes and do not change.
#[derive(Debug, Clone)]
pub enum Value {
    Nil,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(Bytes),
    Symbol(Rc<str>),
    Array(Rc<RefCell<Vec<Value>>>),
    Hash(Rc<RefCell<Pairs>>),
    /// From, to, whether the end is excluded.
    Range(Rc<(Value, Value, bool)>),
    /// A pattern's source and flags.
    Pattern(Rc<(String, String)>),
    /// Nanoseconds since 1970.
    Time(i128),
    /// A reference to a table.
    Table(Rc<str>),
    /// `org.apache…` up to a class.
    Package(Rc<str>),
    Class(Rc<str>),
    Filter(Rc<pb::Filter>),
    Comparator(Rc<pb::Comparator>),
    /// What a command returned that can only be looked at.
    Opaque(Rc<str>),
    /// What `rescue => e` holds.
    Error(Rc<Raise>),
}

/// A hash's pairs in the order of their coming.
pub type Pairs = Vec<(Value, Value)>;

pub type Outcome<T = Value> = Result<T, Flow>;

/// How an evaluation may end other than with a value.
#[derive(Debug, Clone)]
pub enum Flow {
    Raise(Raise),
    Break(Value),
    Next(Value),
    Return(Value),
    /// `exit`, with the process's exit code.
    Exit(u8),
}

/// An error as Ruby raises them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raise {
    /// Such as `ArgumentError`.
    pub class: String,
    pub message: String,
}

impl Raise {
    pub fn new(class: &str, message: impl Into<String>) -> Raise {
        Raise { class: class.to_owned(), message: message.into() }
    }
    pub fn argument(message: impl Into<String>) -> Raise {
        Raise::new("ArgumentError", message)
    }
    pub fn runtime(message: impl Into<String>) -> Raise {
        Raise::new("RuntimeError", message)
    }
    pub fn of_type(message: impl Into<String>) -> Raise {
        Raise::new("TypeError", message)
    }
    /// `expected`: such as `1`, `2..3`, `1+`.
    pub fn arity(given: usize, expected: &str) -> Raise {
        Raise::argument(format!("wrong number of arguments (given {given}, expected {expected})"))
    }
    pub fn no_method(name: &str, value: &Value) -> Raise {
        let of = match value {
            Value::Nil => "nil:NilClass".to_owned(),
            Value::Bool(b) => format!("{b}:{}", value.class()),
            _ => format!("{}:{}", value.inspect(), value.class()),
        };
        Raise::new("NoMethodError", format!("undefined method `{name}' for {of}"))
    }
}

impl From<Raise> for Flow {
    fn from(raise: Raise) -> Flow {
        Flow::Raise(raise)
    }
}

impl Value {
    pub fn text(text: impl AsRef<[u8]>) -> Value {
        Value::Text(Bytes::copy_from_slice(text.as_ref()))
    }
    pub fn array(items: Vec<Value>) -> Value {
        Value::Array(Rc::new(RefCell::new(items)))
    }
    pub fn hash(pairs: Pairs) -> Value {
        Value::Hash(Rc::new(RefCell::new(pairs)))
    }
    pub fn texts<S: AsRef<[u8]>>(items: impl IntoIterator<Item = S>) -> Value {
        Value::array(items.into_iter().map(Value::text).collect())
    }

    pub fn is_nil(&self) -> bool {
        matches!(self, Value::Nil)
    }
    /// Everything but nil and false.
    pub fn is_true(&self) -> bool {
        !matches!(self, Value::Nil | Value::Bool(false))
    }

    /// Ruby's name of the class.
    pub fn class(&self) -> &str {
        match self {
            Value::Nil => "NilClass",
            Value::Bool(true) => "TrueClass",
            Value::Bool(false) => "FalseClass",
            Value::Integer(_) => "Integer",
            Value::Float(_) => "Float",
            Value::Text(_) => "String",
            Value::Symbol(_) => "Symbol",
            Value::Array(_) => "Array",
            Value::Hash(_) => "Hash",
            Value::Range(_) => "Range",
            Value::Pattern(_) => "Regexp",
            Value::Time(_) => "Time",
            Value::Table(_) => "Hbase::Table",
            Value::Package(_) => "Java::JavaPackage",
            Value::Class(_) => "Class",
            Value::Filter(_) => "Java::OrgApacheHadoopHbaseFilter::Filter",
            Value::Comparator(_) => "Java::OrgApacheHadoopHbaseFilter::ByteArrayComparable",
            Value::Opaque(_) => "Object",
            Value::Error(raise) => &raise.class,
        }
    }

    /// The bytes of `to_s`: what a command takes as a name, a row, a value.
    pub fn to_bytes(&self) -> Bytes {
        match self {
            Value::Text(bytes) => bytes.clone(),
            other => Bytes::from(other.to_text()),
        }
    }

    /// Ruby's `to_s`; bytes that are not UTF-8 are replaced.
    pub fn to_text(&self) -> String {
        match self {
            Value::Nil => String::new(),
            Value::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Value::Symbol(name) | Value::Opaque(name) | Value::Package(name) | Value::Class(name) => name.to_string(),
            Value::Table(name) => format!("Hbase::Table - {name}"),
            Value::Error(raise) => raise.message.clone(),
            Value::Range(range) => {
                format!("{}{}{}", range.0.to_text(), if range.2 { "..." } else { ".." }, range.1.to_text())
            }
            other => other.inspect(),
        }
    }

    /// The string in it, if it is one.
    pub fn as_text(&self) -> Option<&Bytes> {
        if let Value::Text(bytes) = self { Some(bytes) } else { None }
    }

    /// The value of a hash's key that is a string.
    pub fn entry(&self, key: &str) -> Option<Value> {
        let Value::Hash(pairs) = self else { return None };
        pairs.borrow().iter().find(|(k, _)| k.as_text().is_some_and(|k| k == key)).map(|(_, v)| v.clone())
    }

    /// Ruby's `==` (1 == 1.0) where `strict` is false, `eql?` otherwise.
    pub fn equals(&self, other: &Value, strict: bool) -> bool {
        match (self, other) {
            (Value::Nil, Value::Nil) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Integer(a), Value::Integer(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Integer(a), Value::Float(b)) | (Value::Float(b), Value::Integer(a)) => !strict && *a as f64 == *b,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::Symbol(a), Value::Symbol(b)) => a == b,
            (Value::Table(a), Value::Table(b)) | (Value::Class(a), Value::Class(b)) => a == b,
            (Value::Time(a), Value::Time(b)) => a == b,
            (Value::Pattern(a), Value::Pattern(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => {
                Rc::ptr_eq(a, b) || {
                    let (a, b) = (a.borrow(), b.borrow());
                    a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.equals(b, strict))
                }
            }
            (Value::Hash(a), Value::Hash(b)) => {
                Rc::ptr_eq(a, b) || {
                    let (a, b) = (a.borrow(), b.borrow());
                    let has = |key: &Value, value: &Value| {
                        b.iter().any(|(k, v)| k.equals(key, true) && v.equals(value, strict))
                    };
                    a.len() == b.len() && a.iter().all(|(k, v)| has(k, v))
                }
            }
            (Value::Range(a), Value::Range(b)) => a.0.equals(&b.0, strict) && a.1.equals(&b.1, strict) && a.2 == b.2,
            _ => false,
        }
    }

    /// Ruby's `<=>`, where the two can be compared.
    pub fn compare(&self, other: &Value) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(b)),
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
            (Value::Integer(a), Value::Float(b)) => (*a as f64).partial_cmp(b),
            (Value::Float(a), Value::Integer(b)) => a.partial_cmp(&(*b as f64)),
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            (Value::Symbol(a), Value::Symbol(b)) => Some(a.cmp(b)),
            (Value::Time(a), Value::Time(b)) => Some(a.cmp(b)),
            (Value::Array(a), Value::Array(b)) => {
                let (a, b) = (a.borrow(), b.borrow());
                for (a, b) in a.iter().zip(b.iter()) {
                    let order = a.compare(b)?;
                    if order.is_ne() {
                        return Some(order);
                    }
                }
                Some(a.len().cmp(&b.len()))
            }
            (a, b) => a.equals(b, false).then_some(std::cmp::Ordering::Equal),
        }
    }
}

/// Sets a key of a hash, where it stands or at its end.
pub fn set_pair(pairs: &mut Pairs, key: Value, value: Value) {
    match pairs.iter_mut().find(|(k, _)| k.equals(&key, true)) {
        Some(pair) => pair.1 = value,
        None => pairs.push((key, value)),
    }
}
