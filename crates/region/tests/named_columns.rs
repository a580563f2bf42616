//! Scans of named columns against scans of all columns, of which the others are left out.

#![allow(clippy::unwrap_used)]

mod random_table;
mod rig;

use bytes::Bytes;
use martite_cell::{CellBuf, CellRef, TimeRange};
use martite_env::SeededRandom;
use martite_region::{FamilyColumns, ScanLimits, ScanSpec};
use random_table::{Forgetful, Random, filled, limits, scanned, texts};

fn like(random: &Random) -> ScanSpec {
    let columns = || (0..1 + random.below(8)).map(|_| Bytes::from(random.qualifier())).collect();
    let named = FamilyColumns { columns: columns(), ..FamilyColumns::whole("f") };
    let mut families = vec![named];
    if random.below(2) == 0 {
        families.push(FamilyColumns { columns: columns(), ..FamilyColumns::whole("g") });
    }
    let start_row = if random.below(2) == 0 { Bytes::new() } else { random.row().into() };
    let time_range = match random.below(4) {
        0 => TimeRange::new(1000 + random.below(2000), 2000 + random.below(2000)),
        _ => TimeRange::ALL,
    };
    let max_versions = random.pick(&[1, 1, 2, 3]);
    ScanSpec { families, start_row, time_range, max_versions, ..ScanSpec::default() }
}

#[test]
fn named_columns_are_those_of_all() {
    let mut found = 0;
    for seed in 0..150 {
        let random = Random(SeededRandom::new(seed));
        let rig = filled(&random);
        let files = rig.ctx.stores.files.clone();
        for _ in 0..12 {
            let (spec, limits) = (like(&random), limits(&random, &[u32::MAX, u32::MAX, 1, 2, 3]));
            let whole = |family: &FamilyColumns| FamilyColumns { columns: std::sync::Arc::default(), ..family.clone() };
            let all = ScanSpec { families: spec.families.iter().map(whole).collect(), ..spec.clone() };
            let is_named = |cell: &CellRef<'_>| {
                let family = spec.families.iter().find(|family| family.family[..] == *cell.family()).unwrap();
                family.columns.iter().any(|column| column[..] == *cell.qualifier())
            };
            let mut expected = CellBuf::new(false);
            let every = scanned(&rig, &all, &ScanLimits::default(), &files.blocking()).unwrap();
            every.iter().filter(is_named).for_each(|cell| expected.push(&cell));
            let source = Forgetful { files: &files, random: &random };
            let named = scanned(&rig, &spec, &limits, &source).unwrap();
            assert_eq!(texts(&named), texts(&expected), "seed {seed}: {spec:?} {limits:?}");
            found += expected.len();
        }
    }
    assert!(found > 10_000, "{found}");
}
