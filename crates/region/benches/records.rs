//! Cost of reads and writes of YCSB's records in a region, without network and protocol: ten fields of 100 bytes, first
//! all in one file, then with updates of single fields in the memstore.
//!
//! `cargo bench -p martite-region --bench records` prints nanoseconds for each operation; `ROWS` (100,000) records,
//! `UPDATES` (200,000) of them by a skewed choice. `… -- NAME` runs one case, for a profiler. The best round counts.

#![allow(clippy::unwrap_used)]

#[path = "../tests/rig/mod.rs"]
mod rig;

use martite_cell::{CellBuf, LATEST_TIMESTAMP, OwnedCell};
use martite_hfile::{BlockSource, Step};
use martite_region::{
    FamilyColumns, GetSpec, Mutation, MutationKind, RegionConfig, ScanEnd, ScanLimits, ScanOutput, ScanSpec,
    WriteRequest,
};
use rig::{Rig, table};
use std::hint::black_box;
use std::time::Instant;

const FIELDS: usize = 10;
const SCAN_ROWS: u64 = 50;
const ROUNDS: usize = 5;

/// Reproducible numbers below `below`.
struct Dice(u64);

impl Dice {
    fn below(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
    /// Low numbers more often than high ones.
    fn skewed(&mut self, below: u64) -> u64 {
        let highest = self.below(below) + 1;
        self.below(highest)
    }
}

/// Neighbours in number are not neighbours in order.
fn row(number: u64) -> String {
    format!("user{}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

fn put(number: u64, fields: impl Iterator<Item = usize>, value: &[u8]) -> Mutation {
    let mut cells = CellBuf::new(false);
    let row = row(number);
    for field in fields {
        let qualifier = format!("field{field}");
        let cell = OwnedCell::put(row.as_bytes(), b"cf", qualifier.as_bytes(), LATEST_TIMESTAMP, value);
        cells.push(&cell.as_ref());
    }
    Mutation::new(MutationKind::Put, row, cells)
}

fn get(rig: &Rig, number: u64, src: &dyn BlockSource, out: &mut CellBuf) {
    let found = rig.region.get(&GetSpec::new(row(number)), src, out).unwrap();
    assert!(matches!(found, Step::Ready(found) if found.cells == FIELDS));
}

/// The first so many fields, by their names.
fn named(fields: usize) -> Vec<FamilyColumns> {
    let columns = (0..fields).map(|field| format!("field{field}").into()).collect();
    vec![FamilyColumns { columns, ..FamilyColumns::whole(&b"cf"[..]) }]
}

fn scan(rig: &Rig, number: u64, families: &[FamilyColumns], src: &dyn BlockSource, out: &mut ScanOutput) {
    let spec = ScanSpec { start_row: row(number).into(), families: families.to_vec(), ..ScanSpec::default() };
    let mut scanner = rig.region.scanner(spec).unwrap();
    let limits = ScanLimits { results: SCAN_ROWS, pause_after_cells: 1_000_000, ..ScanLimits::default() };
    match scanner.next_batch(&limits, &mut || false, src, out).unwrap() {
        Step::Ready(state) => assert!(state.end == ScanEnd::Exhausted || out.results.len() as u64 == SCAN_ROWS),
        Step::Need(block) => panic!("{block:?} is not in the cache"),
    }
}

struct Cases {
    rig: Rig,
    rows: u64,
    wanted: Option<String>,
    dice: Dice,
}

impl Cases {
    /// Nanoseconds of an operation: the best of some rounds of `operations` each.
    fn case(&mut self, name: &str, operations: u64, mut run: impl FnMut(&Rig, u64)) {
        if self.wanted.as_ref().is_some_and(|w| w != name) {
            return;
        }
        let rounds = if self.wanted.is_some() { 10 * ROUNDS } else { ROUNDS };
        let best = (0..rounds).map(|_| {
            let began = Instant::now();
            for _ in 0..operations {
                run(&self.rig, self.dice.skewed(self.rows));
            }
            began.elapsed().as_nanos() as f64 / operations as f64
        });
        println!("{name:<24} {:>8.0} ns", best.fold(f64::MAX, f64::min));
    }

    fn reads(&mut self, what: &str) {
        let (files, rows) = (self.rig.ctx.stores.files.clone(), self.rows);
        (0..rows).for_each(|number| get(&self.rig, number, &files.blocking(), &mut CellBuf::new(false)));
        let src = files.cache_only();
        let mut out = CellBuf::new(false);
        self.case(&format!("get.{what}"), rows, |rig, number| {
            out.clear();
            get(rig, number, &src, black_box(&mut out));
        });
        let all = ("", Vec::new());
        for (columns, families) in [all, (".named", named(FIELDS)), (".two", named(2))] {
            self.case(&format!("scan50.{what}{columns}"), rows / 50, |rig, number| {
                scan(rig, number, &families, &src, black_box(&mut ScanOutput::new(false)));
            });
        }
    }
}

fn main() {
    let setting = |name: &str, default: u64| std::env::var(name).map_or(default, |r| r.parse().unwrap());
    let (rows, updates) = (setting("ROWS", 100_000), setting("UPDATES", 200_000));
    let wanted = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let mut cases = Cases {
        rig: Rig::with(table(&["cf"]), RegionConfig::default()),
        rows,
        wanted,
        dice: Dice(0x2545_F491_4F6C_DD1D),
    };
    let mut number = 0;
    let everything = cases.wanted.take();
    let began = Instant::now();
    while number < rows {
        cases.rig.write(WriteRequest::batch(vec![put(number, 0..FIELDS, &[b'v'; 100])])).unwrap();
        number += 1;
    }
    println!("{:<24} {:>8.0} ns", "insert", began.elapsed().as_nanos() as f64 / rows as f64);
    cases.rig.region.flush(None, "bench").unwrap();
    cases.wanted = everything;
    cases.reads("file");
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let began = Instant::now();
    for _ in 0..updates {
        let field = dice.below(FIELDS as u64) as usize;
        let one = put(dice.skewed(rows), field..field + 1, &[b'w'; 100]);
        cases.rig.clock.advance_ms(1);
        cases.rig.write(WriteRequest::batch(vec![one])).unwrap();
    }
    println!("{:<24} {:>8.0} ns", "update", began.elapsed().as_nanos() as f64 / updates as f64);
    cases.reads("updated");
}
