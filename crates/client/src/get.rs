//! [`Get`]: one row, or what of it is asked for.

use crate::mutation::{set_attribute, time_range};
use bytes::Bytes;
use martite_proto as pb;

/// What to read of one row.
///
/// ```
/// # use martite_client::Get;
/// let get = Get::row("user1").column("f", "name").family("g").max_versions(3);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Get {
    pub(crate) proto: pb::Get,
    pub(crate) priority: Option<u32>,
}

impl Get {
    pub fn row(row: impl AsRef<[u8]>) -> Get {
        let proto = pb::Get { row: Bytes::copy_from_slice(row.as_ref()), ..Default::default() };
        Get { proto, priority: None }
    }

    /// The row's key.
    pub fn key(&self) -> &[u8] {
        &self.proto.row
    }

    /// The same of another row.
    pub fn of(&self, row: impl AsRef<[u8]>) -> Get {
        let mut get = self.clone();
        get.proto.row = Bytes::copy_from_slice(row.as_ref());
        get
    }
}

/// The builder methods that Get and Scan have in common.
macro_rules! query_methods {
    ($type:ty) => {
        impl $type {
            pub fn column(mut self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
                crate::get::add_column(&mut self.proto.column, family.as_ref(), Some(qualifier.as_ref()));
                self
            }
            /// All columns of a family.
            pub fn family(mut self, family: impl AsRef<[u8]>) -> Self {
                crate::get::add_column(&mut self.proto.column, family.as_ref(), None);
                self
            }
            /// Versions of each column; 1 unless said.
            pub fn max_versions(mut self, versions: u32) -> Self {
                self.proto.max_versions = Some(versions);
                self
            }
            /// All versions of each column that there are.
            pub fn all_versions(self) -> Self {
                self.max_versions(i32::MAX as u32)
            }
            /// Cells from `min_ms` to before `max_ms`.
            pub fn time_range(mut self, min_ms: u64, max_ms: u64) -> Self {
                self.proto.time_range = Some(time_range(min_ms, max_ms));
                self
            }
            /// Cells with exactly this timestamp.
            pub fn at(self, timestamp_ms: u64) -> Self {
                self.time_range(timestamp_ms, timestamp_ms.saturating_add(1))
            }
            /// Another range of time for one family.
            pub fn family_time_range(mut self, family: impl AsRef<[u8]>, min_ms: u64, max_ms: u64) -> Self {
                self.proto.cf_time_range.push(pb::ColumnFamilyTimeRange {
                    column_family: Bytes::copy_from_slice(family.as_ref()),
                    time_range: time_range(min_ms, max_ms),
                });
                self
            }
            pub fn filter(mut self, filter: pb::Filter) -> Self {
                self.proto.filter = Some(filter);
                self
            }
            /// At most so many cells of a family in a row.
            pub fn store_limit(mut self, cells: u32) -> Self {
                self.proto.store_limit = Some(cells);
                self
            }
            /// Passes over so many columns of a family in each row.
            pub fn store_offset(mut self, columns: u32) -> Self {
                self.proto.store_offset = Some(columns);
                self
            }
            /// False: blocks that are read for this do not go into the cache.
            pub fn cache_blocks(mut self, cache: bool) -> Self {
                self.proto.cache_blocks = Some(cache);
                self
            }
            /// Whether families that the filter does not need are read only for rows that it accepts.
            pub fn load_families_on_demand(mut self, on_demand: bool) -> Self {
                self.proto.load_column_families_on_demand = Some(on_demand);
                self
            }
            pub fn consistency(mut self, consistency: pb::Consistency) -> Self {
                self.proto.consistency = Some(consistency as i32);
                self
            }
            /// Something for the server or its filters, by name.
            pub fn attribute(mut self, name: &str, value: impl Into<Bytes>) -> Self {
                set_attribute(&mut self.proto.attribute, name, value.into());
                self
            }
            /// Labels with which the reader sees cells.
            pub fn authorizations<'a>(self, labels: impl IntoIterator<Item = &'a str>) -> Self {
                let message = pb::Authorizations { label: labels.into_iter().map(str::to_owned).collect() };
                self.attribute("_authorizations_", pb::Message::encode_to_vec(&message))
            }
            /// Of the call; the server's own (0 to 10 for users' tables).
            pub fn priority(mut self, priority: u32) -> Self {
                self.priority = Some(priority);
                self
            }
        }
    };
}
pub(crate) use query_methods;

query_methods!(Get);

pub(crate) fn add_column(columns: &mut Vec<pb::Column>, family: &[u8], qualifier: Option<&[u8]>) {
    let qualifier = qualifier.map(Bytes::copy_from_slice);
    match (columns.iter_mut().find(|column| column.family == family), qualifier) {
        (None, qualifier) => columns
            .push(pb::Column { family: Bytes::copy_from_slice(family), qualifier: qualifier.into_iter().collect() }),
        // A whole family stays whole.
        (Some(column), Some(qualifier)) if !column.qualifier.is_empty() => {
            if let Err(at) = column.qualifier.binary_search(&qualifier) {
                column.qualifier.insert(at, qualifier);
            }
        }
        (Some(column), _) => column.qualifier.clear(),
    }
}
