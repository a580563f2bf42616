//! Scans that take rows of one cell as they lie, and pass over others by their keys, against the same scans row by row.

#![allow(clippy::unwrap_used)]

mod random_table;
mod rig;

use martite_catalog::{FamilyDescriptor, TableDescriptor, TableName};
use martite_cell::{CellBuf, CellType, OwnedCell, TimeRange, key};
use martite_env::SeededRandom;
use martite_hfile::{BlockSource, Step};
use martite_region::{
    FamilyColumns, Mutation, MutationKind, RegionConfig, RegionError, RegionScanner, ScanCounters, ScanEnd, ScanLimits,
    ScanOutput, ScanSpec, ScanState, WriteRequest,
};
use random_table::{Forgetful, Random, texts};
use rig::Rig;
use std::time::Duration;

const ROWS: u64 = 400;

/// What is added to values of which all are to be lent.
const LENT: usize = 17 << 10;

/// Rows of one large cell, nearly all, or of some smaller ones.
fn filled(random: &Random, more: usize) -> Rig {
    let family = FamilyDescriptor::new("f")
        .with("VERSIONS", random.pick(&["1", "3"]))
        .with("BLOCKSIZE", random.pick(&["2000", "65536"]))
        .with("hfile.index.block.max.size", random.pick(&["200", "131072"]))
        .with("TTL", random.pick(&["2147483647", "2147483647", "1"]));
    let table = TableDescriptor::new(TableName::parse("t").unwrap()).with_family(family);
    let rig = Rig::with(table, RegionConfig { max_row_size_bytes: 600 + more as u64, ..RegionConfig::default() });
    let odd = random.pick(if more > 0 { &[0, 8, 40] } else { &[0, 8, 40, 1][..] });
    for number in 0..ROWS {
        rig.clock.advance(Duration::from_millis(5));
        put(&rig, random, number, odd, more);
        if random.below(150) == 0 {
            rig.region.flush(None, "test").unwrap();
        }
    }
    rig.region.flush(None, "test").unwrap();
    if random.below(4) > 0 {
        rig.region.compact(None, true, &martite_store::Unthrottled).unwrap();
    }
    for _ in 0..random.pick(&[0, 0, 1, 5]) {
        put(&rig, random, random.below(ROWS), 1, more);
    }
    rig
}

/// One row of `odd` has something else, or more, than one large put.
fn put(rig: &Rig, random: &Random, number: u64, odd: u64, more: usize) {
    let is_odd = odd > 0 && random.below(odd) == 0;
    let row = format!("row{number:04}");
    let (kind, code) = match random.below(3) {
        0 if is_odd => (MutationKind::Delete, CellType::DeleteColumn),
        _ => (MutationKind::Put, CellType::Put),
    };
    let mut cells = CellBuf::new(true);
    let first = if is_odd { random.pick(b"ab") } else { b'a' };
    let (most, least) = if odd == 1 { (5, 80) } else { (3, 280) };
    for qualifier in first..=first + if is_odd { random.below(most) as u8 } else { 0 } {
        let key = key::flat_key(row.as_bytes(), b"f", &[qualifier], 1000 + 5 * number, code as u8);
        let value = vec![b'v'; more + least + random.below(if is_odd { 40 } else { 200 }) as usize];
        let tags: &[u8] = if is_odd && random.below(3) == 0 { &[0, 2, 99, 7] } else { &[] };
        cells.push(&OwnedCell::new(&key, if code == CellType::Put { &value } else { b"" }, tags, 0).as_ref());
    }
    rig.write(WriteRequest::batch(vec![Mutation::new(kind, row, cells)])).unwrap().ops.remove(0).unwrap();
}

/// The first one lets everything pass, and is left out where rows may be taken.
const FILTERS: [&str; 12] = [
    "RowFilter(>=, 'binary:')",
    "RowFilter(=, 'binaryprefix:row02')",
    "RowFilter(!=, 'binaryprefix:row02')",
    "RowFilter(=, 'binaryprefix:')",
    "RowFilter(=, 'binaryprefix:none')",
    "RowFilter(=, 'binary:row0123')",
    "RowFilter(!=, 'binary:row0123')",
    "RowFilter(>, 'binary:row0123')",
    "RowFilter(=, 'substring:3')",
    "FirstKeyOnlyFilter()",
    "FirstKeyOnlyFilter() AND KeyOnlyFilter()",
    "KeyOnlyFilter(true) AND FirstKeyOnlyFilter()",
];

fn like(random: &Random) -> ScanSpec {
    let columns = match random.below(3) {
        0 => vec!["a".into()],
        1 => vec!["a".into(), "c".into()],
        _ => Vec::new(),
    };
    let row = |random: &Random| format!("row{:04}", random.below(ROWS)).into();
    let start_row = if random.below(2) == 0 { "".into() } else { row(random) };
    let stop_row = if random.below(2) == 0 { "".into() } else { row(random) };
    ScanSpec {
        families: vec![FamilyColumns { columns: columns.into(), ..FamilyColumns::whole("f") }],
        include_stop: random.below(2) == 0 && start_row != stop_row,
        start_row,
        stop_row,
        max_versions: random.pick(&[1, 2]),
        time_range: if random.below(4) == 0 { TimeRange::new(1500, 2500) } else { TimeRange::ALL },
        ..ScanSpec::default()
    }
}

fn limits(random: &Random) -> ScanLimits {
    ScanLimits {
        results: random.pick(&[0, 1, 2, 7, 1000]),
        size_bytes: random.pick(&[0, 500, 3000, 100_000]),
        block_bytes: random.pick(&[0, 10_000]),
        rows: random.pick(&[0, 0, 1, 40]),
        batch: random.pick(&[0, 0, 0, 1]),
        allow_partial: random.below(2) == 0,
        pause_after_cells: random.pick(&[0, 1, 10, 150]),
    }
}

/// One answer.
fn batch(
    scanner: &mut RegionScanner,
    limits: &ScanLimits,
    src: &dyn BlockSource,
    cells: CellBuf,
) -> Result<(ScanOutput, ScanState), RegionError> {
    let mut out = ScanOutput { cells, ..ScanOutput::new(true) };
    loop {
        if let Step::Ready(state) = scanner.next_batch(limits, &mut || false, src, &mut out)?
            && state.end != ScanEnd::Paused
        {
            return Ok((out, state));
        }
    }
}

#[test]
fn rows_are_taken_as_row_by_row() {
    let (mut taken, mut lent, mut refused, mut errors, mut by_end) = (0, 0, 0, 0, std::collections::BTreeMap::new());
    for seed in 0..120 {
        let random = Random(SeededRandom::new(seed));
        let more = if seed % 37 == 0 { LENT } else { 0 };
        let rig = filled(&random, more);
        let files = rig.ctx.stores.files.clone();
        let forgetful = Forgetful { files: &files, random: &random };
        let src: &dyn BlockSource = if seed % 4 == 0 { &forgetful } else { &files.blocking() };
        for text in FILTERS {
            let (spec, mut limits) = (like(&random), limits(&random));
            if text == FILTERS[0] || !spec.time_range.is_all() {
                // A row that has none of the columns or times is left at another point, so that another one may end the answer.
                limits.block_bytes = 0;
            }
            // Lists are asked about each row.
            let scanner = |text: &str| {
                let filter = (text != FILTERS[0]).then(|| martite_filter::language::parse(text).unwrap());
                rig.region.scanner(ScanSpec { filter, ..spec.clone() }).unwrap()
            };
            let (mut at_once, mut one_by_one) =
                (scanner(text), scanner(&format!("{text} AND RowFilter(>=, 'binary:')")));
            loop {
                let what = format!("seed {seed}: {text} {spec:?} {limits:?}");
                let got = batch(&mut at_once, &limits, src, CellBuf::new(true).borrowing(0));
                let want = batch(&mut one_by_one, &limits, src, CellBuf::new(true));
                // How many cells lead from a row to the next depends on the way; at the end nobody asks where it is.
                let told = |answer: &Result<(ScanOutput, ScanState), RegionError>| match answer {
                    Ok((out, state)) => {
                        let mut counters = ScanCounters { cells_scanned: 0, ..out.counters };
                        if more > 0 {
                            // Each row is a block, and behind the last one the next may have been entered.
                            (counters.blocks, counters.block_bytes) = (0, 0);
                        }
                        let cursor = state.cursor.clone().filter(|_| state.end != ScanEnd::Exhausted);
                        Ok((counters, ScanState { cursor, ..state.clone() }))
                    }
                    Err(error) => Err(error.to_string()),
                };
                let results = |answer: &Result<(ScanOutput, _), _>| {
                    answer
                        .as_ref()
                        .map_or_else(|_| Default::default(), |(out, _)| (texts(&out.cells), out.results.clone()))
                };
                assert_eq!(told(&got), told(&want), "{what}");
                assert_eq!(results(&got), results(&want), "{what}");
                let Ok((got, state)) = got else {
                    errors += 1;
                    break;
                };
                taken += got.results.len();
                lent += got.cells.size_bytes() - got.cells.own_bytes();
                refused += got.counters.rows_filtered;
                *by_end.entry(format!("{:?}", state.end)).or_insert(0) += 1;
                if matches!(state.end, ScanEnd::Exhausted | ScanEnd::Rows) {
                    break;
                }
            }
        }
    }
    assert!(taken > 20_000 && refused > 20_000, "{taken} taken, {refused} refused");
    assert!(lent > 1000 * LENT, "{lent} bytes lent");
    assert!(errors > 5, "{errors} rows too big");
    assert!(["Exhausted", "Results", "Rows", "Size"].iter().all(|end| by_end.get(*end) > Some(&20)), "{by_end:?}");
}
