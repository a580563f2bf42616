//! `/prometheus[?qry=PART_OF_A_NAME]`: the same figures, one a line, with a line `# TYPE` before each name.

use crate::server::Page;
use crate::{Asked, Figure, Kind, Record};
use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) fn answer(asked: &Asked, records: impl FnOnce() -> Vec<Record>) -> Page {
    let mut part = "";
    for (name, value) in asked.iter() {
        match name {
            "qry" => part = value,
            _ => return Page::refused(format!("{name}: there is no such parameter; there is qry")),
        }
    }
    // The lines of one name stand together, as the format wants it.
    let mut series: BTreeMap<String, (Kind, String)> = BTreeMap::new();
    for record in records() {
        for figure in &record.figures {
            let name = name(&record, figure);
            if name.contains(part) {
                let lines = &mut series.entry(name.clone()).or_insert((figure.kind, String::new())).1;
                put_line(lines, &name, &record, figure);
            }
        }
    }
    let mut body = String::new();
    for (name, (kind, lines)) in series {
        let kind = if kind == Kind::Counter { "counter" } else { "gauge" };
        // A String takes everything.
        let _ = write!(body, "# TYPE {name} {kind}\n{lines}");
    }
    Page::text(body)
}

fn put_line(out: &mut String, name: &str, record: &Record, figure: &Figure) {
    let context = record.name.to_lowercase();
    let own = figure.labels.iter().map(|(label, value)| (*label, value.as_str()));
    let labels = [("context", context.as_str()), ("hostname", record.hostname.as_str())].into_iter().chain(own);
    let labels: Vec<String> = labels.map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
    let _ = writeln!(out, "{name}{{{}}} {}", labels.join(","), figure.value);
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn name(record: &Record, figure: &Figure) -> String {
    if !figure.series.is_empty() {
        return plain(&figure.series);
    }
    let mut chars = figure.attribute.chars();
    let capitalised: String = chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect();
    plain(&snake(&format!("{}{capitalised}", record.sub)))
}

/// As HBase: a word ends before a capital that follows a small letter, and before the last capital of several.
fn snake(camel: &str) -> String {
    let chars: Vec<char> = camel.chars().collect();
    let mut out = String::new();
    for (i, c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).map(|at| chars[at]);
        let after_small = before.is_some_and(|b| !b.is_ascii_uppercase() && b != '_');
        let begins_word = chars.get(i + 1).is_some_and(char::is_ascii_lowercase) && i > 0;
        if c.is_ascii_uppercase() && (after_small || begins_word) {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// Only what a name may have.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_hbase_s() {
        for (camel, expected) in [
            ("ServerBlockCacheHitCount", "server_block_cache_hit_count"),
            ("IPCQueueCallTime_99.9th_percentile", "ipc_queue_call_time_99_9th_percentile"),
            ("IPCQueueSize", "ipc_queue_size"),
            ("ServerL2CacheHitCount", "server_l2_cache_hit_count"),
        ] {
            assert_eq!(plain(&snake(camel)), expected);
        }
    }

    #[test]
    fn a_name_has_one_type_line_and_its_labels_are_escaped() {
        let records = || {
            let mut record = Record::new("RegionServer", "Server", "h");
            record.counter("blockCacheHitCount", 7);
            for table in ["a", "b\"c"] {
                record.push(Kind::Gauge, "", "table_cache_bytes", &[("table", table)], 1.5);
            }
            vec![record]
        };
        let all = answer(&Asked::default(), records).body;
        assert_eq!(
            all,
            "# TYPE server_block_cache_hit_count counter\n\
             server_block_cache_hit_count{context=\"regionserver\",hostname=\"h\"} 7\n\
             # TYPE table_cache_bytes gauge\n\
             table_cache_bytes{context=\"regionserver\",hostname=\"h\",table=\"a\"} 1.5\n\
             table_cache_bytes{context=\"regionserver\",hostname=\"h\",table=\"b\\\"c\"} 1.5\n"
        );
        let some = answer(&Asked::parse("qry=hit").unwrap(), records).body;
        assert_eq!(some.lines().count(), 2);
        assert_eq!(answer(&Asked::parse("x").unwrap(), records).status, 400);
    }
}
