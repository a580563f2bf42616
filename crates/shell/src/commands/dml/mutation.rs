//! Options that writes have in common: ATTRIBUTES, VISIBILITY, TTL.

use crate::commands::arguments::integer;
use crate::commands::{Arguments, Options};
use crate::failure::{Failure, Run};
use crate::language::Value;
use bytes::Bytes;

/// What is to be set on a mutation.
#[derive(Debug, Default)]
pub struct Extras {
    pub attributes: Vec<(String, Bytes)>,
    pub visibility: Option<String>,
    pub ttl_ms: Option<u64>,
}

impl Extras {
    pub fn of(mut options: Options) -> Run<Extras> {
        let attributes = match options.take("ATTRIBUTES") {
            None => Vec::new(),
            Some(value) => attributes(&value)?,
        };
        let ttl_ms = options.take("TTL").map(|value| integer("TTL", &value)).transpose()?;
        let ttl_ms =
            ttl_ms.map(|ms| u64::try_from(ms).map_err(|_| Failure::argument("TTL is negative"))).transpose()?;
        Ok(Extras { attributes, visibility: options.take_text("VISIBILITY"), ttl_ms })
    }
}

/// Names and values of ATTRIBUTES.
pub fn attributes(value: &Value) -> Run<Vec<(String, Bytes)>> {
    let Value::Hash(pairs) = value else { return Err(Failure::argument("Attributes must be a Hash type")) };
    Ok(pairs.borrow().iter().map(|(name, value)| (name.to_text(), value.to_bytes())).collect())
}

/// Sets them; the builders of the client have the same methods but no common trait.
macro_rules! with_extras {
    ($mutation:expr, $extras:expr) => {{
        let mut mutation = $mutation;
        for (name, value) in $extras.attributes {
            mutation = mutation.attribute(&name, value);
        }
        if let Some(expression) = $extras.visibility {
            mutation = mutation.visibility(&expression);
        }
        if let Some(ttl_ms) = $extras.ttl_ms {
            mutation = mutation.ttl_ms(ttl_ms);
        }
        mutation
    }};
}
pub(super) use with_extras;

/// A timestamp and options: each may be left out, `index` is the timestamp's place.
pub fn timestamp_and_options(arguments: &Arguments, index: usize) -> Run<(Option<u64>, Options)> {
    match arguments.get(index) {
        Some(Value::Hash(_)) => Ok((None, arguments.options(index)?)),
        Some(value) => Ok((Some(timestamp(value)?), arguments.options(index + 1)?)),
        None => Ok((None, arguments.options(index + 1)?)),
    }
}

/// Milliseconds since 1970.
pub fn timestamp(value: &Value) -> Run<u64> {
    let ms = integer("the timestamp", value)?;
    u64::try_from(ms).map_err(|_| Failure::argument(format!("Timestamp cannot be negative. ts={ms}")))
}
