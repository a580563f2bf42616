//! Runs `scripts/compaction_selection.txt`: sizes and ages in, the chosen files out. Written anew with `UPDATE_GOLDEN=1`.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

use martite_store::{
    CompactionRequest, StoreConfig,
    compaction::policy::{Candidate, select},
};
use std::fmt::Write;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts/compaction_selection.txt");

#[test]
fn the_policy_chooses_what_the_script_says() {
    let script = std::fs::read_to_string(SCRIPT).unwrap();
    let mut config = StoreConfig::default();
    let mut got = String::new();
    for line in script.lines().filter(|l| !l.starts_with("=>")) {
        writeln!(got, "{line}").unwrap();
        if let Some(settings) = line.strip_prefix("config ") {
            config = parse_config(settings);
        } else if let Some(arguments) = line.strip_prefix("select") {
            writeln!(got, "=> {}", run(arguments, &config)).unwrap();
        }
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(SCRIPT, &got).unwrap();
    }
    for (number, (expected, got)) in script.lines().zip(got.lines()).enumerate() {
        assert_eq!(got, expected, "line {}", number + 1);
    }
    assert_eq!(got.lines().count(), script.lines().count());
    assert!(script.matches("select").count() > 40, "the script was read");
}

fn parse_config(settings: &str) -> StoreConfig {
    let mut config = StoreConfig::default();
    if settings == "defaults" {
        return config;
    }
    config.compaction.major_jitter = 0.0;
    for setting in settings.split_whitespace() {
        let (key, value) = setting.split_once('=').unwrap();
        let c = &mut config.compaction;
        match key {
            "min" => c.min_files = value.parse().unwrap(),
            "max" => c.max_files = value.parse().unwrap(),
            "min-size" => c.min_size_bytes = value.parse().unwrap(),
            "max-size" => {
                c.max_size_bytes = value.parse().unwrap();
                c.max_size_off_peak_bytes = c.max_size_bytes;
            }
            "ratio" => c.ratio = value.parse().unwrap(),
            "off-peak-ratio" => c.ratio_off_peak = value.parse().unwrap(),
            "major-period" => c.major_period_ms = value.parse().unwrap(),
            "blocking" => config.blocking_files = value.parse().unwrap(),
            other => panic!("unknown setting {other}"),
        }
    }
    config
}

fn run(arguments: &str, config: &StoreConfig) -> String {
    let mut request = CompactionRequest::default();
    let (mut ttl_ms, mut files, mut texts, mut busy) = (None, Vec::new(), Vec::new(), None);
    for word in arguments.split_whitespace() {
        match word.split_once('=') {
            Some(("now", ms)) => request.now_ms = ms.parse().unwrap(),
            Some(("ttl", ms)) => ttl_ms = Some(ms.parse().unwrap()),
            Some(_) => panic!("unknown argument {word}"),
            None if word == "major" => request.force_major = true,
            None if word == "user" => request.user = true,
            None if word == "off-peak" => request.off_peak = true,
            None => {
                if word.contains('*') {
                    busy = Some(files.len());
                }
                files.push(candidate(word));
                texts.push(word);
            }
        }
    }
    let Some(selection) = select(&files, busy, config, ttl_ms, &request) else { return "nothing".into() };
    let chosen: Vec<&str> = selection.files.iter().map(|i| texts[*i]).collect();
    assert_eq!(selection.all_files, chosen.len() == files.len());
    let mut text = chosen.join(" ");
    if selection.all_files {
        text.insert_str(0, "all: ");
    }
    if selection.major {
        text.push_str(" major");
    }
    if selection.off_peak {
        text.push_str(" off-peak");
    }
    text
}

fn candidate(word: &str) -> Candidate {
    let (size, modified) = word.split_once('@').unwrap_or((word, "0"));
    Candidate {
        name: "01".into(),
        size_bytes: size.trim_end_matches(['r', 'x', '*']).parse().unwrap(),
        is_reference: size.contains('r'),
        exclude_from_minor: size.contains('x'),
        modified_ms: modified.parse().unwrap(),
        min_timestamp: Some(1500),
    }
}
