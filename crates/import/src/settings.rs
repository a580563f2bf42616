//! [`Settings`]: what `-D` and hbase-site.xml say.

use crate::columns::Columns;
use crate::{Error, ImportTsv};
use martite_catalog::TableName;
use martite_client::Options;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Options of ImportTsv that are not here, and why.
const REFUSED: [(&str, &str); 3] = [
    ("importtsv.bulk.output", "files for a bulk load are not written; rows are put into the table"),
    ("importtsv.mapper.class", "there are no mappers"),
    ("credentials_location", "there are no credentials"),
];

#[derive(Debug)]
pub struct Settings {
    pub table: TableName,
    pub columns: Columns,
    /// Of all cells, unless lines have their own.
    pub timestamp: u64,
    pub skip_bad_lines: bool,
    pub log_bad_lines: bool,
    pub skip_empty_columns: bool,
    pub dry_run: bool,
    /// A table that is not there is made.
    pub create_table: bool,
    /// Families need not be the table's.
    pub no_strict: bool,
    pub connection: Options,
}

impl Settings {
    pub fn new(import: &ImportTsv) -> Result<Settings, Error> {
        let mut defines = Vec::new();
        for define in &import.define {
            let pair = define.split_once('=');
            defines.push(pair.ok_or_else(|| Error::Wrong(format!("-D{define}: expected NAME=VALUE")))?);
        }
        let folder = import.conf.clone().or_else(|| std::env::var_os("HBASE_CONF_DIR").map(Into::into));
        let site = folder.map_or_else(|| Ok(Vec::new()), |folder| site(&folder, import.conf.is_some()))?;
        let pairs = site.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(defines.iter().copied());
        let connection = Options::from_site(pairs)?;
        let get = |name: &str| defines.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| *value);
        check_names(&defines)?;
        let flag = |name: &str, default: bool| match get(name).map(str::trim) {
            None => Ok(default),
            Some(value) if value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("yes") => Ok(true),
            Some(value) if value.eq_ignore_ascii_case("false") || value.eq_ignore_ascii_case("no") => Ok(false),
            Some(value) => Err(Error::Wrong(format!("-D{name}={value}: neither true nor false"))),
        };
        let columns = get("importtsv.columns").ok_or_else(|| {
            Error::Wrong("No columns specified. Please specify with -Dimporttsv.columns=...".to_owned())
        })?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        // As HBase does with what is no number.
        let timestamp = get("importtsv.timestamp").and_then(|text| text.parse().ok()).unwrap_or(now);
        Ok(Settings {
            table: import.table.parse().map_err(martite_client::Error::from)?,
            columns: Columns::new(columns, get("importtsv.separator").unwrap_or("\t"))?,
            timestamp,
            skip_bad_lines: flag("importtsv.skip.bad.lines", true)?,
            log_bad_lines: flag("importtsv.log.bad.lines", false)?,
            skip_empty_columns: flag("importtsv.skip.empty.columns", false)?,
            dry_run: flag("importtsv.dry.run", false)?,
            create_table: flag("create.table", false)?,
            no_strict: flag("no.strict", false)?,
            connection,
        })
    }
}

/// Names that begin as ImportTsv's do are known, or refused.
fn check_names(defines: &[(&str, &str)]) -> Result<(), Error> {
    let known = [
        "columns",
        "separator",
        "timestamp",
        "skip.bad.lines",
        "log.bad.lines",
        "skip.empty.columns",
        "dry.run",
        // Of a job that there is not.
        "job.name",
    ];
    for (name, _) in defines {
        if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| refused == name) {
            return Err(Error::Wrong(format!("-D{name}: {why}")));
        }
        if let Some(own) = name.strip_prefix("importtsv.")
            && !known.contains(&own)
        {
            return Err(Error::Wrong(format!("-D{name}: there is no such option")));
        }
    }
    Ok(())
}

/// The settings of a folder's hbase-site.xml; none if it is not there and nobody has named the folder.
fn site(folder: &Path, named: bool) -> Result<Vec<(String, String)>, Error> {
    let file = folder.join("hbase-site.xml");
    let text = match std::fs::read_to_string(&file) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && !named => return Ok(Vec::new()),
        Err(source) => return Err(Error::File { path: file.display().to_string(), source }),
        Ok(text) => text,
    };
    let properties = martite_config::parse_site(&file.display().to_string(), &text);
    let properties = properties.map_err(|e| Error::Wrong(e.to_string()))?;
    Ok(properties.into_iter().map(|property| (property.name, property.value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(defines: &[&str]) -> Result<Settings, Error> {
        let define = defines.iter().map(|define| (*define).to_owned()).collect();
        Settings::new(&ImportTsv { define, conf: None, table: "ns:t".to_owned(), paths: Vec::new() })
    }

    const COLUMNS: &str = "importtsv.columns=HBASE_ROW_KEY,f:a";

    #[test]
    fn settings_have_hbase_s_names_and_defaults() {
        let plain = settings(&[COLUMNS]).unwrap();
        assert!(plain.skip_bad_lines && !plain.log_bad_lines && !plain.dry_run && !plain.create_table);
        assert!(plain.timestamp > 1_600_000_000_000);
        let all = settings(&[
            COLUMNS,
            "importtsv.skip.bad.lines=false",
            "importtsv.timestamp=77",
            "create.table=YES",
            "hbase.zookeeper.quorum=h:1",
            "importtsv.job.name=x",
        ])
        .unwrap();
        assert_eq!((all.skip_bad_lines, all.timestamp, all.create_table), (false, 77, true));
        assert_eq!(all.connection.registry, martite_client::Registry::zookeeper("h:1"));
        let now = settings(&[COLUMNS, "importtsv.timestamp=soon"]).unwrap().timestamp;
        assert!(now > 1_600_000_000_000);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (defines, named) in [
            (&[][..], "importtsv.columns"),
            (&["x"], "-Dx"),
            (&[COLUMNS, "importtsv.bulk.output=/x"], "importtsv.bulk.output"),
            (&[COLUMNS, "importtsv.colour=red"], "importtsv.colour"),
            (&[COLUMNS, "importtsv.dry.run=maybe"], "maybe"),
            (&[COLUMNS, "importtsv.separator=ab"], "single-byte"),
        ] {
            let told = settings(defines).unwrap_err().to_string();
            assert!(told.contains(named), "{defines:?}: {told}");
        }
    }
}
