//! [`Attributes`]: the key-value pairs of a descriptor, kept as they were sent, in order of their keys.
//!
//! HBase stores every setting as text; what it does not know it keeps. So do we: the typed getters read on demand.

use crate::CatalogError;
use bytes::Bytes;
use martite_proto as pb;
use std::collections::BTreeMap;
use std::str::FromStr;

/// Attributes of a table or a family.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes(BTreeMap<Bytes, Bytes>);

impl Attributes {
    pub fn from_proto(pairs: &[pb::BytesBytesPair]) -> Attributes {
        Attributes(pairs.iter().map(|p| (p.first.clone(), p.second.clone())).collect())
    }

    pub fn to_proto(&self) -> Vec<pb::BytesBytesPair> {
        self.0.iter().map(|(k, v)| pb::BytesBytesPair { first: k.clone(), second: v.clone() }).collect()
    }

    pub fn get(&self, key: &str) -> Option<&[u8]> {
        self.0.get(key.as_bytes()).map(|v| &v[..])
    }

    /// The value as text; a value that is not UTF-8 counts as absent ([`Attributes::check`] finds it).
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(|v| std::str::from_utf8(v).ok())
    }

    /// The value, parsed; absent and unparsable give None.
    pub fn parsed<T: FromStr>(&self, key: &str) -> Option<T> {
        self.text(key).and_then(|v| v.trim().parse().ok())
    }

    /// Java's Boolean.valueOf: whatever is not "true" is false.
    pub fn bool_or(&self, key: &str, default: bool) -> bool {
        self.text(key).map_or(default, |v| v.eq_ignore_ascii_case("true"))
    }

    /// An upper-case name; `default` when absent.
    pub fn name_or(&self, key: &str, default: &str) -> String {
        self.text(key).unwrap_or(default).to_ascii_uppercase()
    }

    pub fn set(&mut self, key: &str, value: impl Into<Bytes>) {
        self.0.insert(Bytes::copy_from_slice(key.as_bytes()), value.into());
    }

    pub fn remove(&mut self, key: &str) -> Option<Bytes> {
        self.0.remove(key.as_bytes())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Bytes, &Bytes)> {
        self.0.iter()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses a value that does not parse as `T`.
    pub fn check<T: FromStr>(&self, key: &str, expected: &str) -> Result<(), CatalogError> {
        match self.get(key) {
            Some(value) if self.parsed::<T>(key).is_none() => Err(CatalogError::Illegal(format!(
                "{key} is {}, which is not {expected}",
                crate::to_string_binary(value)
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses a name that is not one of `allowed`; case does not matter.
    pub fn check_name(&self, key: &str, allowed: &[&str]) -> Result<(), CatalogError> {
        match self.get(key) {
            Some(value) if !allowed.iter().any(|a| a.as_bytes().eq_ignore_ascii_case(value)) => {
                Err(CatalogError::Illegal(format!(
                    "{key} is {}, which is not one of {}",
                    crate::to_string_binary(value),
                    allowed.join(", ")
                )))
            }
            _ => Ok(()),
        }
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Attributes {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Attributes {
        let copy = |s: &str| Bytes::copy_from_slice(s.as_bytes());
        Attributes(pairs.into_iter().map(|(k, v)| (copy(k), copy(v))).collect())
    }
}

/// Name-value text pairs, as descriptors and namespaces carry them.
pub(crate) fn pairs_from_proto(pairs: &[pb::NameStringPair]) -> BTreeMap<String, String> {
    pairs.iter().map(|p| (p.name.clone(), p.value.clone())).collect()
}

pub(crate) fn pairs_to_proto(pairs: &BTreeMap<String, String>) -> Vec<pb::NameStringPair> {
    pairs.iter().map(|(name, value)| pb::NameStringPair { name: name.clone(), value: value.clone() }).collect()
}
