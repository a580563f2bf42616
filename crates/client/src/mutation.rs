//! [`Mutation`]: what Put, Delete, Append and Increment have in common. Cells are kept in the form in which they travel,
//! so that a value is copied once when it is added, and once into the socket's buffer.

use crate::Error;
use bytes::Bytes;
use martite_cell::{LATEST_TIMESTAMP, TimeRange, key};
use martite_proto as pb;
use pb::mutation_proto::{Durability, MutationType};

const TTL: &str = "_ttl";
const VISIBILITY: &str = "VISIBILITY";
/// Whether an Increment or Append answers the new cells.
const RETURN_RESULTS: &str = "_rr_";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mutation {
    pub kind: MutationType,
    pub row: Bytes,
    /// `u32 length | KeyValue`, one after the other.
    pub block: Vec<u8>,
    pub cells: u32,
    /// Of cells that are given none.
    pub timestamp: u64,
    pub durability: Durability,
    pub attributes: Vec<pb::NameBytesPair>,
    pub time_range: Option<pb::TimeRange>,
    pub priority: Option<u32>,
    /// Longest cell so far.
    longest: usize,
    /// Why a cell cannot be; it was left out.
    invalid: Option<String>,
}

impl Mutation {
    pub fn new(kind: MutationType, row: &[u8]) -> Mutation {
        Mutation {
            kind,
            row: Bytes::copy_from_slice(row),
            block: Vec::new(),
            cells: 0,
            timestamp: LATEST_TIMESTAMP,
            durability: Durability::UseDefault,
            attributes: Vec::new(),
            time_range: None,
            priority: None,
            longest: 0,
            invalid: check_row(row).err().map(|e| e.to_string()),
        }
    }

    pub fn push(&mut self, family: &[u8], qualifier: &[u8], timestamp: u64, type_code: u8, value: &[u8]) {
        if family.len() > key::MAX_FAMILY_LENGTH {
            let name = shown(family);
            self.invalid.get_or_insert(format!("the family {name} is longer than {}", key::MAX_FAMILY_LENGTH));
        }
        if self.invalid.is_some() {
            return;
        }
        let key_len = 2 + self.row.len() + 1 + family.len() + qualifier.len() + key::TS_TYPE_SIZE;
        let len = 8 + key_len + value.len();
        self.block.reserve(4 + len);
        for number in [len, key_len, value.len()] {
            self.block.extend_from_slice(&(number as u32).to_be_bytes());
        }
        key::append_key(&mut self.block, &self.row, family, qualifier, timestamp, type_code);
        self.block.extend_from_slice(value);
        self.cells += 1;
        self.longest = self.longest.max(len);
    }

    /// The timestamp of cells without one of their own, whether they are there already or come later.
    pub fn set_timestamp(&mut self, timestamp: u64) {
        self.timestamp = timestamp;
        let mut at = 0;
        while let Some(head) = self.block.get(at..at + 12) {
            let number = |i: usize| u32::from_be_bytes([head[i], head[i + 1], head[i + 2], head[i + 3]]) as usize;
            let (len, key_len) = (number(0), number(4));
            let stamp = at + 12 + key_len - key::TS_TYPE_SIZE;
            let latest = LATEST_TIMESTAMP.to_be_bytes();
            if self.block[stamp..stamp + 8] == latest {
                self.block[stamp..stamp + 8].copy_from_slice(&timestamp.to_be_bytes());
            }
            at += 4 + len;
        }
    }

    pub fn set_attribute(&mut self, name: &str, value: impl Into<Bytes>) {
        set_attribute(&mut self.attributes, name, value.into());
    }

    pub fn set_ttl_ms(&mut self, ttl_ms: u64) {
        self.set_attribute(TTL, ttl_ms.to_be_bytes().to_vec());
    }

    pub fn set_visibility(&mut self, expression: &str) {
        let message = pb::CellVisibility { expression: expression.to_owned() };
        self.set_attribute(VISIBILITY, pb::Message::encode_to_vec(&message));
    }

    pub fn set_return_results(&mut self, wanted: bool) {
        self.set_attribute(RETURN_RESULTS, vec![if wanted { 0xff } else { 0 }]);
    }

    pub fn to_proto(&self, nonce: Option<u64>) -> pb::MutationProto {
        pb::MutationProto {
            row: Some(self.row.clone()),
            mutate_type: Some(self.kind as i32),
            timestamp: (self.timestamp != LATEST_TIMESTAMP).then_some(self.timestamp),
            attribute: self.attributes.clone(),
            durability: (self.durability != Durability::UseDefault).then_some(self.durability as i32),
            time_range: self.time_range,
            associated_cell_count: (self.cells > 0).then_some(self.cells as i32),
            nonce: nonce.filter(|_| self.has_nonce()),
            ..Default::default()
        }
    }

    fn has_nonce(&self) -> bool {
        matches!(self.kind, MutationType::Append | MutationType::Increment)
    }

    /// What no server would take.
    pub fn check(&self, max_cell_bytes: usize) -> Result<(), Error> {
        if let Some(why) = &self.invalid {
            return Err(Error::Invalid(why.clone()));
        }
        let name = format!("{:?}", self.kind).to_lowercase();
        if self.cells == 0 && self.kind != MutationType::Delete {
            return Err(Error::Invalid(format!("a {name} of the row {} without columns", shown(&self.row))));
        }
        if max_cell_bytes != 0 && self.longest > max_cell_bytes {
            let row = shown(&self.row);
            return Err(Error::Invalid(format!(
                "a {name} of the row {row} has a cell of {} bytes, more than {max_cell_bytes}",
                self.longest
            )));
        }
        Ok(())
    }
}

pub(crate) fn check_row(row: &[u8]) -> Result<(), Error> {
    match row.len() {
        0 => Err(Error::Invalid("the row is empty".to_owned())),
        len if len > key::MAX_ROW_LENGTH => {
            Err(Error::Invalid(format!("a row of {len} bytes; at most {} are possible", key::MAX_ROW_LENGTH)))
        }
        _ => Ok(()),
    }
}

pub(crate) fn shown(row: &[u8]) -> String {
    martite_catalog::to_string_binary(row)
}

pub(crate) fn set_attribute(attributes: &mut Vec<pb::NameBytesPair>, name: &str, value: Bytes) {
    attributes.retain(|pair| pair.name != name);
    attributes.push(pb::NameBytesPair { name: name.to_owned(), value: Some(value) });
}

pub(crate) fn time_range(min: u64, max: u64) -> pb::TimeRange {
    let range = TimeRange::new(min, max);
    pb::TimeRange { from: Some(range.min), to: Some(range.max) }
}

/// The builder methods that all mutations have.
macro_rules! mutation_methods {
    ($type:ty) => {
        impl $type {
            /// The timestamp, in ms since 1970, of all cells that are given none of their own.
            pub fn at(mut self, timestamp_ms: u64) -> Self {
                self.0.set_timestamp(timestamp_ms);
                self
            }
            /// What must be safe before the answer.
            pub fn durability(mut self, durability: martite_proto::mutation_proto::Durability) -> Self {
                self.0.durability = durability;
                self
            }
            /// Something for the server or its filters, by name.
            pub fn attribute(mut self, name: &str, value: impl Into<bytes::Bytes>) -> Self {
                self.0.set_attribute(name, value);
                self
            }
            /// Who may see the cells: an expression of labels, `secret&!foreign`.
            pub fn visibility(mut self, expression: &str) -> Self {
                self.0.set_visibility(expression);
                self
            }
            /// The cells are gone after this time.
            pub fn ttl_ms(mut self, ttl_ms: u64) -> Self {
                self.0.set_ttl_ms(ttl_ms);
                self
            }
            /// Of the call; the server's own (0 to 10 for users' tables).
            pub fn priority(mut self, priority: u32) -> Self {
                self.0.priority = Some(priority);
                self
            }
            /// The row's key.
            pub fn key(&self) -> &[u8] {
                &self.0.row
            }
            /// Number of cells.
            pub fn len(&self) -> usize {
                self.0.cells as usize
            }
            pub fn is_empty(&self) -> bool {
                self.0.cells == 0
            }
            /// Bytes of the cells as they travel.
            pub fn size_bytes(&self) -> usize {
                self.0.block.len()
            }
        }
    };
}
pub(crate) use mutation_methods;
