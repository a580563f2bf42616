//! The command line of `martite ycsb`, in YCSB's words: options are long and have one dash.

use super::properties::Properties;
use crate::Error;
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Args)]
pub struct Ycsb {
    /// (load | run) [hbase2 | basic] [options]
    ///
    /// hbase2 (the default; hbase1 and hbase20 are the same) asks an HBase cluster, basic only tells what it would ask.
    ///
    ///   -P FILE        properties from a file, such as workloads/workloada; several are read in order
    ///   -p NAME=VALUE  a property, which replaces that of a file
    ///   -threads N     client threads (threadcount), each with one operation under way [default: 1]
    ///   -target N      operations a second of all threads (target) [default: as many as possible]
    ///   -s             a line of status each status.interval seconds (10), to standard error
    ///   -l LABEL       put before each line of status
    ///   -cp DIR[:DIR]  folders with an hbase-site.xml
    ///
    /// Properties that must be given: workload (of a file), recordcount, operationcount (run), columnfamily (hbase2).
    /// docs/ycsb.md has them all.
    #[arg(
        value_name = "WORD",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true,
        verbatim_doc_comment
    )]
    pub words: Vec<String>,
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    Basic,
    HBase,
}

#[derive(Debug)]
pub struct Line {
    pub binding: Binding,
    pub properties: Properties,
    /// Folders with hbase-site.xml.
    pub folders: Vec<PathBuf>,
    /// The words as they were given.
    pub told: String,
}

fn binding(name: &str) -> Option<Binding> {
    match name {
        "basic" | "site.ycsb.BasicDB" => Some(Binding::Basic),
        "hbase1" | "hbase2" | "hbase12" | "hbase14" | "hbase20" | "site.ycsb.db.hbase2.HBaseClient2" => {
            Some(Binding::HBase)
        }
        _ => None,
    }
}

impl Line {
    pub fn parse(words: &[String]) -> Result<Line, Error> {
        let wrong = |what: String| Error::Setup(format!("{what}; see martite ycsb --help"));
        let mut left = words.iter();
        let phase = left.next().map(String::as_str).unwrap_or_default();
        if !matches!(phase, "load" | "run") {
            return Err(wrong(format!("expected load or run, not {phase:?}")));
        }
        let (mut files, mut own, mut folders) = (Properties::default(), Properties::default(), Vec::new());
        let mut asked = None;
        while let Some(word) = left.next() {
            let mut value = || left.next().ok_or_else(|| wrong(format!("Missing argument value for {word}.")));
            match word.as_str() {
                "-threads" | "--threads" => own.set("threadcount", value()?),
                "-target" | "--target" => own.set("target", value()?),
                "-l" => own.set("label", value()?),
                "-s" => own.set("status", "true"),
                "-db" => own.set("db", value()?),
                "-P" => files.read(Path::new(value()?))?,
                "-p" => {
                    let pair = value()?;
                    let (name, value) = pair.split_once('=').ok_or_else(|| {
                        wrong(format!("-p: expected NAME=VALUE (such as operationcount=99999), not {pair:?}"))
                    })?;
                    own.set(name, value);
                }
                "-cp" | "-classpath" => folders.extend(super::db::hbase::folders(value()?)),
                "-load" => own.set("dotransactions", "false"),
                "-t" => own.set("dotransactions", "true"),
                // For a Java virtual machine.
                "-jvm-args" | "-jvm-args=" => drop(value()?),
                name if asked.is_none() && binding(name).is_some() => asked = binding(name),
                other => return Err(wrong(format!("Unknown option {other}"))),
            }
        }
        own.set("dotransactions", if phase == "load" { "false" } else { "true" });
        for (name, value) in own.iter() {
            files.set(name, value);
        }
        let named = files.get("db").map(|name| binding(name).ok_or_else(|| wrong(format!("Unknown DB {name}"))));
        Ok(Line {
            binding: asked.or(named.transpose()?).unwrap_or(Binding::HBase),
            properties: files,
            folders,
            told: words.join(" "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Line, Error> {
        Line::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn words_become_properties_and_files_come_first() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("workloadx");
        std::fs::write(&file, "recordcount=10\noperationcount=20\ntable=a\n").unwrap();
        let file = file.to_str().unwrap();
        let line = parse(&[
            "load", "basic", "-p", "table=b", "-P", file, "-threads", "7", "-target", "100", "-s", "-l", "x ", "-p",
            "a=b=c", "-cp", "/a:/b",
        ])
        .unwrap();
        let get = |name: &str| line.properties.get(name).unwrap_or_default().to_owned();
        assert_eq!(
            ["recordcount", "table", "threadcount", "target", "status", "label", "a", "dotransactions"].map(get),
            ["10", "b", "7", "100", "true", "x ", "b=c", "false"]
        );
        assert_eq!((line.binding, line.folders.len()), (Binding::Basic, 2));
        assert_eq!(parse(&["run"]).unwrap().binding, Binding::HBase);
        assert_eq!(parse(&["run", "-db", "site.ycsb.BasicDB"]).unwrap().binding, Binding::Basic);
    }

    #[test]
    fn wrong_words_are_named() {
        for (words, named) in [
            (&[][..], "expected load or run"),
            (&["walk"], "\"walk\""),
            (&["run", "-threads"], "-threads"),
            (&["run", "-p", "x"], "\"x\""),
            (&["run", "-x"], "-x"),
            (&["run", "-db", "mongo"], "mongo"),
            (&["run", "hbase2", "basic"], "basic"),
            (&["run", "-P", "/none/workload"], "/none/workload"),
        ] {
            let told = parse(words).unwrap_err().to_string();
            assert!(told.contains(named), "{words:?}: {told}");
        }
    }
}
