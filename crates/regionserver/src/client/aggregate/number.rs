//! What cells are to an aggregate: the interpreters of HBase's client, which say how a value is read, added and written.
//!
//! | interpreter | value of a cell | in answers |
//! |---|---|---|
//! | LongColumnInterpreter | 8 bytes, big-endian; others count for nothing | `LongMsg`; sums wrap around, as Java's do |
//! | DoubleColumnInterpreter | 8 bytes, IEEE 754; others count for nothing | `DoubleMsg` |
//! | BigDecimalColumnInterpreter | `i32` scale, unscaled two's complement; rounded half to even to two digits behind the point | `BigDecimalMsg`, in the same form |

use crate::error::Fault;
use bytes::Bytes;
use martite_proto as pb;
use num_bigint::{BigInt, Sign};
use pb::Message;
use std::cmp::Ordering;

const PACKAGE: &str = "org.apache.hadoop.hbase.client.coprocessor.";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interpreter {
    Long,
    Double,
    BigDecimal,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Number {
    Long(i64),
    Double(f64),
    /// Hundredths.
    BigDecimal(BigInt),
}

/// Digits behind the point that decimal numbers are rounded to.
const SCALE: i32 = 2;
/// A scale further from zero makes numbers that no value has room for.
const LARGEST_SCALE: i32 = 10_000;

impl Interpreter {
    pub(super) fn of_class(class: &str) -> Result<Interpreter, Fault> {
        match class.strip_prefix(PACKAGE) {
            Some("LongColumnInterpreter") => Ok(Interpreter::Long),
            Some("DoubleColumnInterpreter") => Ok(Interpreter::Double),
            Some("BigDecimalColumnInterpreter") => Ok(Interpreter::BigDecimal),
            _ => Err(Fault::do_not_retry(format!(
                "java.lang.ClassNotFoundException: {class}: Long-, Double- and BigDecimalColumnInterpreter are built in"
            ))),
        }
    }

    /// The number in a cell; None: it has another length, and counts for nothing.
    pub(super) fn read(self, value: &[u8]) -> Result<Option<Number>, Fault> {
        let eight = value.first_chunk::<8>().filter(|_| value.len() == 8);
        match self {
            Interpreter::Long => Ok(eight.map(|bytes| Number::Long(i64::from_be_bytes(*bytes)))),
            Interpreter::Double => Ok(eight.map(|bytes| Number::Double(f64::from_be_bytes(*bytes)))),
            Interpreter::BigDecimal => hundredths(value).map(|number| Some(Number::BigDecimal(number))),
        }
    }

    /// What stands for "no weights" in the answer to GetMedian: the least value of Java's type.
    pub(super) fn least(self) -> Bytes {
        match self {
            Interpreter::Long => Number::Long(i64::MIN).to_message(),
            // The least above zero.
            Interpreter::Double => Number::Double(f64::from_bits(1)).to_message(),
            // 4.9E-324.
            Interpreter::BigDecimal => decimal_message(325, &BigInt::from(49)),
        }
    }

    pub(super) fn zero(self) -> Number {
        match self {
            Interpreter::Long => Number::Long(0),
            Interpreter::Double => Number::Double(0.0),
            Interpreter::BigDecimal => Number::BigDecimal(BigInt::ZERO),
        }
    }
}

/// A decimal number as a cell has it, rounded.
fn hundredths(value: &[u8]) -> Result<BigInt, Fault> {
    let bad = |why: &str| Fault::do_not_retry(format!("a cell's value is no BigDecimal: {why}"));
    let (scale, unscaled) = value
        .split_first_chunk::<4>()
        .filter(|(_, rest)| !rest.is_empty())
        .ok_or_else(|| bad("it has fewer than 5 bytes"))?;
    let scale = i32::from_be_bytes(*scale);
    if scale.unsigned_abs() > LARGEST_SCALE as u32 {
        return Err(bad("its scale is beyond 10000"));
    }
    Ok(rescaled(BigInt::from_signed_bytes_be(unscaled), scale))
}

/// A number with so many digits behind the point, rounded to two: half to even.
fn rescaled(unscaled: BigInt, scale: i32) -> BigInt {
    let ten = |digits: i32| BigInt::from(10u8).pow(digits.unsigned_abs());
    if scale <= SCALE {
        return unscaled * ten(SCALE - scale);
    }
    let unit = ten(scale - SCALE);
    let (quotient, rest) = (&unscaled / &unit, &unscaled % &unit);
    let is_up = match (rest.magnitude() * 2u8).cmp(unit.magnitude()) {
        Ordering::Less => false,
        Ordering::Equal => quotient.bit(0),
        Ordering::Greater => true,
    };
    match (is_up, unscaled.sign()) {
        (false, _) => quotient,
        (true, Sign::Minus) => quotient - 1,
        (true, _) => quotient + 1,
    }
}

impl Number {
    /// Both are of one interpreter.
    pub(super) fn plus(&self, other: &Number) -> Number {
        match (self, other) {
            (Number::Long(a), Number::Long(b)) => Number::Long(a.wrapping_add(*b)),
            (Number::Double(a), Number::Double(b)) => Number::Double(a + b),
            (Number::BigDecimal(a), Number::BigDecimal(b)) => Number::BigDecimal(a + b),
            _ => self.clone(),
        }
    }

    pub(super) fn squared(&self) -> Number {
        match self {
            Number::Long(a) => Number::Long(a.wrapping_mul(*a)),
            Number::Double(a) => Number::Double(a * a),
            Number::BigDecimal(a) => Number::BigDecimal(rescaled(a * a, 2 * SCALE)),
        }
    }

    /// Java's order: NaN is above all, −0 below 0.
    pub(super) fn compare(&self, other: &Number) -> Ordering {
        match (self, other) {
            (Number::Long(a), Number::Long(b)) => a.cmp(b),
            (Number::Double(a), Number::Double(b)) => match (a.is_nan(), b.is_nan()) {
                (false, false) => a.total_cmp(b),
                (a, b) => a.cmp(&b),
            },
            (Number::BigDecimal(a), Number::BigDecimal(b)) => a.cmp(b),
            _ => Ordering::Equal,
        }
    }

    pub(super) fn to_message(&self) -> Bytes {
        match self {
            Number::Long(long_msg) => pb::LongMsg { long_msg: *long_msg }.encode_to_vec().into(),
            Number::Double(double_msg) => pb::DoubleMsg { double_msg: *double_msg }.encode_to_vec().into(),
            Number::BigDecimal(hundredths) => decimal_message(SCALE, hundredths),
        }
    }
}

fn decimal_message(scale: i32, unscaled: &BigInt) -> Bytes {
    let bigdecimal_msg = [&scale.to_be_bytes()[..], &unscaled.to_signed_bytes_be()].concat().into();
    pb::BigDecimalMsg { bigdecimal_msg }.encode_to_vec().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(scale: i32, unscaled: i64) -> Number {
        let value = [&scale.to_be_bytes()[..], &BigInt::from(unscaled).to_signed_bytes_be()].concat();
        Interpreter::BigDecimal.read(&value).unwrap().unwrap()
    }

    fn hundredths_of(number: &Number) -> i64 {
        let Number::BigDecimal(hundredths) = number else { panic!("{number:?}") };
        hundredths.try_into().unwrap()
    }

    #[test]
    fn values_of_another_length_count_for_nothing() {
        for interpreter in [Interpreter::Long, Interpreter::Double] {
            for value in [&b""[..], b"1234567", b"123456789"] {
                assert_eq!(interpreter.read(value).unwrap(), None);
            }
        }
        let long = |value: i64| Interpreter::Long.read(&value.to_be_bytes()).unwrap();
        assert_eq!((long(-5), long(i64::MAX)), (Some(Number::Long(-5)), Some(Number::Long(i64::MAX))));
        assert_eq!(Interpreter::Double.read(&1.5f64.to_be_bytes()).unwrap(), Some(Number::Double(1.5)));
    }

    /// Expected values: java.math.BigDecimal.setScale(2, RoundingMode.HALF_EVEN).
    #[test]
    fn decimals_are_rounded_half_to_even() {
        for (scale, unscaled, expected) in [
            (0, 7, 700),
            (-3, 7, 700_000),
            (2, -123, -123),
            (3, 1005, 100),
            (3, 1015, 102),
            (3, -1005, -100),
            (3, -1015, -102),
            (3, 1016, 102),
            (3, -1014, -101),
            (4, 10051, 101),
            (400, i64::MAX, 0),
        ] {
            assert_eq!(hundredths_of(&decimal(scale, unscaled)), expected, "{unscaled}E-{scale}");
        }
        for value in [&b""[..], b"1234", &[0x7f, 0xff, 0xff, 0xff, 1], &[0x80, 0, 0, 0, 1]] {
            assert!(Interpreter::BigDecimal.read(value).unwrap_err().message.contains("no BigDecimal"), "{value:?}");
        }
    }

    #[test]
    fn sums_and_squares_are_javas() {
        assert_eq!(Number::Long(i64::MAX).plus(&Number::Long(1)), Number::Long(i64::MIN));
        assert_eq!(Number::Long(1 << 32).squared(), Number::Long(0));
        assert_eq!(Number::Double(0.5).plus(&Number::Double(0.25)), Number::Double(0.75));
        assert_eq!(hundredths_of(&decimal(2, 150).plus(&decimal(1, -3))), 120);
        // 0.05² = 0.0025, 0.15² = 0.0225, 1.05² = 1.1025.
        assert_eq!([5, 15, 105].map(|unscaled| hundredths_of(&decimal(2, unscaled).squared())), [0, 2, 110]);
    }

    #[test]
    fn doubles_have_javas_order() {
        let ordered = [f64::NEG_INFINITY, -1.0, -0.0, 0.0, 1.0, f64::INFINITY, f64::NAN];
        for (n, a) in ordered.iter().enumerate() {
            for (m, b) in ordered.iter().enumerate() {
                assert_eq!(Number::Double(*a).compare(&Number::Double(*b)), n.cmp(&m), "{a} and {b}");
            }
        }
        assert_eq!(Number::Double(-f64::NAN).compare(&Number::Double(f64::INFINITY)), Ordering::Greater);
    }

    #[test]
    fn answers_are_hbases_messages() {
        assert_eq!(&Number::Long(3).to_message()[..], [8, 3]);
        assert_eq!(&Number::Double(1.0).to_message()[..], [9, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
        assert_eq!(&decimal(2, 200).to_message()[..], [10, 6, 0, 0, 0, 2, 0, 200]);
        assert_eq!(&Interpreter::BigDecimal.least()[..], [10, 5, 0, 0, 1, 69, 49]);
    }

    #[test]
    fn an_unknown_interpreter_is_named() {
        let fault = Interpreter::of_class("com.example.Mine").unwrap_err();
        assert!(fault.do_not_retry && fault.message.contains("com.example.Mine"), "{}", fault.message);
    }
}
