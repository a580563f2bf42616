//! [`Columns`]: what each column of a line is, and lines made into Puts.
//!
//! ```text
//! HBASE_ROW_KEY,f:name,f,HBASE_TS_KEY         row key; column name of f; column without a name of f; timestamp
//! row1 \t Ann \t x \t 1700000000000
//! ```

use crate::Error;
use martite_catalog::FamilyDescriptor;
use martite_client::Put;
use std::collections::BTreeSet;

const ROW_KEY: &str = "HBASE_ROW_KEY";
const TIMESTAMP: &str = "HBASE_TS_KEY";
const ATTRIBUTES: &str = "HBASE_ATTRIBUTES_KEY";
const TTL: &str = "HBASE_CELL_TTL";
const VISIBILITY: &str = "HBASE_CELL_VISIBILITY";
/// Between the name of an attribute and its value.
const OF: &str = "=>";

#[derive(Debug, Clone, PartialEq, Eq)]
enum Column {
    RowKey,
    Timestamp,
    Attributes,
    Ttl,
    Cell { family: String, qualifier: String },
}

#[derive(Debug, Clone)]
pub struct Columns {
    columns: Vec<Column>,
    separator: u8,
}

/// What holds for every line.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    pub timestamp: u64,
    pub skip_empty_columns: bool,
}

impl Columns {
    pub fn new(names: &str, separator: &str) -> Result<Columns, Error> {
        let [separator] = separator.as_bytes() else {
            return Err(Error::Wrong(format!("TsvParser only supports single-byte separators, not {separator:?}")));
        };
        let columns = names.split(',').map(|name| column(name.trim())).collect::<Result<Vec<_>, Error>>()?;
        let count = |of: &Column| columns.iter().filter(|column| *column == of).count();
        let wrong = if count(&Column::RowKey) != 1 {
            format!("Must specify exactly one column as {ROW_KEY}")
        } else if let Some((_, name)) =
            [(Column::Timestamp, TIMESTAMP), (Column::Attributes, ATTRIBUTES), (Column::Ttl, TTL)]
                .iter()
                .find(|(column, _)| count(column) > 1)
        {
            format!("Must specify at most one column as {name}")
        } else if !columns.iter().any(|column| matches!(column, Column::Cell { .. })) {
            "One or more columns in addition to the row key and timestamp(optional) are required".to_owned()
        } else {
            return Ok(Columns { columns, separator: *separator });
        };
        Err(Error::Wrong(wrong))
    }

    pub fn families(&self) -> BTreeSet<&str> {
        let mut families = BTreeSet::new();
        for column in &self.columns {
            if let Column::Cell { family, .. } = column {
                families.insert(family.as_str());
            }
        }
        families
    }

    /// The Put of a line, or why the line is bad.
    pub fn put(&self, line: &[u8], rule: Rule) -> Result<Put, String> {
        let parts: Vec<&[u8]> = line.split(|byte| *byte == self.separator).collect();
        if parts.len() == 1 {
            return Err("No delimiter".to_owned());
        }
        if parts.len() > self.columns.len() {
            return Err("Excessive columns".to_owned());
        }
        // Columns at the end of a line may be missing, if they are cells.
        let of = |wanted: &Column, missing: &str| match self.columns.iter().position(|column| column == wanted) {
            None => Ok(None),
            Some(at) => parts.get(at).copied().map(Some).ok_or_else(|| missing.to_owned()),
        };
        let key = of(&Column::RowKey, "No row key")?.unwrap_or_default();
        if key.is_empty() {
            return Err("Empty value for ROW KEY.".to_owned());
        }
        let timestamp = match of(&Column::Timestamp, "No timestamp")? {
            None => rule.timestamp,
            Some(text) => number(text).ok_or_else(|| format!("Invalid timestamp {}", String::from_utf8_lossy(text)))?,
        };
        let attributes = of(&Column::Attributes, "No attributes specified")?;
        let ttl = of(&Column::Ttl, "No cell TTL specified")?;
        let mut put = Put::row(key).at(timestamp);
        for (column, value) in self.columns.iter().zip(&parts) {
            if let Column::Cell { family, qualifier } = column
                && !(rule.skip_empty_columns && value.is_empty())
            {
                put.add(family, qualifier, value);
            }
        }
        if let Some(text) = ttl {
            let ms = number(text).ok_or_else(|| format!("Invalid cell TTL {}", String::from_utf8_lossy(text)))?;
            put = if ms > 0 { put.ttl_ms(ms) } else { put };
        }
        match attributes {
            None => Ok(put),
            Some(text) => with_attributes(put, text),
        }
    }
}

fn column(name: &str) -> Result<Column, Error> {
    match name {
        ROW_KEY => Ok(Column::RowKey),
        TIMESTAMP => Ok(Column::Timestamp),
        ATTRIBUTES => Ok(Column::Attributes),
        TTL => Ok(Column::Ttl),
        VISIBILITY => Err(Error::Wrong(format!("{VISIBILITY}: there are no visibility labels"))),
        "" => Err(Error::Wrong("a column has no name".to_owned())),
        _ => {
            let (family, qualifier) = name.split_once(':').unwrap_or((name, ""));
            FamilyDescriptor::new(family).check().map_err(martite_client::Error::from)?;
            Ok(Column::Cell { family: family.to_owned(), qualifier: qualifier.to_owned() })
        }
    }
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse::<i64>().ok().and_then(|number| u64::try_from(number).ok())
}

/// `name=>value,name=>value`
fn with_attributes(mut put: Put, text: &[u8]) -> Result<Put, String> {
    let text = String::from_utf8_lossy(text);
    for pair in text.split(',').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once(OF).ok_or_else(|| format!("Invalid attribute {pair}"))?;
        put = put.attribute(name.trim(), value.trim().to_owned().into_bytes());
    }
    Ok(put)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule { timestamp: 5, skip_empty_columns: false };

    fn columns(names: &str) -> Columns {
        Columns::new(names, ",").unwrap()
    }

    #[test]
    fn a_line_becomes_a_put() {
        let put = columns("f:a,HBASE_ROW_KEY,f,g:x:y").put(b"1,row,,3", RULE).unwrap();
        let want = Put::row("row").at(5).column("f", "a", "1").column("f", "", "").column("g", "x:y", "3");
        assert_eq!(put, want);
        // Cells at the end may be missing, empty ones left out.
        let short = columns("HBASE_ROW_KEY,f:a,f:b").put(b"row,", Rule { skip_empty_columns: true, ..RULE }).unwrap();
        assert_eq!(short, Put::row("row").at(5));
        assert_eq!(columns("HBASE_ROW_KEY,f:a,g").families(), BTreeSet::from(["f", "g"]));
    }

    #[test]
    fn a_line_may_have_its_own_time_ttl_and_attributes() {
        let all = columns("HBASE_ROW_KEY,f:a,HBASE_TS_KEY,HBASE_CELL_TTL,HBASE_ATTRIBUTES_KEY");
        let put = Columns { separator: b';', ..all }.put(b"r;v;7;900;a=>1,b => 2", RULE).unwrap();
        let want = Put::row("r").at(7).column("f", "a", "v").ttl_ms(900);
        assert_eq!(put, want.attribute("a", &b"1"[..]).attribute("b", &b"2"[..]));
    }

    #[test]
    fn bad_lines_say_why() {
        let all = columns("f:a,HBASE_ROW_KEY,HBASE_TS_KEY");
        for (line, why) in [
            ("", "No delimiter"),
            ("one", "No delimiter"),
            ("a,b,1,d", "Excessive columns"),
            ("a,b", "No timestamp"),
            ("a,,1", "Empty value for ROW KEY."),
            ("a,b,x", "Invalid timestamp x"),
            ("a,b,-1", "Invalid timestamp -1"),
        ] {
            assert_eq!(all.put(line.as_bytes(), RULE).unwrap_err(), why, "{line}");
        }
        let late = columns("f:a,f:b,HBASE_ROW_KEY");
        assert_eq!(late.put(b"a,b", RULE).unwrap_err(), "No row key");
        let more = columns("HBASE_ROW_KEY,f:a,HBASE_CELL_TTL,HBASE_ATTRIBUTES_KEY");
        assert_eq!(more.put(b"r,a,soon,x=>1", RULE).unwrap_err(), "Invalid cell TTL soon");
        assert_eq!(more.put(b"r,a,1,x", RULE).unwrap_err(), "Invalid attribute x");
        assert_eq!(more.put(b"r,a,1", RULE).unwrap_err(), "No attributes specified");
    }

    #[test]
    fn wrong_columns_are_named() {
        for (names, named) in [
            ("f:a", "exactly one column as HBASE_ROW_KEY"),
            ("HBASE_ROW_KEY,HBASE_ROW_KEY,f:a", "exactly one"),
            ("HBASE_ROW_KEY,HBASE_TS_KEY,HBASE_TS_KEY,f", "at most one column as HBASE_TS_KEY"),
            ("HBASE_ROW_KEY,HBASE_TS_KEY", "in addition to the row key"),
            ("HBASE_ROW_KEY,HBASE_CELL_VISIBILITY,f", "HBASE_CELL_VISIBILITY"),
            ("HBASE_ROW_KEY,", "no name"),
        ] {
            let told = Columns::new(names, ",").unwrap_err().to_string();
            assert!(told.contains(named), "{names}: {told}");
        }
    }
}
