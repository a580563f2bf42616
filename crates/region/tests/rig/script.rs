//! Golden scripts: commands in, answers out.
//!
//! A line is a command, a comment (`#`), or an answer (`  `). `UPDATE_GOLDEN=1` writes the answers anew.
//!
//! ```text
//! put r f:a=1 f:b=#7 ts=5 ttl=100 dur=SKIP_WAL    #7 is an 8-byte number
//! delete r                  row;  f: family;  f:q column;  f:q! one version;  f:! family version; ts=
//! incr r f:a=#1 nonce=3 ret=0 from=0 to=9          append r f:a=x
//! batch | put … | delete …                         each on its own
//! mutate | put … | incr …                          all or nothing
//! check r f:a EQUAL v | put …                      conditions; `-` is the empty value
//! get r [f:a …] versions=3 raw…                    flush, compact, major, reopen, crash, clock N
//! ```

use super::{Rig, bytes};
use bytes::Bytes;
use martite_cell::{CellBuf, CellRef, CellType, LATEST_TIMESTAMP, OwnedCell, TimeRange, key, tags};
use martite_filter::{Comparator, CompareOp};
use martite_proto::{self as pb, Message};
use martite_region::{
    Check, Condition, Durability, FamilyColumns, GetSpec, Mutation, MutationKind, RegionError, WriteRequest, Written,
};
use std::fmt::Write;

/// Runs `tests/scripts/<name>.txt`.
pub fn run(name: &str, mut rig: Rig) {
    let path = format!("{}/tests/scripts/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let script = std::fs::read_to_string(&path).unwrap();
    let mut got = String::new();
    for line in script.lines().filter(|line| !line.starts_with("  ")) {
        writeln!(got, "{line}").unwrap();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        for answer in command(&mut rig, line) {
            writeln!(got, "  {answer}").unwrap();
        }
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &got).unwrap();
        return;
    }
    for (number, (expected, got)) in script.lines().zip(got.lines()).enumerate() {
        assert_eq!(got, expected, "{name}.txt, line {}", number + 1);
    }
    assert_eq!(got.lines().count(), script.lines().count(), "{name}.txt");
}

fn command(rig: &mut Rig, line: &str) -> Vec<String> {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    match verb {
        "clock" => rig.clock.set(rest.parse().unwrap()),
        "flush" => {
            let families: Vec<Bytes> = rest.split_whitespace().map(bytes).collect();
            let outcome = rig.region.flush(Some(&families[..]).filter(|f| !f.is_empty()), "script").unwrap();
            return vec![format!("{} files, {} cells", outcome.files.len(), outcome.cells)];
        }
        "compact" | "major" => {
            let done = rig.region.compact(None, verb == "major", &martite_store::Unthrottled).unwrap();
            return done
                .iter()
                .map(|c| format!("{}: {} cells of {}", text(&c.family), c.outcome.cells_written, c.outcome.cells_read))
                .collect();
        }
        "reopen" => *rig = rig.reopen(),
        "crash" => *rig = rig.crash(),
        "get" => return get(rig, rest),
        _ => return write(rig, line),
    }
    Vec::new()
}

fn write(rig: &Rig, line: &str) -> Vec<String> {
    let mut parts = line.split('|').map(str::trim);
    let head = parts.next().unwrap();
    let mutations: Vec<Mutation> = parts.map(mutation).collect();
    let (verb, rest) = head.split_once(' ').unwrap_or((head, ""));
    let group = 7;
    let request = match verb {
        "batch" => WriteRequest::batch(mutations),
        "mutate" => WriteRequest::atomic(mutations, None, group),
        "check" => WriteRequest::atomic(mutations, Some(condition(rest)), group),
        "put" | "delete" => WriteRequest::batch(vec![mutation(head)]),
        _ => WriteRequest::atomic(vec![mutation(head)], None, group),
    };
    match rig.write(request) {
        Err(error) => vec![failure(&error)],
        Ok(written) => answer(&written, verb),
    }
}

fn answer(written: &Written, verb: &str) -> Vec<String> {
    let mut lines: Vec<String> = written
        .ops
        .iter()
        .map(|op| op.as_ref().map_or_else(failure, |()| "ok".into()))
        .filter(|line| verb == "batch" || line != "ok")
        .collect();
    if verb == "check" {
        lines.push(format!("processed={}", written.processed));
    }
    lines.extend(written.result.iter().flat_map(|cells| cells.iter().map(|c| cell_line(&c)).collect::<Vec<_>>()));
    lines
}

fn failure(error: &RegionError) -> String {
    let debug = format!("{error:?}");
    let variant = debug.split(['(', ' ']).next().unwrap_or_default();
    format!("{variant}: {error}")
}

fn option<'a>(tokens: &[&'a str], name: &str) -> Option<&'a str> {
    tokens.iter().find_map(|t| t.strip_prefix(name)?.strip_prefix('='))
}

/// `#7` is an 8-byte number, `-` is empty.
fn value(text: &str) -> Vec<u8> {
    match text.strip_prefix('#') {
        Some(number) => number.parse::<i64>().unwrap().to_be_bytes().to_vec(),
        None if text == "-" => Vec::new(),
        None => text.as_bytes().to_vec(),
    }
}

fn mutation(text: &str) -> Mutation {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let row = tokens[1].as_bytes();
    let ts = option(&tokens, "ts").map_or(LATEST_TIMESTAMP, |t| t.parse().unwrap());
    let kind = match tokens[0] {
        "put" => MutationKind::Put,
        "delete" => MutationKind::Delete,
        "incr" => MutationKind::Increment,
        "append" => MutationKind::Append,
        other => panic!("no command {other}"),
    };
    let mut cells = CellBuf::new(true);
    for column in tokens[2..].iter().filter(|t| t.contains(':')) {
        cells.push(&cell(kind, row, column, ts).as_ref());
    }
    let range = |name: &str, default: u64| option(&tokens, name).map_or(default, |t| t.parse().unwrap());
    let mut m = Mutation::new(kind, row.to_vec(), cells);
    m.delete_row_ts = ts;
    m.ttl_ms = option(&tokens, "ttl").map(|t| t.parse().unwrap());
    m.nonce = option(&tokens, "nonce").map_or(0, |t| t.parse().unwrap());
    m.return_results = option(&tokens, "ret") != Some("0");
    m.time_range = TimeRange::new(range("from", 0), range("to", i64::MAX as u64));
    m.durability = option(&tokens, "dur").map_or(Durability::UseDefault, |d| Durability::from_name(d).unwrap());
    m
}

fn cell(kind: MutationKind, row: &[u8], column: &str, ts: u64) -> OwnedCell {
    let (name, content) = column.split_once('=').unwrap_or((column, "-"));
    let (family, qualifier) = name.split_once(':').unwrap();
    let (qualifier, cell_type) = match (kind, qualifier) {
        (MutationKind::Delete, "") => ("", CellType::DeleteFamily),
        (MutationKind::Delete, "!") => ("", CellType::DeleteFamilyVersion),
        (MutationKind::Delete, q) => match q.strip_suffix('!') {
            Some(q) => (q, CellType::Delete),
            None => (q, CellType::DeleteColumn),
        },
        (_, q) => (q, CellType::Put),
    };
    let key = key::flat_key(row, family.as_bytes(), qualifier.as_bytes(), ts, cell_type as u8);
    OwnedCell::new(&key, &value(content), &[], 0)
}

fn condition(text: &str) -> Condition {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let row = bytes(tokens[0]);
    let filtered = match tokens[1] {
        "filter" => Some(filter("ColumnPrefixFilter", &pb::ColumnPrefixFilter { prefix: bytes(tokens[2]) })),
        "skip" => Some(filter("SkipFilter", &pb::SkipFilter { filter: has_column(tokens[2]) })),
        _ => None,
    };
    if let Some(filter) = filtered {
        return Condition { row, time_range: TimeRange::ALL, check: Check::Filter(filter) };
    }
    let (family, qualifier) = tokens[1].split_once(':').unwrap();
    let op = match tokens[2] {
        "LESS" => CompareOp::Less,
        "LESS_OR_EQUAL" => CompareOp::LessOrEqual,
        "EQUAL" => CompareOp::Equal,
        "NOT_EQUAL" => CompareOp::NotEqual,
        "GREATER_OR_EQUAL" => CompareOp::GreaterOrEqual,
        "GREATER" => CompareOp::Greater,
        other => panic!("no operator {other}"),
    };
    let range = |name: &str, default: u64| option(&tokens, name).map_or(default, |t| t.parse().unwrap());
    let comparator = comparator(&value(tokens[3]));
    let check = Check::Value { family: bytes(family), qualifier: bytes(qualifier), op, comparator };
    Condition { row, time_range: TimeRange::new(range("from", 0), range("to", i64::MAX as u64)), check }
}

fn filter(name: &str, proto: &impl Message) -> pb::Filter {
    let name = format!("org.apache.hadoop.hbase.filter.{name}");
    pb::Filter { name, serialized_filter: Some(proto.encode_to_vec().into()) }
}

/// Lets rows pass that have the column, whatever is in it; reads its family only.
fn has_column(column: &str) -> pb::Filter {
    let (family, qualifier) = column.split_once(':').unwrap();
    let proto = pb::SingleColumnValueFilter {
        column_family: Some(bytes(family)),
        column_qualifier: Some(bytes(qualifier)),
        compare_op: pb::CompareType::GreaterOrEqual as i32,
        comparator: binary(b""),
        filter_if_missing: Some(true),
        latest_version_only: Some(true),
    };
    filter("SingleColumnValueFilter", &proto)
}

fn binary(value: &[u8]) -> pb::Comparator {
    let value = pb::ByteArrayComparable { value: Some(Bytes::copy_from_slice(value)) };
    pb::Comparator {
        name: "org.apache.hadoop.hbase.filter.BinaryComparator".into(),
        serialized_comparator: Some(pb::BinaryComparator { comparable: value }.encode_to_vec().into()),
    }
}

pub fn comparator(value: &[u8]) -> Comparator {
    Comparator::decode(&binary(value)).unwrap()
}

fn get(rig: &Rig, text: &str) -> Vec<String> {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let mut spec = GetSpec::new(tokens[0].to_owned());
    spec.max_versions = option(&tokens, "versions").map_or(1, |v| v.parse().unwrap());
    let columns = tokens[1..].iter().filter_map(|token| token.split_once(':'));
    let column = |(family, qualifier)| FamilyColumns {
        columns: [bytes(qualifier)].into(),
        ..FamilyColumns::whole(bytes(family))
    };
    spec.families = columns.map(column).collect();
    match rig.get(&spec) {
        Ok(cells) if cells.is_empty() => vec!["(nothing)".into()],
        Ok(cells) => cells.iter().map(|c| cell_line(&c)).collect(),
        Err(error) => vec![failure(&error)],
    }
}

fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// `f:q=value`, 8-byte numbers as `#n`.
pub fn column_and_value(cell: &CellRef<'_>) -> String {
    let value = match <[u8; 8]>::try_from(cell.value) {
        Ok(number) if number[0] == 0 || number[0] == 0xff => format!("#{}", i64::from_be_bytes(number)),
        _ => text(cell.value),
    };
    format!("{}:{}={value}", text(cell.family()), text(cell.qualifier()))
}

fn cell_line(cell: &CellRef<'_>) -> String {
    let ttl = tags::ttl_ms(cell.tags).map_or(String::new(), |ttl| format!(" ttl={ttl}"));
    format!("{} @{}{ttl}", column_and_value(cell), cell.timestamp())
}
