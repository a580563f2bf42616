//! A region and a sorted map run the same random operations, with flushes, compactions, openings and crashes between
//! them, and must agree. A difference names its seed.
#![allow(clippy::unwrap_used)]

mod rig;

use martite_cell::{CellBuf, CellType, LATEST_TIMESTAMP, OwnedCell, key};
use martite_env::{Random, SeededRandom};
use martite_region::{GetSpec, Mutation, MutationKind, WriteRequest};
use rig::Rig;
use std::collections::BTreeMap;

const FAMILIES: [&str; 2] = ["f", "g"];
const VERSIONS: usize = 3;

/// Cells that are to be seen, by row, family and qualifier, and then by timestamp.
#[derive(Default)]
struct Model {
    cells: BTreeMap<(String, String, String), BTreeMap<u64, Vec<u8>>>,
}

impl Model {
    fn put(&mut self, row: &str, column: (&str, &str), ts: u64, value: &[u8]) {
        let versions = self.cells.entry((row.into(), column.0.into(), column.1.into())).or_default();
        versions.insert(ts, value.to_vec());
    }
    /// Hides the cells of the columns that `which` names, up to `ts`.
    fn delete(&mut self, row: &str, which: impl Fn(&str, &str) -> bool, ts: u64) {
        for ((r, f, q), versions) in &mut self.cells {
            if r == row && which(f, q) {
                versions.retain(|at, _| *at > ts);
            }
        }
    }
    fn newest(&self, row: &str, column: (&str, &str)) -> Option<(u64, &Vec<u8>)> {
        let versions = self.cells.get(&(row.into(), column.0.into(), column.1.into()))?;
        versions.last_key_value().map(|(ts, value)| (*ts, value))
    }
    fn row(&self, row: &str) -> Vec<String> {
        let of_row = self.cells.iter().filter(|((r, _, _), _)| r == row);
        of_row
            .flat_map(|((_, f, q), versions)| {
                let newest = versions.iter().rev().take(VERSIONS);
                newest.map(move |(ts, value)| format!("{f}:{q}@{ts}={}", value.escape_ascii()))
            })
            .collect()
    }
}

fn region_row(rig: &Rig, row: &str) -> Vec<String> {
    let spec = GetSpec { max_versions: VERSIONS as u32, ..GetSpec::new(row.to_owned()) };
    let cells = rig.get(&spec).unwrap();
    let text = |c: martite_cell::CellRef<'_>| {
        let (f, q) = (c.family().escape_ascii(), c.qualifier().escape_ascii());
        format!("{f}:{q}@{}={}", c.timestamp(), c.value.escape_ascii())
    };
    cells.iter().map(text).collect()
}

fn one(kind: MutationKind, row: &str, column: (&str, &str), ts: u64, cell_type: CellType, value: &[u8]) -> Mutation {
    let key = key::flat_key(row.as_bytes(), column.0.as_bytes(), column.1.as_bytes(), ts, cell_type as u8);
    let mut cells = CellBuf::new(true);
    cells.push(&OwnedCell::new(&key, value, &[], 0).as_ref());
    Mutation::new(kind, row.to_owned(), cells)
}

/// One random mutation, for the region and in the model. The clock has moved, so "now" is above all timestamps.
fn step(random: &SeededRandom, now: u64, model: &mut Model) -> (Mutation, bool) {
    let pick = |n: u64| random.u64() % n;
    let row = format!("row{}", pick(4));
    let qualifier = format!("q{}", pick(3));
    let column = (FAMILIES[pick(2) as usize], qualifier.as_str());
    let value = format!("v{}", pick(1000));
    match pick(10) {
        0..=4 => {
            model.put(&row, column, now, value.as_bytes());
            (one(MutationKind::Put, &row, column, LATEST_TIMESTAMP, CellType::Put, value.as_bytes()), true)
        }
        5 => {
            model.delete(&row, |f, q| (f, q) == column, now);
            (one(MutationKind::Delete, &row, column, LATEST_TIMESTAMP, CellType::DeleteColumn, b""), true)
        }
        6 => {
            model.delete(&row, |f, _| f == column.0, now);
            (one(MutationKind::Delete, &row, (column.0, ""), LATEST_TIMESTAMP, CellType::DeleteFamily, b""), true)
        }
        7 => {
            model.delete(&row, |_, _| true, now);
            (Mutation::new(MutationKind::Delete, row, CellBuf::new(true)), true)
        }
        8 => {
            let column = (column.0, "n");
            let old = model.newest(&row, column).map(|(ts, v)| (ts, i64::from_be_bytes(v[..].try_into().unwrap())));
            let by = pick(100) as i64 - 50;
            let (ts, sum) = old.map_or((now, by), |(ts, n)| (now.max(ts + 1), n + by));
            model.put(&row, column, ts, &sum.to_be_bytes());
            (one(MutationKind::Increment, &row, column, LATEST_TIMESTAMP, CellType::Put, &by.to_be_bytes()), false)
        }
        _ => {
            let column = (column.0, "text");
            let old = model.newest(&row, column).map(|(ts, v)| (ts, v.clone()));
            let (ts, text) = old.map_or((now, Vec::new()), |(ts, v)| (now.max(ts + 1), v));
            model.put(&row, column, ts, &[&text, value.as_bytes()].concat());
            (one(MutationKind::Append, &row, column, LATEST_TIMESTAMP, CellType::Put, value.as_bytes()), false)
        }
    }
}

fn run(seed: u64) {
    let random = SeededRandom::new(seed);
    let (mut rig, mut model) = (Rig::new(), Model::default());
    for round in 0..150 {
        let now = 2000 + 10 * round;
        rig.clock.set(now);
        let (mutation, may_batch) = step(&random, now, &mut model);
        let request = match may_batch && random.u64().is_multiple_of(2) {
            true => WriteRequest::batch(vec![mutation]),
            false => WriteRequest::atomic(vec![mutation], None, 0),
        };
        let written = rig.write(request).unwrap();
        assert!(written.ops.iter().all(Result::is_ok), "seed {seed}, round {round}: {:?}", written.ops);
        match random.u64() % 40 {
            0..=3 => drop(rig.region.flush(None, "model").unwrap()),
            4 => drop(rig.region.flush(Some(&[rig::bytes("g")]), "model").unwrap()),
            5 => drop(rig.region.compact(None, false, &martite_store::Unthrottled).unwrap()),
            6 => drop(rig.region.compact(None, true, &martite_store::Unthrottled).unwrap()),
            7 => rig = rig.reopen(),
            8 => rig = rig.crash(),
            9 => rig = rig.restart(rig.fs.crash_torn(random.u64())),
            _ => {}
        }
        for row in 0..4 {
            let row = format!("row{row}");
            assert_eq!(region_row(&rig, &row), model.row(&row), "seed {seed}, round {round}, {row}");
        }
    }
}

#[test]
fn a_region_and_a_sorted_map_agree() {
    (0..30).for_each(run);
}
