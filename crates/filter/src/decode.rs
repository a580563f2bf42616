//! From a request's `Filter` message to a tree of filters: one Java class name, one decoder.

use crate::FilterError;
use crate::error::{Result, malformed};
use crate::evaluate::Boxed;
use crate::filters::*;
use crate::required::{self, Required};
use bytes::Bytes;
use martite_proto as pb;
use pb::Message;

/// Filters may be nested this deep (lists in lists); evaluation and drop recurse as deep.
pub const MAX_DEPTH: usize = 100;

/// Package of every filter and comparator class.
pub(crate) const PACKAGE: &str = "org.apache.hadoop.hbase.filter.";

/// The serialized form of one filter, on its way through its decoder.
pub(crate) struct Input {
    /// Java class name without its package.
    pub class: &'static str,
    bytes: Bytes,
    depth: usize,
}

impl Input {
    /// The message, with every field of `wanted` in it.
    pub fn message<M: Message + Default>(&self, wanted: &[Required]) -> Result<M> {
        required::check(self.class, &self.bytes, wanted)?;
        M::decode(self.bytes.clone()).map_err(|e| malformed(self.class, e.to_string()))
    }

    /// A filter inside this one.
    pub fn nested(&self, proto: &pb::Filter) -> Result<Boxed> {
        filter(proto, self.depth + 1)
    }

    pub fn malformed(&self, reason: impl Into<String>) -> Box<FilterError> {
        malformed(self.class, reason)
    }
}

pub(crate) fn filter(proto: &pb::Filter, depth: usize) -> Result<Boxed> {
    if proto.name.is_empty() {
        return Err(malformed("Filter", "required field name is missing"));
    }
    let Some(&(class, decode)) =
        proto.name.strip_prefix(PACKAGE).and_then(|short| DECODERS.iter().find(|(class, _)| *class == short))
    else {
        return Err(Box::new(FilterError::Unknown(proto.name.clone())));
    };
    if depth >= MAX_DEPTH {
        return Err(malformed(class, format!("filters are nested more than {MAX_DEPTH} deep")));
    }
    decode(Input { class, bytes: proto.serialized_filter.clone().unwrap_or_default(), depth })
}

type Decoder = fn(Input) -> Result<Boxed>;

/// Every class that may come over the wire.
const DECODERS: &[(&str, Decoder)] = &[
    ("ColumnCountGetFilter", column_count_get::decode),
    ("ColumnPaginationFilter", column_pagination::decode),
    ("ColumnPrefixFilter", column_prefix::decode),
    ("ColumnRangeFilter", column_range::decode),
    ("ColumnValueFilter", column_value::decode),
    ("DependentColumnFilter", dependent_column::decode),
    ("FamilyFilter", family::decode),
    ("FilterAllFilter", filter_all::decode),
    ("FilterList", list::decode),
    ("FilterWrapper", wrapper::decode),
    ("FirstKeyOnlyFilter", first_key_only::decode),
    ("FirstKeyValueMatchingQualifiersFilter", first_key_value_matching_qualifiers::decode),
    ("FuzzyRowFilter", fuzzy_row::decode),
    ("InclusiveStopFilter", inclusive_stop::decode),
    ("KeyOnlyFilter", key_only::decode),
    ("MultiRowRangeFilter", multi_row_range::decode),
    ("MultipleColumnPrefixFilter", multiple_column_prefix::decode),
    ("PageFilter", page::decode),
    ("PrefixFilter", prefix::decode),
    ("QualifierFilter", qualifier::decode),
    ("RandomRowFilter", random_row::decode),
    ("RowFilter", row::decode),
    ("SingleColumnValueExcludeFilter", single_column_value_exclude::decode),
    ("SingleColumnValueFilter", single_column_value::decode),
    ("SkipFilter", skip::decode),
    ("TimestampsFilter", timestamps::decode),
    ("ValueFilter", value::decode),
    ("WhileMatchFilter", while_match::decode),
];

/// Java class names, without their package, of the filters that are known.
pub fn filter_classes() -> impl Iterator<Item = &'static str> {
    DECODERS.iter().map(|(class, _)| *class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan_model::{filter_proto, list_proto};

    fn error(proto: &pb::Filter) -> FilterError {
        *filter(proto, 0).err().expect("an error")
    }

    #[test]
    fn unknown_and_unnamed_classes_are_refused_by_name() {
        let unknown = pb::Filter { name: "com.example.MyFilter".into(), serialized_filter: None };
        assert_eq!(error(&unknown), FilterError::Unknown("com.example.MyFilter".into()));
        // Nested ones too.
        assert_eq!(
            error(&list_proto(true, vec![unknown.clone()])),
            FilterError::Unknown("com.example.MyFilter".into())
        );
        let unnamed = pb::Filter::default();
        assert_eq!(error(&unnamed).to_string(), "malformed Filter: required field name is missing");
    }

    #[test]
    fn every_class_refuses_bytes_that_are_no_message() {
        for (class, _) in DECODERS {
            let torn = pb::Filter {
                name: format!("{PACKAGE}{class}"),
                serialized_filter: Some(Bytes::from_static(&[0x0a, 0x7f, 1])),
            };
            match error(&torn) {
                FilterError::Malformed { class: named, .. } => assert_eq!(named, *class),
                other => panic!("{class}: {other}"),
            }
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let nest = |levels: usize| {
            let mut proto = filter_proto("FirstKeyOnlyFilter", &pb::FirstKeyOnlyFilter {});
            for _ in 1..levels {
                proto = filter_proto("SkipFilter", &pb::SkipFilter { filter: proto });
            }
            proto
        };
        assert_eq!(filter(&nest(MAX_DEPTH), 0).expect("sound").name(), "SkipFilter");
        assert_eq!(
            error(&nest(MAX_DEPTH + 1)).to_string(),
            "malformed FirstKeyOnlyFilter: filters are nested more than 100 deep"
        );
    }
}
