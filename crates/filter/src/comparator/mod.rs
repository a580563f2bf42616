//! [`Comparator`]: a value of the request, compared with bytes of cells. One file per kind.

mod big_decimal;
mod binary;
mod bit;
mod java_class;
mod java_regex;
mod long;
mod regex_string;
mod substring;

use crate::FilterError;
use crate::decode::PACKAGE;
use crate::error::{Result, malformed};
use crate::required::{self, Required, required};
use bytes::Bytes;
use martite_cell::short_rows::RowPart;
use martite_proto as pb;
use pb::Message;
use std::cmp::Ordering;

/// A comparator with its value.
#[derive(Debug)]
pub struct Comparator(Kind);

#[derive(Debug)]
enum Kind {
    Binary(Bytes),
    BinaryPrefix(Bytes),
    BinaryComponent { value: Bytes, offset: usize },
    Bit(bit::Bit),
    Null,
    Long(long::Long),
    BigDecimal(big_decimal::BigDecimal),
    Regex(Box<regex_string::RegexString>),
    Substring(substring::Substring),
}

/// What a `comparable` field is required for.
const COMPARABLE: &[Required] = &[required(1, "comparable")];

impl Comparator {
    pub fn decode(proto: &pb::Comparator) -> std::result::Result<Comparator, FilterError> {
        Comparator::decode_boxed(proto).map_err(|e| *e)
    }

    pub(crate) fn decode_boxed(proto: &pb::Comparator) -> Result<Comparator> {
        if proto.name.is_empty() {
            return Err(malformed("Comparator", "required field name is missing"));
        }
        let unknown = || Box::new(FilterError::Unknown(proto.name.clone()));
        let class = proto.name.strip_prefix(PACKAGE).ok_or_else(unknown)?;
        let (_, decode) = DECODERS.iter().find(|(name, _)| *name == class).ok_or_else(unknown)?;
        let bytes = proto.serialized_comparator.clone().unwrap_or_default();
        Ok(Comparator(decode(&Input { class, bytes })?))
    }

    /// Java class name without its package.
    pub fn name(&self) -> &'static str {
        match &self.0 {
            Kind::Binary(_) => "BinaryComparator",
            Kind::BinaryPrefix(_) => "BinaryPrefixComparator",
            Kind::BinaryComponent { .. } => "BinaryComponentComparator",
            Kind::Bit(_) => "BitComparator",
            Kind::Null => "NullComparator",
            Kind::Long(_) => long::CLASS,
            Kind::BigDecimal(_) => big_decimal::CLASS,
            Kind::Regex(_) => regex_string::CLASS,
            Kind::Substring(_) => "SubstringComparator",
        }
    }

    /// The comparator's value, as far as it has one (checkAndMutate treats an empty one specially).
    pub fn value(&self) -> &[u8] {
        match &self.0 {
            Kind::Binary(value) | Kind::BinaryPrefix(value) | Kind::BinaryComponent { value, .. } => value,
            Kind::Bit(bit) => &bit.value,
            Kind::Null => &[],
            Kind::Long(long) => &long.bytes,
            Kind::BigDecimal(number) => &number.bytes,
            Kind::Regex(regex) => regex.pattern.as_bytes(),
            Kind::Substring(substring) => substring.lower.as_bytes(),
        }
    }

    /// The comparator's value against the cell's (HBase `compareTo`). What cannot be compared is [`Ordering::Greater`];
    /// [`Comparator::try_compare`] says why.
    pub fn compare(&self, cell_value: &[u8]) -> Ordering {
        self.try_compare(cell_value).unwrap_or(Ordering::Greater)
    }

    /// As [`Comparator::compare`]; an error if the cell's bytes are no number or if a pattern takes too long on them.
    #[inline]
    pub fn try_compare(&self, cell_value: &[u8]) -> std::result::Result<Ordering, Box<FilterError>> {
        Ok(match &self.0 {
            Kind::Binary(value) => value[..].cmp(cell_value),
            Kind::BinaryPrefix(value) => binary::compare_prefix(value, cell_value),
            Kind::BinaryComponent { value, offset } => binary::compare_component(value, *offset, cell_value),
            Kind::Bit(bit) => equal_if(bit.matches(cell_value)),
            Kind::Null => Ordering::Greater,
            Kind::Long(long) => long.compare(cell_value)?,
            Kind::BigDecimal(number) => number.compare(cell_value)?,
            Kind::Regex(regex) => equal_if(regex.matches(cell_value)?),
            Kind::Substring(substring) => equal_if(substring.matches(cell_value)),
        })
    }

    /// What is equal to the comparator's value, if that is all that has a part of its own.
    #[inline]
    pub(crate) fn part(&self) -> Option<RowPart<'_>> {
        match &self.0 {
            Kind::Binary(bytes) => Some(RowPart::Whole(bytes)),
            Kind::BinaryPrefix(bytes) => Some(RowPart::At(0, bytes)),
            Kind::BinaryComponent { value, offset } => Some(RowPart::At(*offset, value)),
            _ => None,
        }
    }
}

type Decoder = fn(&Input<'_>) -> Result<Kind>;

/// Every class that may come over the wire.
const DECODERS: &[(&str, Decoder)] = &[
    ("BigDecimalComparator", |input| big_decimal::decode(input).map(Kind::BigDecimal)),
    ("BinaryComparator", |input| input.comparable::<pb::BinaryComparator>(|m| m.comparable).map(Kind::Binary)),
    ("BinaryComponentComparator", |input| {
        let proto: pb::BinaryComponentComparator = input.message(&[required(1, "value"), required(2, "offset")])?;
        Ok(Kind::BinaryComponent { value: proto.value, offset: proto.offset as usize })
    }),
    ("BinaryPrefixComparator", |input| {
        input.comparable::<pb::BinaryPrefixComparator>(|m| m.comparable).map(Kind::BinaryPrefix)
    }),
    ("BitComparator", |input| bit::decode(input).map(Kind::Bit)),
    ("LongComparator", |input| long::decode(input).map(Kind::Long)),
    ("NullComparator", |input| input.message::<pb::NullComparator>(&[]).map(|_| Kind::Null)),
    ("RegexStringComparator", |input| regex_string::decode(input).map(Box::new).map(Kind::Regex)),
    ("SubstringComparator", |input| substring::decode(input).map(Kind::Substring)),
];

/// Java class names, without their package, of the comparators that are known.
pub fn comparator_classes() -> impl Iterator<Item = &'static str> {
    DECODERS.iter().map(|(class, _)| *class)
}

/// Comparators that only know yes and no: Java's 0 and 1.
fn equal_if(matches: bool) -> Ordering {
    if matches { Ordering::Equal } else { Ordering::Greater }
}

/// The serialized form of one comparator.
struct Input<'a> {
    class: &'a str,
    bytes: Bytes,
}

impl Input<'_> {
    fn message<M: Message + Default>(&self, wanted: &[Required]) -> Result<M> {
        required::check(self.class, &self.bytes, wanted)?;
        M::decode(self.bytes.clone()).map_err(|e| malformed(self.class, e.to_string()))
    }

    /// The bytes that most comparators consist of.
    fn comparable<M: Message + Default>(&self, of: impl Fn(M) -> pb::ByteArrayComparable) -> Result<Bytes> {
        Ok(of(self.message(COMPARABLE)?).value.unwrap_or_default())
    }

    fn malformed(&self, reason: impl Into<String>) -> Box<FilterError> {
        malformed(self.class, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan_model::comparator;

    fn comparable(value: &[u8]) -> pb::ByteArrayComparable {
        pb::ByteArrayComparable { value: Some(value.to_vec().into()) }
    }

    #[test]
    fn each_kind_has_its_name_and_value() {
        let cases = [
            (comparator("BinaryComparator", &pb::BinaryComparator { comparable: comparable(b"v") }), &b"v"[..]),
            (comparator("BinaryPrefixComparator", &pb::BinaryPrefixComparator { comparable: comparable(b"v") }), b"v"),
            (
                comparator(
                    "BinaryComponentComparator",
                    &pb::BinaryComponentComparator { value: b"v"[..].into(), offset: 3 },
                ),
                b"v",
            ),
            (comparator("BitComparator", &pb::BitComparator { comparable: comparable(b"v"), bitwise_op: 1 }), b"v"),
            (comparator("NullComparator", &pb::NullComparator {}), b""),
            (
                comparator("LongComparator", &pb::LongComparator { comparable: comparable(&[0, 0, 0, 0, 0, 0, 0, 7]) }),
                &[0, 0, 0, 0, 0, 0, 0, 7],
            ),
            (
                comparator(
                    "BigDecimalComparator",
                    &pb::BigDecimalComparator { comparable: comparable(&[0, 0, 0, 2, 7]) },
                ),
                &[0, 0, 0, 2, 7],
            ),
            (crate::scan_model::regex("a.c"), b"a.c"),
            (crate::scan_model::substring("ABC"), b"abc"),
        ];
        for (proto, value) in cases {
            let decoded = Comparator::decode(&proto).unwrap();
            assert_eq!(format!("{PACKAGE}{}", decoded.name()), proto.name);
            assert_eq!(decoded.value(), value, "{}", proto.name);
        }
        let null = Comparator::decode(&comparator("NullComparator", &pb::NullComparator {})).unwrap();
        assert_eq!(null.compare(b""), Ordering::Greater);
    }

    #[test]
    fn unknown_and_malformed_ones_are_refused_by_name() {
        let error = |proto: &pb::Comparator| Comparator::decode(proto).unwrap_err();
        let unknown = pb::Comparator { name: "com.example.Mine".into(), serialized_comparator: None };
        assert_eq!(error(&unknown), FilterError::Unknown("com.example.Mine".into()));
        assert_eq!(
            error(&pb::Comparator::default()).to_string(),
            "malformed Comparator: required field name is missing"
        );
        let lacking = [
            ("BinaryComparator", "comparable"),
            ("BinaryPrefixComparator", "comparable"),
            ("BinaryComponentComparator", "value"),
            ("BitComparator", "comparable"),
            ("LongComparator", "comparable"),
            ("BigDecimalComparator", "comparable"),
            ("RegexStringComparator", "pattern"),
            ("SubstringComparator", "substr"),
        ];
        for (class, field) in lacking {
            let proto = pb::Comparator { name: format!("{PACKAGE}{class}"), serialized_comparator: None };
            assert_eq!(error(&proto).to_string(), format!("malformed {class}: required field {field} is missing"));
        }
        let torn = pb::Comparator {
            name: format!("{PACKAGE}NullComparator"),
            serialized_comparator: Some(Bytes::from_static(&[0x0a, 9])),
        };
        assert!(error(&torn).to_string().starts_with("malformed NullComparator: "), "{}", error(&torn));
    }
}
