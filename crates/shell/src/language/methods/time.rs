//! Methods of `Time` and of what `Time.now` gives.

use super::Asked;
use crate::language::value::{Raise, Value};
use jiff::Timestamp;

pub fn of_class(asked: &Asked<'_>) -> Result<Option<Value>, Raise> {
    Ok(Some(match asked.name {
        "now" | "new" if asked.arguments.is_empty() => Value::Time(Timestamp::now().as_nanosecond()),
        "at" => match asked.first()? {
            Value::Integer(s) => Value::Time(i128::from(*s) * 1_000_000_000),
            Value::Float(s) => Value::Time((s * 1e9) as i128),
            other => return Err(Raise::of_type(format!("can't convert {} into an exact number", other.class()))),
        },
        _ => return Ok(None),
    }))
}

pub fn call(ns: i128, asked: &Asked<'_>) -> Result<Option<Value>, Raise> {
    let at = Timestamp::from_nanosecond(ns).map_err(|e| Raise::argument(e.to_string()))?;
    let zoned = || at.to_zoned(jiff::tz::TimeZone::system());
    let whole = |n: i64| Value::Integer(n);
    Ok(Some(match asked.name {
        "to_i" => whole(ns.div_euclid(1_000_000_000) as i64),
        "to_f" => Value::Float(ns as f64 / 1e9),
        "strftime" => Value::text(zoned().strftime(&asked.text(0, "")?).to_string()),
        "year" => whole(i64::from(zoned().year())),
        "month" | "mon" => whole(i64::from(zoned().month())),
        "day" | "mday" => whole(i64::from(zoned().day())),
        "hour" => whole(i64::from(zoned().hour())),
        "min" => whole(i64::from(zoned().minute())),
        "sec" => whole(i64::from(zoned().second())),
        "usec" => whole((ns.rem_euclid(1_000_000_000) / 1000) as i64),
        "nsec" => whole(ns.rem_euclid(1_000_000_000) as i64),
        _ => return Ok(None),
    }))
}
