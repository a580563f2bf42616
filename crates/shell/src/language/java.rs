//! The little of Java that scripts of HBase's shell use: filters and comparators by their constructors, enums, `Bytes`.
//!
//! ```text
//! scan 't', {FILTER => org.apache.hadoop.hbase.filter.PrefixFilter.new(Bytes.toBytes('a'))}
//! ```
//! A class is known by its last name; an enum's value is its name.

use super::methods::Asked;
use super::value::{Outcome, Raise, Value};
use bytes::Bytes;
use martite_filter::{CompareOp, build};
use martite_proto as pb;
use std::ops::Bound;
use std::rc::Rc;

/// Classes that need no import: Ruby's, and those that HBase's shell imports.
const IMPORTED: &[&str] = &[
    "Array",
    "ArgumentError",
    "Bytes",
    "Exception",
    "FalseClass",
    "Float",
    "Hash",
    "Integer",
    "Kernel",
    "NameError",
    "NilClass",
    "NoMethodError",
    "Numeric",
    "Object",
    "RuntimeError",
    "StandardError",
    "String",
    "Symbol",
    "Time",
    "TrueClass",
    "TypeError",
];

/// Where Java's packages begin.
const ROOTS: &[&str] = &["com", "java", "javax", "org"];

pub fn class(name: &str) -> Option<&'static str> {
    IMPORTED.iter().find(|known| **known == name).copied()
}

/// The package that a name without receiver begins, such as `org`.
pub fn root(name: &str) -> Option<Value> {
    ROOTS.contains(&name).then(|| Value::Package(name.into()))
}

fn last(path: &str) -> &str {
    path.rsplit(['.', ':']).next().unwrap_or(path)
}

/// `Class::NAME`: a constant, an enum's value, or an inner class.
pub fn scoped(scope: &Value, name: &str) -> Result<Value, Raise> {
    let (Value::Class(path) | Value::Package(path)) = scope else {
        return Err(Raise::of_type(format!("{} is not a class/module", scope.inspect())));
    };
    Ok(match (last(path), name) {
        ("Long", "MAX_VALUE") => Value::Integer(i64::MAX),
        ("Long", "MIN_VALUE") => Value::Integer(i64::MIN),
        ("Integer", "MAX_VALUE") => Value::Integer(i64::from(i32::MAX)),
        ("HConstants", "LATEST_TIMESTAMP") => Value::Integer(i64::MAX),
        ("HConstants", "EMPTY_BYTE_ARRAY" | "EMPTY_START_ROW" | "EMPTY_END_ROW") => Value::text(""),
        _ if name.chars().all(|c| c.is_uppercase() || c.is_numeric() || c == '_') => Value::text(name),
        _ => Value::Class(format!("{path}::{name}").into()),
    })
}

/// A method of a class or a package.
pub(super) fn call(object: &Value, asked: &Asked<'_>) -> Outcome<Option<Value>> {
    let (Value::Class(path) | Value::Package(path)) = object else { return Ok(None) };
    let is_class = matches!(object, Value::Class(_));
    if asked.name == "new" && is_class {
        return construct(last(path), &asked.arguments).map(Some).map_err(Into::into);
    }
    if is_class
        && matches!(last(path), "Bytes" | "String")
        && let Some(value) = bytes_method(asked)?
    {
        return Ok(Some(value));
    }
    Ok(Some(match asked.name {
        "valueOf" if is_class => asked.arguments.first().cloned().unwrap_or(Value::Nil),
        "currentTimeMillis" => Value::Integer(jiff::Timestamp::now().as_millisecond()),
        "to_s" | "inspect" | "class" | "name" | "nil?" | "is_a?" | "==" | "!=" => return Ok(None),
        name if asked.arguments.is_empty() => match name.chars().next() {
            Some(c) if c.is_uppercase() => Value::Class(format!("{path}.{name}").into()),
            _ if !is_class => Value::Package(format!("{path}.{name}").into()),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    }))
}

/// HBase's `Bytes`; what there is an array of bytes is a string here.
fn bytes_method(asked: &Asked<'_>) -> Result<Option<Value>, Raise> {
    let given = || asked.arguments.first().ok_or_else(|| Raise::arity(0, "1"));
    Ok(Some(match asked.name {
        "toBytes" | "toBytesLong" => match given()? {
            Value::Integer(i) => Value::text(i.to_be_bytes()),
            Value::Float(f) => Value::text(f.to_be_bytes()),
            Value::Bool(b) => Value::text([if *b { 255u8 } else { 0 }]),
            other => Value::text(other.to_bytes()),
        },
        "toBytesBinary" => Value::text(to_bytes_binary(&given()?.to_bytes())),
        "from_java_bytes" => Value::text(given()?.to_bytes()),
        name => match convert(name, &given()?.to_bytes()) {
            Some(value) => value?,
            None => return Ok(None),
        },
    }))
}

/// `Bytes.NAME(bytes)`, as converters and FORMATTER name them; None: there is no such method.
pub fn convert(name: &str, bytes: &[u8]) -> Option<Result<Value, Raise>> {
    let short = |wanted: usize| {
        Raise::argument(format!("offset (0) + length ({wanted}) exceed the capacity of the array: {}", bytes.len()))
    };
    // Java reads the first bytes, however many follow.
    let number = |wanted: usize| match bytes.get(..wanted) {
        Some(bytes) => {
            let number = bytes.iter().fold(0u64, |number, byte| (number << 8) | u64::from(*byte));
            let shift = 64 - 8 * wanted as u32;
            Ok(((number << shift) as i64) >> shift)
        }
        None => Err(short(wanted)),
    };
    Some(match name {
        "toStringBinary" => Ok(Value::text(to_string_binary(bytes))),
        "toString" => Ok(Value::text(String::from_utf8_lossy(bytes).as_bytes())),
        "toLong" => number(8).map(Value::Integer),
        "toInt" => number(4).map(Value::Integer),
        "toShort" => number(2).map(Value::Integer),
        "toFloat" => number(4).map(|bits| Value::Float(f64::from(f32::from_bits(bits as u32)))),
        "toDouble" => number(8).map(|bits| Value::Float(f64::from_bits(bits as u64))),
        "toBoolean" => match bytes {
            [byte] => Ok(Value::Bool(*byte != 0)),
            other => Err(Raise::argument(format!("Array has wrong size: {}", other.len()))),
        },
        "toHex" => Ok(Value::text(bytes.iter().map(|b| format!("{b:02x}")).collect::<String>())),
        "len" => Ok(Value::Integer(bytes.len() as i64)),
        _ => return None,
    })
}

/// Bytes.toStringBinary.
pub fn to_string_binary(bytes: &[u8]) -> String {
    martite_catalog::to_string_binary(bytes)
}

/// Bytes.toBytesBinary: `\xNN` becomes a byte.
pub fn to_bytes_binary(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        if let [b'\\', b'x', high, low, ..] = rest
            && let (Some(high), Some(low)) = ((*high as char).to_digit(16), (*low as char).to_digit(16))
        {
            out.push((high * 16 + low) as u8);
            rest = &rest[4..];
            continue;
        }
        out.push(byte);
        rest = tail;
    }
    out
}

struct Given<'a> {
    class: &'a str,
    values: &'a [Value],
}

impl Given<'_> {
    fn wrong(&self) -> Raise {
        let given: Vec<String> = self.values.iter().map(Value::inspect).collect();
        Raise::new("NameError", format!("no constructor of {} takes ({})", self.class, given.join(", ")))
    }
    fn value(&self, index: usize) -> Result<&Value, Raise> {
        self.values.get(index).ok_or_else(|| self.wrong())
    }
    fn bytes(&self, index: usize) -> Result<Bytes, Raise> {
        Ok(self.value(index)?.to_bytes())
    }
    fn integer(&self, index: usize) -> Result<i64, Raise> {
        if let Value::Integer(i) = self.value(index)? { Ok(*i) } else { Err(self.wrong()) }
    }
    fn bool(&self, index: usize, default: bool) -> bool {
        self.values.get(index).map_or(default, Value::is_true)
    }
    fn small(&self, index: usize) -> Result<i32, Raise> {
        i32::try_from(self.integer(index)?).map_err(|_| self.wrong())
    }
    fn filter(&self, index: usize) -> Result<pb::Filter, Raise> {
        if let Value::Filter(filter) = self.value(index)? { Ok((**filter).clone()) } else { Err(self.wrong()) }
    }
    fn op(&self, index: usize) -> Result<CompareOp, Raise> {
        Ok(match self.value(index)?.to_text().as_str() {
            "LESS" => CompareOp::Less,
            "LESS_OR_EQUAL" => CompareOp::LessOrEqual,
            "EQUAL" => CompareOp::Equal,
            "NOT_EQUAL" => CompareOp::NotEqual,
            "GREATER_OR_EQUAL" => CompareOp::GreaterOrEqual,
            "GREATER" => CompareOp::Greater,
            "NO_OP" => CompareOp::NoOp,
            _ => return Err(self.wrong()),
        })
    }
    fn comparator(&self, index: usize) -> Result<pb::Comparator, Raise> {
        match self.value(index)? {
            Value::Comparator(comparator) => Ok((**comparator).clone()),
            // Some constructors take the value itself.
            Value::Text(bytes) => Ok(build::binary(bytes)),
            _ => Err(self.wrong()),
        }
    }
    fn list(&self, index: usize) -> Result<Vec<Value>, Raise> {
        match self.value(index)? {
            Value::Array(items) => Ok(items.borrow().clone()),
            _ => Err(self.wrong()),
        }
    }
}

/// `Class.new(…)`.
fn construct(class: &str, values: &[Value]) -> Result<Value, Raise> {
    let given = Given { class, values };
    if let Some(filter) = filter(&given)? {
        return Ok(Value::Filter(Rc::new(filter)));
    }
    if let Some(comparator) = comparator(&given)? {
        return Ok(Value::Comparator(Rc::new(comparator)));
    }
    match class {
        "String" => Ok(values.first().cloned().unwrap_or_else(|| Value::text(""))),
        "Array" => match values {
            [] => Ok(Value::array(Vec::new())),
            [Value::Integer(n), rest @ ..] => {
                let n = usize::try_from(*n).ok().filter(|n| *n <= super::methods::MOST_ITEMS);
                let n = n.ok_or_else(|| Raise::argument("array size too big"))?;
                Ok(Value::array(vec![rest.first().cloned().unwrap_or(Value::Nil); n]))
            }
            _ => Err(given.wrong()),
        },
        "Hash" => Ok(Value::hash(Vec::new())),
        "ArrayList" | "LinkedList" => Ok(Value::array(Vec::new())),
        class if class.ends_with("Error") || class.ends_with("Exception") => {
            let message = values.first().map_or_else(|| class.to_owned(), Value::to_text);
            Ok(Value::Error(Rc::new(Raise::new(class, message))))
        }
        class => Err(Raise::new("NameError", format!("the class {class} is not known to this shell"))),
    }
}

fn filter(given: &Given<'_>) -> Result<Option<pb::Filter>, Raise> {
    Ok(Some(match given.class {
        "PrefixFilter" => build::prefix(given.bytes(0)?),
        "PageFilter" => build::page(given.integer(0)?),
        "InclusiveStopFilter" => build::inclusive_stop(given.bytes(0)?),
        "RowFilter" => build::row(given.op(0)?, given.comparator(1)?),
        "FamilyFilter" => build::family(given.op(0)?, given.comparator(1)?),
        "QualifierFilter" => build::qualifier(given.op(0)?, given.comparator(1)?),
        "ValueFilter" => build::value(given.op(0)?, given.comparator(1)?),
        "ColumnValueFilter" => {
            build::column_value(given.bytes(0)?, given.bytes(1)?, given.op(2)?, given.comparator(3)?)
        }
        "ColumnPrefixFilter" => build::column_prefix(given.bytes(0)?),
        "MultipleColumnPrefixFilter" => {
            build::multiple_column_prefix(given.list(0)?.iter().map(Value::to_bytes).collect::<Vec<_>>())
        }
        "ColumnRangeFilter" => build::column_range(bound(given, 0)?, bound(given, 2)?),
        "ColumnCountGetFilter" => build::column_count_get(given.small(0)?),
        "ColumnPaginationFilter" => match given.value(1)? {
            Value::Text(column) => build::column_pagination_from(given.small(0)?, column),
            _ => build::column_pagination(given.small(0)?, given.small(1)?),
        },
        "TimestampsFilter" => {
            let stamps = given.list(0)?;
            let stamps = stamps.iter().map(|v| if let Value::Integer(i) = v { Ok(*i) } else { Err(given.wrong()) });
            build::timestamps(stamps.collect::<Result<Vec<_>, _>>()?)
        }
        "KeyOnlyFilter" => build::key_only(given.bool(0, false)),
        "FirstKeyOnlyFilter" => build::first_key_only(),
        "FilterAllFilter" => build::filter_all(),
        "SkipFilter" => build::skip(given.filter(0)?),
        "WhileMatchFilter" => build::while_match(given.filter(0)?),
        "RandomRowFilter" => match given.value(0)? {
            Value::Float(chance) => build::random_row(*chance as f32),
            Value::Integer(chance) => build::random_row(*chance as f32),
            _ => return Err(given.wrong()),
        },
        "SingleColumnValueFilter" | "SingleColumnValueExcludeFilter" => {
            let column =
                build::single_column_value(given.bytes(0)?, given.bytes(1)?, given.op(2)?, given.comparator(3)?);
            if given.class == "SingleColumnValueFilter" { column.build() } else { column.exclude() }
        }
        "DependentColumnFilter" => {
            let condition = if given.values.len() > 3 { Some((given.op(3)?, given.comparator(4)?)) } else { None };
            build::dependent_column(given.bytes(0)?, given.bytes(1)?, given.bool(2, false), condition)
        }
        "FilterList" => list(given)?,
        _ => return Ok(None),
    }))
}

/// A bound of ColumnRangeFilter: nil for none, then whether it is included.
fn bound(given: &Given<'_>, index: usize) -> Result<Bound<Bytes>, Raise> {
    Ok(match (given.value(index)?, given.bool(index + 1, true)) {
        (Value::Nil, _) => Bound::Unbounded,
        (value, true) => Bound::Included(value.to_bytes()),
        (value, false) => Bound::Excluded(value.to_bytes()),
    })
}

/// `FilterList.new(filters)`, `FilterList.new(operator, filters)`, `FilterList.new(a, b, …)`.
fn list(given: &Given<'_>) -> Result<pb::Filter, Raise> {
    let mut is_any = false;
    let mut filters = Vec::new();
    for value in given.values {
        match value {
            Value::Text(operator) => is_any = &operator[..] == b"MUST_PASS_ONE",
            Value::Filter(filter) => filters.push((**filter).clone()),
            Value::Array(items) => {
                for item in items.borrow().iter() {
                    let Value::Filter(filter) = item else { return Err(given.wrong()) };
                    filters.push((**filter).clone());
                }
            }
            _ => return Err(given.wrong()),
        }
    }
    Ok(if is_any { build::any(filters) } else { build::all(filters) })
}

fn comparator(given: &Given<'_>) -> Result<Option<pb::Comparator>, Raise> {
    Ok(Some(match given.class {
        "BinaryComparator" => build::binary(given.bytes(0)?),
        "BinaryPrefixComparator" => build::binary_prefix(given.bytes(0)?),
        "BinaryComponentComparator" => {
            build::binary_component(given.bytes(0)?, u32::try_from(given.integer(1)?).map_err(|_| given.wrong())?)
        }
        "SubstringComparator" => build::substring(&given.value(0)?.to_text()),
        "RegexStringComparator" => build::regex(&given.value(0)?.to_text()),
        "LongComparator" => build::long(given.integer(0)?),
        "NullComparator" => build::null(),
        "BitComparator" => {
            let op = match given.value(1)?.to_text().as_str() {
                "AND" => pb::bit_comparator::BitwiseOp::And,
                "OR" => pb::bit_comparator::BitwiseOp::Or,
                "XOR" => pb::bit_comparator::BitwiseOp::Xor,
                _ => return Err(given.wrong()),
            };
            build::bit(given.bytes(0)?, op)
        }
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_back() {
        assert_eq!(to_bytes_binary(b"a\\x00\\xFfz\\x"), b"a\0\xffz\\x");
        let show = |name: &str, bytes: &[u8]| convert(name, bytes).unwrap().map(|v| v.to_text());
        assert_eq!(show("toLong", &(-5i64).to_be_bytes()).unwrap(), "-5");
        assert_eq!(show("toInt", &[0, 0, 1, 0, 9]).unwrap(), "256");
        assert_eq!(show("toShort", &[255, 254]).unwrap(), "-2");
        assert!(show("toInt", &[1]).unwrap_err().message.contains("(4)"));
        assert!(convert("toNothing", b"").is_none());
    }

    #[test]
    fn filters_by_constructor() {
        let made = construct("PrefixFilter", &[Value::text("a")]).unwrap();
        assert_eq!(made.inspect(), "#<org.apache.hadoop.hbase.filter.PrefixFilter>");
        let wrong = construct("PageFilter", &[Value::text("a")]).unwrap_err();
        assert_eq!(wrong.message, "no constructor of PageFilter takes (\"a\")");
        let unknown = construct("Configuration", &[]).unwrap_err();
        assert_eq!(unknown.message, "the class Configuration is not known to this shell");
    }
}
