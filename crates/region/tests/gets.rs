//! Gets, alone and told ahead, against scans of the same row: those read through merge and matcher, Gets mostly do not.

#![allow(clippy::unwrap_used)]

mod random_table;
mod rig;

use bytes::Bytes;
use martite_cell::{CellBuf, TimeRange};
use martite_env::SeededRandom;
use martite_hfile::Step;
use martite_region::{FamilyColumns, GetSpec, Getter, ScanEnd, ScanLimits, ScanOutput, ScanSpec};
use random_table::{Forgetful, Random, filled, texts};
use rig::Rig;

fn scanned(rig: &Rig, get: &GetSpec) -> Vec<String> {
    let spec = ScanSpec {
        families: get.families.to_vec(),
        start_row: get.row.clone(),
        stop_row: get.row.clone(),
        include_stop: true,
        max_versions: get.max_versions,
        time_range: get.time_range,
        ..ScanSpec::default()
    };
    let mut scanner = rig.region.scanner(spec).unwrap();
    let (files, mut out) = (rig.ctx.stores.files.clone(), ScanOutput::new(false));
    loop {
        match scanner.next_batch(&ScanLimits::default(), &mut || false, &files.blocking(), &mut out).unwrap() {
            Step::Ready(state) if state.end == ScanEnd::Exhausted => return texts(&out.cells),
            Step::Ready(_) => {}
            Step::Need(block) => panic!("{block:?}"),
        }
    }
}

fn like(random: &Random) -> GetSpec {
    let columns = || (0..random.below(6)).map(|_| Bytes::from(random.qualifier())).collect();
    let families = match random.below(3) {
        0 => Vec::new(),
        1 => vec![FamilyColumns { columns: columns(), ..FamilyColumns::whole("f") }],
        _ => vec![FamilyColumns { columns: columns(), ..FamilyColumns::whole("f") }, FamilyColumns::whole("g")],
    };
    let time_range = match random.below(4) {
        0 => TimeRange::new(1000 + random.below(2000), 2000 + random.below(2000)),
        _ => TimeRange::ALL,
    };
    let exists_only = random.below(6) == 0;
    GetSpec {
        families: families.into(),
        time_range,
        exists_only,
        max_versions: random.pick(&[1, 1, 2, 3]),
        ..GetSpec::new("row000")
    }
}

#[test]
fn a_row_that_is_not_in_the_region_is_refused_told_ahead_or_not() {
    let rig = filled(&Random(SeededRandom::new(1)));
    let (files, like) = (rig.ctx.stores.files.clone(), GetSpec::new("row000"));
    for outside in ["a", "z", ""] {
        let (row, src) = (Bytes::from(outside.to_owned()), files.cache_only());
        for told in [false, true] {
            let mut getter = Getter::new(&rig.region, &like).unwrap();
            if told {
                getter.expect([&row, &like.row, &row].into_iter(), &src);
            }
            let alone = rig.region.get(&GetSpec::new(row.clone()), &src, &mut CellBuf::new(false)).unwrap_err();
            let error = getter.get(&row, &src, &mut CellBuf::new(false)).unwrap_err();
            assert_eq!(error.to_string(), alone.to_string(), "{outside} {told}");
        }
    }
}

#[test]
fn gets_find_what_scans_of_their_rows_do() {
    let (mut found, mut missed) = (0, 0);
    for seed in 0..150 {
        let random = Random(SeededRandom::new(seed));
        let rig = filled(&random);
        let files = rig.ctx.stores.files.clone();
        let source = Forgetful { files: &files, random: &random };
        for _ in 0..6 {
            let like = like(&random);
            let mut getter = Getter::new(&rig.region, &like).unwrap();
            let rows: Vec<Bytes> = (0..40).map(|_| random.row().into()).collect();
            for group in rows.chunks(1 + random.below(20) as usize) {
                if random.below(4) > 0 {
                    getter.expect(group.iter(), &source);
                }
                for row in group {
                    let get = GetSpec { row: row.clone(), ..like.clone() };
                    let expected = scanned(&rig, &get);
                    let what = format!("seed {seed}: {get:?}");
                    let (mut alone, mut shared) = (CellBuf::new(false), CellBuf::new(false));
                    let Step::Ready(outcome) = rig.region.get(&get, &files.blocking(), &mut alone).unwrap() else {
                        panic!("{what}");
                    };
                    assert_eq!(outcome.exists, !expected.is_empty(), "{what}");
                    while let Step::Need(block) = getter.get(row, &source, &mut shared).unwrap() {
                        assert!(shared.is_empty(), "{what}");
                        missed += usize::from(block.len > 0);
                    }
                    let expected = if like.exists_only { Vec::new() } else { expected };
                    found += expected.len();
                    assert_eq!(texts(&alone), expected, "alone, {what}");
                    assert_eq!(texts(&shared), expected, "{what}");
                }
            }
        }
    }
    assert!(found > 10_000 && missed > 500, "{found} cells, {missed} blocks were missed");
}
