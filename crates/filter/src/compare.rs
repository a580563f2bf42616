//! Operators, and the comparison that row, family, qualifier and value filters share.
//!
//! A comparator compares **its value against the cell's**. Filters read "cell OP comparator", checkAndMutate reads
//! "given value OP cell": the same answer of the comparator, read from opposite ends.

use crate::Comparator;
use crate::error::{Result, malformed};
use crate::required::{Required, required};
use martite_cell::short_rows::RowPart;
use martite_proto as pb;
use std::cmp::Ordering;

/// The operator of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareOp {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
    NoOp,
}

impl CompareOp {
    /// From the number of `CompareType`; None if it has no meaning.
    pub fn decode(proto: i32) -> Option<CompareOp> {
        Some(match pb::CompareType::try_from(proto).ok()? {
            pb::CompareType::Less => CompareOp::Less,
            pb::CompareType::LessOrEqual => CompareOp::LessOrEqual,
            pb::CompareType::Equal => CompareOp::Equal,
            pb::CompareType::NotEqual => CompareOp::NotEqual,
            pb::CompareType::GreaterOrEqual => CompareOp::GreaterOrEqual,
            pb::CompareType::Greater => CompareOp::Greater,
            pb::CompareType::NoOp => CompareOp::NoOp,
        })
    }

    /// What [`CompareOp::decode`] reads.
    pub fn encode(self) -> pb::CompareType {
        match self {
            CompareOp::Less => pb::CompareType::Less,
            CompareOp::LessOrEqual => pb::CompareType::LessOrEqual,
            CompareOp::Equal => pb::CompareType::Equal,
            CompareOp::NotEqual => pb::CompareType::NotEqual,
            CompareOp::GreaterOrEqual => pb::CompareType::GreaterOrEqual,
            CompareOp::Greater => pb::CompareType::Greater,
            CompareOp::NoOp => pb::CompareType::NoOp,
        }
    }

    /// checkAndMutate's direction: whether "given value OP cell value" holds, from [`Comparator::compare`]'s answer.
    pub fn holds(self, compared: Ordering) -> bool {
        match self {
            CompareOp::Less => compared.is_lt(),
            CompareOp::LessOrEqual => compared.is_le(),
            CompareOp::Equal => compared.is_eq(),
            CompareOp::NotEqual => compared.is_ne(),
            CompareOp::GreaterOrEqual => compared.is_ge(),
            CompareOp::Greater => compared.is_gt(),
            CompareOp::NoOp => false,
        }
    }
}

/// An operator with its comparator, in the filters' direction.
#[derive(Debug)]
pub(crate) struct Comparison {
    op: CompareOp,
    /// Only a comparison that excludes everything has none.
    comparator: Option<Comparator>,
}

impl Comparison {
    /// Of the fields that single-column filters carry.
    pub fn new(class: &str, op: i32, comparator: &pb::Comparator) -> Result<Comparison> {
        let op = decode_op(class, op)?;
        Ok(Comparison { op, comparator: Some(Comparator::decode_boxed(comparator)?) })
    }

    pub fn decode(class: &str, proto: &pb::CompareFilter) -> Result<Comparison> {
        let op = decode_op(class, proto.compare_op)?;
        let comparator = proto.comparator.as_ref().map(Comparator::decode_boxed).transpose()?;
        if comparator.is_none() && op != CompareOp::NoOp {
            return Err(malformed(class, "required field comparator is missing"));
        }
        Ok(Comparison { op, comparator })
    }

    pub fn has_comparator(&self) -> bool {
        self.comparator.is_some()
    }

    /// Whether "`bytes` OP comparator" does not hold. `NoOp` never holds.
    #[inline]
    pub fn excludes(&self, bytes: &[u8]) -> Result<bool> {
        let Some(comparator) = self.comparator.as_ref().filter(|_| self.op != CompareOp::NoOp) else {
            return Ok(true);
        };
        Ok(!self.op.holds(comparator.try_compare(bytes)?.reverse()))
    }

    /// If [`Self::excludes`] asks only whether bytes have a part: which, and whether those that have it are kept.
    #[inline]
    pub fn part(&self) -> Option<(RowPart<'_>, bool)> {
        let kept = match self.op {
            CompareOp::Equal => true,
            CompareOp::NotEqual => false,
            _ => return None,
        };
        Some((self.comparator.as_ref()?.part()?, kept))
    }
}

fn decode_op(class: &str, op: i32) -> Result<CompareOp> {
    CompareOp::decode(op).ok_or_else(|| malformed(class, format!("compare operator {op} is unknown")))
}

/// What a `compare_filter` field must have.
pub(crate) const COMPARE_FILTER: &[Required] =
    &[Required { tag: 1, name: "compare_filter", inside: &[required(1, "compare_op")] }];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan_model::{binary, compare_filter};

    #[test]
    fn directions_of_filters_and_of_check_and_mutate_are_opposite() {
        use pb::CompareType as Op;
        // Operator; whether a filter keeps cells "a", "b", "c" against "b".
        let cases = [
            (Op::Less, [true, false, false]),
            (Op::LessOrEqual, [true, true, false]),
            (Op::Equal, [false, true, false]),
            (Op::NotEqual, [true, false, true]),
            (Op::GreaterOrEqual, [false, true, true]),
            (Op::Greater, [false, false, true]),
            (Op::NoOp, [false, false, false]),
        ];
        for (op, kept) in cases {
            let comparison = Comparison::decode("X", &compare_filter(op, binary("b"))).unwrap();
            let got = ["a", "b", "c"].map(|cell| !comparison.excludes(cell.as_bytes()).unwrap());
            assert_eq!(got, kept, "{op:?}");
        }
        let given = Comparator::decode(&binary("b")).unwrap();
        assert!(CompareOp::Less.holds(given.compare(b"c")), "b < c");
        assert!(!CompareOp::Less.holds(given.compare(b"a")));
        assert!(!CompareOp::NoOp.holds(given.compare(b"b")));
    }

    #[test]
    fn unknown_operators_and_absent_comparators_are_refused() {
        let e = |f: pb::CompareFilter| Comparison::decode("RowFilter", &f).map(|_| ()).unwrap_err().to_string();
        assert_eq!(
            e(pb::CompareFilter { compare_op: 9, comparator: None }),
            "malformed RowFilter: compare operator 9 is unknown"
        );
        assert_eq!(
            e(pb::CompareFilter { compare_op: pb::CompareType::Equal as i32, comparator: None }),
            "malformed RowFilter: required field comparator is missing"
        );
    }
}
