//! [`Columns`]: how columns are named (`f`, `f:q`, `f:q:toInt`), and how cells are printed.

use crate::failure::{Failure, Run};
use crate::language::{Raise, Value, java};
use bytes::Bytes;
use martite_catalog::{RegionInfo, to_string_binary};
use martite_cell::CellRef;
use std::collections::HashMap;

/// Converters and limits of one read.
#[derive(Debug, Default)]
pub struct Columns {
    /// By `family:qualifier`.
    converters: HashMap<Bytes, String>,
    /// FORMATTER: for all of a cell.
    formatter: Option<String>,
    max_length: Option<usize>,
    is_meta: bool,
    epoch_timestamps: bool,
}

/// Family and qualifier of `f:q`; without a colon there is no qualifier.
pub fn split_column(column: &[u8]) -> (&[u8], Option<&[u8]>) {
    match column.iter().position(|b| *b == b':') {
        Some(at) => (&column[..at], Some(&column[at + 1..])),
        None => (column, None),
    }
}

impl Columns {
    pub fn new(table: &str, epoch_timestamps: bool) -> Columns {
        Columns { is_meta: table == "hbase:meta", epoch_timestamps, ..Columns::default() }
    }

    /// FORMATTER and FORMATTER_CLASS: a method of HBase's `Bytes`.
    pub fn set_formatter(&mut self, class: Option<&str>, method: Option<String>) -> Run<()> {
        if let Some(class) = class {
            check_class(class)?;
        }
        if let Some(method) = &method {
            check_method(method)?;
        }
        self.formatter = method;
        Ok(())
    }

    pub fn set_max_length(&mut self, length: Option<i64>) {
        self.max_length = length.and_then(|length| usize::try_from(length).ok());
    }

    /// Reads `f:q[:converter]`; the converter is kept.
    pub fn parse(&mut self, spec: &Bytes) -> Run<(Bytes, Option<Bytes>)> {
        let (family, qualifier) = split_column(spec);
        let Some(qualifier) = qualifier else { return Ok((spec.slice_ref(family), None)) };
        if let Some(at) = qualifier.iter().rposition(|b| *b == b':') {
            let suffix = String::from_utf8_lossy(&qualifier[at + 1..]).into_owned();
            if let Some(method) = converter(&suffix)? {
                let plain = &qualifier[..at];
                self.converters.insert(column_key(family, plain), method);
                return Ok((spec.slice_ref(family), Some(spec.slice_ref(plain))));
            }
        }
        Ok((spec.slice_ref(family), Some(spec.slice_ref(qualifier))))
    }

    /// The row's key as it is printed.
    pub fn row_text(&self, row: &[u8]) -> Run<String> {
        self.shown(row)
    }

    /// `family:qualifier`.
    pub fn column_text(&self, cell: &CellRef<'_>) -> Run<String> {
        Ok(format!("{}:{}", self.shown(cell.family())?, self.shown(cell.qualifier())?))
    }

    fn shown(&self, bytes: &[u8]) -> Run<String> {
        match &self.formatter {
            None => Ok(to_string_binary(bytes)),
            Some(method) => convert(method, bytes),
        }
    }

    /// `timestamp=…, value=…`, or for a delete marker `timestamp=…, type=…`.
    pub fn cell_text(&self, cell: &CellRef<'_>) -> Run<String> {
        let timestamp = self.timestamp_text(cell.timestamp());
        if self.is_meta
            && cell.family() == b"info"
            && let Some(value) = meta_value(cell)
        {
            return Ok(format!("timestamp={timestamp}, value={value}"));
        }
        let text = if cell.is_delete() {
            format!("timestamp={timestamp}, type={}", type_name(cell.type_code()))
        } else {
            let converter = self.converters.get(&column_key(cell.family(), cell.qualifier()));
            let value = match converter {
                Some(method) => convert(method, cell.value)?,
                None => self.shown(cell.value)?,
            };
            format!("timestamp={timestamp}, value={value}")
        };
        Ok(match self.max_length {
            Some(length) => text.chars().take(length).collect(),
            None => text,
        })
    }

    fn timestamp_text(&self, ms: u64) -> String {
        if self.epoch_timestamps { (ms as i64).to_string() } else { local_date_time(ms as i64) }
    }
}

fn column_key(family: &[u8], qualifier: &[u8]) -> Bytes {
    [family, b":", qualifier].concat().into()
}

/// The method that a column's suffix names: `toInt`, or `c(Class).toInt`; None: it is part of the qualifier.
fn converter(suffix: &str) -> Run<Option<String>> {
    if let Some(rest) = suffix.strip_prefix("c(")
        && let Some((class, method)) = rest.rsplit_once(").")
        && !class.is_empty()
        && !method.is_empty()
    {
        check_class(class)?;
        check_method(method)?;
        return Ok(Some(method.to_owned()));
    }
    Ok(java::convert(suffix, &[]).is_some().then(|| suffix.to_owned()))
}

fn check_class(class: &str) -> Run<()> {
    if class.rsplit('.').next() == Some("Bytes") {
        return Ok(());
    }
    let message =
        format!("the class {class} is not known to this shell: only org.apache.hadoop.hbase.util.Bytes converts");
    Err(Raise::new("NameError", message).into())
}

fn check_method(method: &str) -> Run<()> {
    match java::convert(method, &[]) {
        Some(_) => Ok(()),
        None => Err(Raise::new("NameError", format!("undefined method `{method}' for class Bytes")).into()),
    }
}

fn convert(method: &str, bytes: &[u8]) -> Run<String> {
    match java::convert(method, bytes) {
        Some(value) => Ok(value.map(|value: Value| value.to_text())?),
        None => Err(Failure::argument(format!("undefined method `{method}' for class Bytes"))),
    }
}

/// Cells of hbase:meta whose values are no text.
fn meta_value(cell: &CellRef<'_>) -> Option<String> {
    let qualifier = cell.qualifier();
    if matches!(qualifier, b"regioninfo" | b"splitA" | b"splitB") || qualifier.starts_with(b"merge") {
        return Some(RegionInfo::from_bytes(cell.value).map(|info| region_text(&info)).unwrap_or_default());
    }
    if qualifier == b"serverstartcode" {
        let code = cell.value.first_chunk::<8>().map(|bytes| i64::from_be_bytes(*bytes).to_string());
        return Some(code.unwrap_or_else(|| to_string_binary(cell.value)));
    }
    None
}

/// A region as HBase prints it.
pub fn region_text(info: &RegionInfo) -> String {
    let mut text = format!(
        "{{ENCODED => {}, NAME => '{}', STARTKEY => '{}', ENDKEY => '{}'",
        info.encoded_name(),
        to_string_binary(info.name()),
        to_string_binary(info.start_key()),
        to_string_binary(info.end_key()),
    );
    if info.is_offline() {
        text.push_str(", OFFLINE => true");
    }
    if info.is_split() {
        text.push_str(", SPLIT => true");
    }
    if info.replica_id() > 0 {
        text.push_str(&format!(", REPLICA_ID => {}", info.replica_id()));
    }
    text.push('}');
    text
}

/// The name of a cell's type.
fn type_name(code: u8) -> &'static str {
    match code {
        4 => "Put",
        8 => "Delete",
        10 => "DeleteFamilyVersion",
        12 => "DeleteColumn",
        14 => "DeleteFamily",
        _ => "Unknown",
    }
}

/// Java's LocalDateTime of a time in the local zone: no seconds where they are zero, ms only where there are some.
pub fn local_date_time(ms: i64) -> String {
    let offset_s =
        jiff::Timestamp::from_millisecond(ms).map_or(0, |at| jiff::tz::TimeZone::system().to_offset(at).seconds());
    let local_ms = i128::from(ms) + i128::from(offset_s) * 1000;
    let (days, ms_of_day) = (local_ms.div_euclid(86_400_000), local_ms.rem_euclid(86_400_000));
    let (year, month, day) = civil(days);
    let (s, ms) = (ms_of_day / 1000, ms_of_day % 1000);
    let year = match year {
        10_000.. => format!("+{year}"),
        0..=9999 => format!("{year:04}"),
        _ => format!("-{:04}", -year),
    };
    let mut text = format!("{year}-{month:02}-{day:02}T{:02}:{:02}", s / 3600, s / 60 % 60);
    if s % 60 != 0 || ms != 0 {
        text.push_str(&format!(":{:02}", s % 60));
    }
    if ms != 0 {
        text.push_str(&format!(".{ms:03}"));
    }
    text
}

/// Year, month, day of a number of days since 1970, in the Gregorian calendar for all time, as Java has it.
fn civil(days: i128) -> (i128, i128, i128) {
    // Years begin in March here, so that the day that some have is their last.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i128::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_cell::OwnedCell;

    #[test]
    fn days_of_the_calendar() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(-1), (1969, 12, 31));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(106_751_991_167), (292_278_994, 8, 17));
        assert!(local_date_time(i64::MAX).starts_with("+292278994-08-1"));
    }

    #[test]
    fn columns_with_and_without_converters() {
        let mut columns = Columns::new("t", true);
        let parse = |columns: &mut Columns, spec: &'static str| {
            let (family, qualifier) = columns.parse(&Bytes::from_static(spec.as_bytes())).unwrap();
            (to_string_binary(&family), qualifier.map(|q| to_string_binary(&q)))
        };
        assert_eq!(parse(&mut columns, "f"), ("f".into(), None));
        assert_eq!(parse(&mut columns, "f:"), ("f".into(), Some(String::new())));
        assert_eq!(parse(&mut columns, "f:a:b"), ("f".into(), Some("a:b".into())));
        assert_eq!(parse(&mut columns, "f:q:toInt"), ("f".into(), Some("q".into())));
        let bytes = "f:p:c(org.apache.hadoop.hbase.util.Bytes).toLong";
        assert_eq!(parse(&mut columns, bytes), ("f".into(), Some("p".into())));
        let text = |columns: &Columns, q: &[u8], value: &[u8]| {
            columns.cell_text(&OwnedCell::put(b"r", b"f", q, 5, value).as_ref()).unwrap()
        };
        assert_eq!(text(&columns, b"q", &[0, 0, 1, 0]), "timestamp=5, value=256");
        assert_eq!(text(&columns, b"p", &7i64.to_be_bytes()), "timestamp=5, value=7");
        assert_eq!(text(&columns, b"x", b"a\0"), "timestamp=5, value=a\\x00");
        columns.set_max_length(Some(16));
        assert_eq!(text(&columns, b"x", b"abcdefgh"), "timestamp=5, val");
        assert!(columns.parse(&Bytes::from_static(b"f:q:c(My).format")).is_err());
    }
}
