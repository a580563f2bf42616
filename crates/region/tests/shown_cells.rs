//! Scans with filters, whose cells are shown to the filter where they lie, against the same scans cell by cell.

#![allow(clippy::unwrap_used)]

mod random_table;
mod rig;

use bytes::Bytes;
use martite_cell::{CellBuf, TimeRange};
use martite_env::SeededRandom;
use martite_region::{FamilyColumns, ScanSpec};
use random_table::{Forgetful, Random, filled, limits, scanned, texts};

/// Longer than half of the values, which consist of this letter.
const LONG: &str = "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv";

fn filter(random: &Random) -> String {
    let times =
        |random: &Random| (0..40).map(|_| (1900 + 5 * random.below(400)).to_string()).collect::<Vec<_>>().join(", ");
    let column = random.qualifier();
    let op = random.pick(&["=", "!=", "<", ">="]);
    let flag = random.pick(&["true", "false"]);
    match random.below(23) {
        0 => format!("ColumnPrefixFilter('{column}')"),
        1 => "ColumnPrefixFilter('q')".to_owned(),
        2 => format!("MultipleColumnPrefixFilter('{column}', 'q{column}x', 'q')"),
        3 => format!("ColumnRangeFilter('{column}', {flag}, 'q{column}', {flag})"),
        4 => format!("QualifierFilter({op}, 'binary:{column}')"),
        5 => "QualifierFilter(=, 'regexstring:[02468]$')".to_owned(),
        6 => format!("ValueFilter({op}, 'binary:{LONG}')"),
        7 => format!("TimestampsFilter({})", times(random)),
        8 => "KeyOnlyFilter()".to_owned(),
        9 => "FirstKeyOnlyFilter()".to_owned(),
        10 => format!("ColumnPaginationFilter({}, {})", 1 + random.below(3), random.below(4)),
        11 => format!("ColumnCountGetFilter({})", 1 + random.below(5)),
        12 => format!("PageFilter({})", 1 + random.below(20)),
        13 => format!("SingleColumnValueFilter('f', '{column}', {op}, 'binary:{LONG}', {flag}, {flag})"),
        14 => format!("SingleColumnValueExcludeFilter('f', '{column}', {op}, 'binary:{LONG}', {flag}, {flag})"),
        15 => format!("DependentColumnFilter('f', '{column}', {flag})"),
        16 => format!("SKIP ValueFilter({op}, 'binary:{LONG}')"),
        17 => format!("WHILE ValueFilter({op}, 'binary:{LONG}')"),
        18 => format!("FamilyFilter({op}, 'binary:g')"),
        19 => format!("RowFilter({op}, 'binary:{}')", random.row()),
        // Lets everything pass.
        20 => "RowFilter(>=, 'binary:')".to_owned(),
        21 => format!("({} AND {})", filter(random), filter(random)),
        _ => format!("({} OR {})", filter(random), filter(random)),
    }
}

fn like(random: &Random) -> ScanSpec {
    let columns = |random: &Random| match random.below(3) {
        0 => (0..1 + random.below(8)).map(|_| Bytes::from(random.qualifier())).collect(),
        _ => Vec::new(),
    };
    let family = |name| FamilyColumns { columns: columns(random).into(), ..FamilyColumns::whole(name) };
    let mut families = vec![family("f")];
    if random.below(2) == 0 {
        families.push(family("g"));
    }
    let time_range = match random.below(4) {
        0 => TimeRange::new(1000 + random.below(2000), 2000 + random.below(2000)),
        _ => TimeRange::ALL,
    };
    let reversed = random.below(3) == 0;
    ScanSpec {
        families,
        start_row: if random.below(2) == 0 { Bytes::new() } else { random.row().into() },
        stop_row: if random.below(3) > 0 { Bytes::new() } else { if reversed { "row010" } else { "row040" }.into() },
        reversed,
        time_range,
        max_versions: random.pick(&[1, 1, 2, 3]),
        load_on_demand: random.below(2) == 0,
        ..ScanSpec::default()
    }
}

#[test]
fn filters_are_shown_cells_as_one_by_one() {
    let (mut found, mut none, mut errors) = (0, 0, 0);
    for seed in 0..150 {
        let random = Random(SeededRandom::new(seed));
        let rig = filled(&random);
        let files = rig.ctx.stores.files.clone();
        for _ in 0..40 {
            let (text, mut limits) = (filter(&random), limits(&random, &[0, 0, 0, 1, 2, 3]));
            let parsed = martite_filter::language::parse(&text).unwrap();
            let decoded = martite_filter::Filter::decode(&parsed).unwrap();
            if decoded.has_filter_row() && random.below(20) > 0 {
                limits.batch = 0;
            }
            let spec = ScanSpec { filter: Some(parsed), ..like(&random) };
            // With a limit of a store's cells each is looked at by itself.
            let one_by_one = ScanSpec { store_limit: i32::MAX, ..spec.clone() };
            let source = Forgetful { files: &files, random: &random };
            let shown = scanned(&rig, &spec, &limits, &source);
            let expected = scanned(&rig, &one_by_one, &limits, &files.blocking());
            let texts = |cells: Result<CellBuf, String>| cells.map(|cells| texts(&cells));
            let (shown, expected) = (texts(shown), texts(expected));
            if let (Ok(shown), Ok(expected)) = (&shown, &expected)
                && let Some(at) = (0..shown.len().max(expected.len())).find(|at| shown.get(*at) != expected.get(*at))
            {
                let (shown, expected) = (
                    &shown[at.saturating_sub(2)..shown.len().min(at + 3)],
                    &expected[at.saturating_sub(2)..expected.len().min(at + 3)],
                );
                panic!("seed {seed}: {text}: {shown:?} for {expected:?} at {at}: {spec:?} {limits:?}");
            }
            assert_eq!(shown, expected, "seed {seed}: {text} {spec:?} {limits:?}");
            match expected {
                Ok(cells) if cells.is_empty() => none += 1,
                Ok(cells) => found += cells.len(),
                Err(_) => errors += 1,
            }
        }
    }
    assert!(found > 50_000 && none > 100 && errors > 5, "{found} cells, {none} without, {errors} errors");
}
