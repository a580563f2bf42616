//! Methods of integers and floats.

use super::Asked;
use crate::language::evaluate::{Host, Interpreter};
use crate::language::value::{Outcome, Raise, Value};

pub fn call<H: Host>(interpreter: &mut Interpreter<H>, object: &Value, asked: &Asked<'_>) -> Outcome<Option<Value>> {
    if let Value::Integer(number) = object
        && let Some(value) = integer(interpreter, *number, asked)?
    {
        return Ok(Some(value));
    }
    let number = match object {
        Value::Integer(i) => *i as f64,
        Value::Float(f) => *f,
        _ => return Ok(None),
    };
    let whole = |f: f64| Value::Integer(f as i64);
    Ok(Some(match asked.name {
        "to_f" => Value::Float(number),
        "to_i" | "to_int" | "truncate" => whole(number.trunc()),
        "floor" => whole(number.floor()),
        "ceil" => whole(number.ceil()),
        "round" => match asked.integer(0, 0)? {
            0 => whole(number.round()),
            digits => {
                let scale = 10f64.powi(digits.clamp(-300, 300) as i32);
                Value::Float((number * scale).round() / scale)
            }
        },
        "abs" => Value::Float(number.abs()),
        "zero?" => Value::Bool(number == 0.0),
        "positive?" => Value::Bool(number > 0.0),
        "negative?" => Value::Bool(number < 0.0),
        "nan?" => Value::Bool(number.is_nan()),
        "between?" => {
            asked.arity(2, 2)?;
            let low = object.compare(&asked.arguments[0]).is_some_and(|o| o.is_ge());
            Value::Bool(low && object.compare(&asked.arguments[1]).is_some_and(|o| o.is_le()))
        }
        "clamp" => {
            asked.arity(2, 2)?;
            let (low, high) = (&asked.arguments[0], &asked.arguments[1]);
            if object.compare(low).is_some_and(|o| o.is_lt()) {
                low.clone()
            } else if object.compare(high).is_some_and(|o| o.is_gt()) {
                high.clone()
            } else {
                object.clone()
            }
        }
        "divmod" => {
            let divisor = asked.first()?;
            let quotient = crate::language::operators::binary("/", object, divisor)?;
            Value::array(vec![quotient, crate::language::operators::binary("%", object, divisor)?])
        }
        _ => return Ok(None),
    }))
}

fn integer<H: Host>(interpreter: &mut Interpreter<H>, number: i64, asked: &Asked<'_>) -> Outcome<Option<Value>> {
    let me = Value::Integer(number);
    Ok(Some(match asked.name {
        "times" => {
            for i in 0..number {
                interpreter.yield_to(asked.block()?, vec![Value::Integer(i)])?;
            }
            me
        }
        "upto" | "downto" => {
            let end = asked.integer(0, number)?;
            let mut i = number;
            while if asked.name == "upto" { i <= end } else { i >= end } {
                interpreter.yield_to(asked.block()?, vec![Value::Integer(i)])?;
                i += if asked.name == "upto" { 1 } else { -1 };
            }
            me
        }
        "step" => {
            asked.arity(1, 2)?;
            let (end, step) = (asked.integer(0, number)?, asked.integer(1, 1)?);
            if step == 0 {
                return Err(Raise::argument("step can't be 0").into());
            }
            let mut i = number;
            while if step > 0 { i <= end } else { i >= end } {
                interpreter.yield_to(asked.block()?, vec![Value::Integer(i)])?;
                i = i.saturating_add(step);
            }
            me
        }
        "to_s" | "inspect" => match asked.integer(0, 10)? {
            10 => Value::text(number.to_string()),
            radix @ 2..=36 => Value::text(in_radix(number, radix as u64)),
            radix => return Err(Raise::argument(format!("invalid radix {radix}")).into()),
        },
        "to_i" | "to_int" | "floor" | "ceil" | "round" | "truncate" | "ord" => me,
        "chr" => match u8::try_from(number) {
            Ok(byte) => Value::text([byte]),
            Err(_) => return Err(Raise::new("RangeError", format!("{number} out of char range")).into()),
        },
        "abs" => Value::Integer(number.wrapping_abs()),
        "even?" => Value::Bool(number % 2 == 0),
        "odd?" => Value::Bool(number % 2 != 0),
        "succ" | "next" => Value::Integer(number.wrapping_add(1)),
        "pred" => Value::Integer(number.wrapping_sub(1)),
        "bit_length" => Value::Integer(i64::from(64 - number.unsigned_abs().leading_zeros())),
        "fdiv" => match asked.first()? {
            Value::Integer(by) => Value::Float(number as f64 / *by as f64),
            Value::Float(by) => Value::Float(number as f64 / by),
            _ => return Ok(None),
        },
        "gcd" => {
            let (mut a, mut b) = (number.unsigned_abs(), asked.integer(0, 0)?.unsigned_abs());
            while b != 0 {
                (a, b) = (b, a % b);
            }
            Value::Integer(a as i64)
        }
        "digits" => {
            let digits = number.unsigned_abs().to_string();
            Value::array(digits.bytes().rev().map(|d| Value::Integer(i64::from(d - b'0'))).collect())
        }
        _ => return Ok(None),
    }))
}

fn in_radix(number: i64, radix: u64) -> String {
    let mut digits = Vec::new();
    let mut rest = number.unsigned_abs();
    while rest > 0 || digits.is_empty() {
        digits.push(char::from_digit((rest % radix) as u32, radix as u32).unwrap_or('0'));
        rest /= radix;
    }
    if number < 0 {
        digits.push('-');
    }
    digits.iter().rev().collect()
}
