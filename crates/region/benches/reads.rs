//! Cost of reads of a region whose blocks are all in the cache, without network and protocol.
//!
//! `cargo bench -p martite-region` prints nanoseconds a row; `ROWS` (200,000) rows of one cell of 1,000 bytes, PE's shape.
//! `cargo bench -p martite-region -- NAME` runs one case, for a profiler. The best round counts: other work on the
//! machine only adds.

#![allow(clippy::unwrap_used)]

#[path = "../tests/rig/mod.rs"]
mod rig;

use martite_cell::{CellBuf, LATEST_TIMESTAMP, OwnedCell};
use martite_hfile::{BlockSource, Step};
use martite_proto as pb;
use martite_region::{
    FamilyColumns, GetSpec, Getter, Mutation, MutationKind, RegionConfig, ScanEnd, ScanLimits, ScanOutput, ScanSpec,
    WriteRequest,
};
use pb::Message;
use rig::{Rig, table};
use std::hint::black_box;
use std::time::Instant;

const VALUE_BYTES: usize = 1000;
const ROUNDS: usize = 5;
/// A memstore that is much larger than that refuses writes.
const FLUSH_ROWS: u64 = 200_000;

fn row(number: u64) -> String {
    format!("r{number:025}")
}

/// Reproducible numbers below `below`.
struct Dice(u64);

impl Dice {
    fn below(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

fn load(rows: u64) -> Rig {
    let rig = Rig::with(table(&["f"]), RegionConfig::default());
    let mut dice = Dice(0x2545_F491_4F6C_DD1D);
    let value: Vec<u8> = (0..VALUE_BYTES).map(|_| b'A' + dice.below(26) as u8).collect();
    for start in (0..rows).step_by(1000) {
        if start > 0 && start % FLUSH_ROWS == 0 {
            rig.region.flush(None, "bench").unwrap();
        }
        let puts = (start..(start + 1000).min(rows)).map(|number| {
            let mut cells = CellBuf::new(false);
            let row = row(number);
            cells.push(&OwnedCell::put(row.as_bytes(), b"f", b"0", LATEST_TIMESTAMP, &value).as_ref());
            Mutation::new(MutationKind::Put, row, cells)
        });
        rig.write(WriteRequest::batch(puts.collect())).unwrap();
    }
    rig.region.flush(None, "bench").unwrap();
    rig.region.compact(None, true, &martite_store::Unthrottled).unwrap();
    rig
}

fn filter(name: &str, message: Vec<u8>) -> Option<pb::Filter> {
    let name = format!("org.apache.hadoop.hbase.filter.{name}");
    Some(pb::Filter { name, serialized_filter: Some(message.into()) })
}

fn binary(value: &'static [u8]) -> pb::BinaryComparator {
    pb::BinaryComparator { comparable: pb::ByteArrayComparable { value: Some(value.into()) } }
}

/// What is equal, as the comparator sees it.
fn equal(comparator: &str, message: Vec<u8>) -> pb::CompareFilter {
    let comparator = pb::Comparator {
        name: format!("org.apache.hadoop.hbase.filter.{comparator}"),
        serialized_comparator: Some(message.into()),
    };
    pb::CompareFilter { compare_op: pb::CompareType::Equal as i32, comparator: Some(comparator) }
}

fn value_filter(compare_filter: pb::CompareFilter) -> Option<pb::Filter> {
    filter("ValueFilter", pb::ValueFilter { compare_filter }.encode_to_vec())
}

/// One row in ten, by its key's last digit.
fn tenth() -> Option<pb::Filter> {
    let last_digit = pb::BinaryComponentComparator { value: b"0"[..].into(), offset: 25 };
    let compare_filter = equal("BinaryComponentComparator", last_digit.encode_to_vec());
    filter("RowFilter", pb::RowFilter { compare_filter }.encode_to_vec())
}

/// Reads all rows; how many Results came.
fn scan(rig: &Rig, spec: ScanSpec, src: &dyn BlockSource) -> usize {
    let mut scanner = rig.region.scanner(spec).unwrap();
    let limits = ScanLimits { results: 100, pause_after_cells: 10_000, allow_partial: true, ..ScanLimits::default() };
    let (mut results, mut out) = (0, ScanOutput::new(false));
    loop {
        out.cells.clear();
        out.results.clear();
        let state = match scanner.next_batch(&limits, &mut || false, src, &mut out).unwrap() {
            Step::Ready(state) => state,
            Step::Need(block) => panic!("{block:?} is not in the cache"),
        };
        results += black_box(&out).results.len();
        if state.end == ScanEnd::Exhausted {
            return results;
        }
    }
}

fn get(rig: &Rig, number: u64, columns: bool, src: &dyn BlockSource, out: &mut CellBuf) {
    let families = match columns {
        true => vec![FamilyColumns { columns: [b"0"[..].into()].into(), ..FamilyColumns::whole(&b"f"[..]) }],
        false => Vec::new(),
    };
    let spec = GetSpec { families: families.into(), ..GetSpec::new(row(number)) };
    assert!(matches!(rig.region.get(&spec, src, out).unwrap(), Step::Ready(found) if found.cells == 1));
}

fn main() {
    let rows = std::env::var("ROWS").map_or(200_000, |r| r.parse().unwrap());
    let wanted = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let rig = load(rows);
    let files = rig.ctx.stores.files.clone();
    scan(&rig, ScanSpec::default(), &files.blocking());
    (0..rows).for_each(|number| get(&rig, number, false, &files.blocking(), &mut CellBuf::new(false)));
    let src = files.cache_only();
    let case = |name: &str, run: &mut dyn FnMut() -> u64| {
        if wanted.as_ref().is_some_and(|w| w != name) {
            return;
        }
        let mut best = f64::MAX;
        let rounds = if wanted.is_some() { 10 * ROUNDS } else { ROUNDS };
        for _ in 0..rounds {
            let began = Instant::now();
            let rows = run();
            best = best.min(began.elapsed().as_nanos() as f64 / rows as f64);
        }
        println!("{name:<24} {best:>8.1} ns/row");
    };
    let scan_case = |name: &str, filter: Option<pb::Filter>, left: u64| {
        case(name, &mut || {
            let spec = ScanSpec { filter: filter.clone(), ..ScanSpec::default() };
            assert_eq!(scan(&rig, spec, &src) as u64, left);
            rows
        });
    };
    scan_case("scan", None, rows);
    scan_case("scan.filterAll", filter("FilterAllFilter", Vec::new()), 0);
    let absent = pb::PrefixFilter { prefix: Some(b"rx"[..].into()) };
    scan_case("scan.prefix", filter("PrefixFilter", absent.encode_to_vec()), 0);
    let keys_only = pb::KeyOnlyFilter { len_as_val: false };
    scan_case("scan.keyOnly", filter("KeyOnlyFilter", keys_only.encode_to_vec()), rows);
    scan_case("scan.firstKeyOnly", filter("FirstKeyOnlyFilter", Vec::new()), rows);
    scan_case("scan.tenth", tenth(), rows.div_ceil(10));
    scan_case("scan.value", value_filter(equal("BinaryComparator", binary(b"x").encode_to_vec())), 0);
    let word = pb::SubstringComparator { substr: "martite".into() };
    scan_case("scan.value.substring", value_filter(equal("SubstringComparator", word.encode_to_vec())), 0);
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    for (name, columns) in [("get", false), ("get.column", true)] {
        case(name, &mut || {
            let mut out = CellBuf::new(false);
            for done in 0..rows {
                if done % 100 == 0 {
                    out.clear();
                }
                get(&rig, dice.below(rows), columns, &src, &mut out);
            }
            rows
        });
    }
    case("multiGet100", &mut || {
        let mut out = CellBuf::new(false);
        for _ in 0..rows / 100 {
            out.clear();
            let src = files.cache_only();
            let gets: Vec<_> = (0..100).map(|_| GetSpec::new(row(dice.below(rows)))).collect();
            let mut getter = Getter::new(&rig.region, &gets[0]).unwrap();
            for group in gets.chunks(Getter::GROUP) {
                getter.expect(group.iter().map(|get| &get.row), &src);
                for get in group {
                    let found = getter.get(&get.row, &src, &mut out).unwrap();
                    assert!(matches!(found, Step::Ready(found) if found.cells == 1));
                }
            }
        }
        rows
    });
}
