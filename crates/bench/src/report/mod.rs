//! The report in three forms: a table for the terminal, JSON for programs, HTML for people.

mod flame;
pub mod frame;
mod html;
pub mod svg;
mod text;
mod work;

use crate::Error;
use serde::Serialize;
use std::path::{Path, PathBuf};

pub use html::page;
pub use text::{compared, estimate, table, text};

/// Writes report.json and report.html into a folder; their paths.
pub fn write(report: &impl Serialize, page: String, folder: &Path) -> Result<[PathBuf; 2], Error> {
    let html = folder.join("report.html");
    std::fs::write(&html, page).map_err(Error::file(&html))?;
    Ok([write_json(report, folder)?, html])
}

/// Writes report.json alone.
pub fn write_json(report: &impl Serialize, folder: &Path) -> Result<PathBuf, Error> {
    let json = serde_json::to_string_pretty(report).map_err(|e| Error::Io(e.into()))?;
    let path = folder.join("report.json");
    std::fs::write(&path, json + "\n").map_err(Error::file(&path))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use crate::results::tests::report;

    #[test]
    fn json_has_every_measurement_flat() {
        let folder = tempfile::tempdir().unwrap();
        let [json, html] = super::write(&report(), super::page(&report()), folder.path()).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
        let first = &value["servers"][0]["measurements"][0];
        assert_eq!((first["workload"].as_str(), first["threads"].as_u64()), (Some("get"), Some(1)));
        assert_eq!(first["rows_per_s"].as_f64(), Some(10_000.0));
        assert_eq!(value["servers"][1]["measurements"][0]["server_cpu_us_per_row"], serde_json::Value::Null);
        assert_eq!(value["options"]["servers"][0], "martite");
        assert!(std::fs::read_to_string(html).unwrap().starts_with("<!DOCTYPE html>"));
    }
}
