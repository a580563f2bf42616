//! Gets, alone and told ahead, against scans of the same row: those read through merge and matcher, Gets mostly do not.

#![allow(clippy::unwrap_used)]

mod rig;

use bytes::Bytes;
use martite_catalog::{FamilyDescriptor, TableDescriptor, TableName};
use martite_cell::{CellBuf, CellType, OwnedCell, TimeRange, key};
use martite_env::{Random as _, SeededRandom};
use martite_hfile::{Block, BlockRequest, BlockSource, HFileError, Reader, Step};
use martite_region::{
    FamilyColumns, GetSpec, Getter, Mutation, MutationKind, RegionConfig, ScanEnd, ScanLimits, ScanOutput, ScanSpec,
    WriteRequest,
};
use martite_store::Files;
use rig::Rig;
use std::sync::Arc;
use std::time::Duration;

const QUALIFIERS: u64 = 30;

struct Random(SeededRandom);

impl Random {
    fn below(&self, n: u64) -> u64 {
        self.0.u64() % n
    }
    fn pick<T: Copy>(&self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
    fn row(&self) -> String {
        format!("row{:03}", self.below(60))
    }
    /// Few of them are in most rows.
    fn qualifier(&self) -> String {
        let most = self.pick(&[2, 5, QUALIFIERS]);
        self.pick(&["", "q"]).to_owned() + &self.below(most).to_string()
    }
}

fn table(random: &Random) -> TableDescriptor {
    let family = |name: &str| {
        FamilyDescriptor::new(name)
            .with("VERSIONS", random.pick(&["1", "1", "3"]))
            .with("BLOCKSIZE", random.pick(&["100", "600", "65536"]))
            .with("BLOOMFILTER", random.pick(&["NONE", "ROW", "ROWCOL"]))
            .with("DATA_BLOCK_ENCODING", random.pick(&["NONE", "NONE", "FAST_DIFF"]))
            .with("TTL", random.pick(&["2147483647", "2147483647", "1"]))
            .with("KEEP_DELETED_CELLS", random.pick(&["FALSE", "FALSE", "TRUE"]))
            .with("hfile.index.block.max.size", random.pick(&["200", "131072"]))
            .with("NEW_VERSION_BEHAVIOR", random.pick(&["false", "false", "false", "true"]))
    };
    TableDescriptor::new(TableName::parse("t").unwrap()).with_family(family("f")).with_family(family("g"))
}

fn mutation(random: &Random, now: u64) -> Mutation {
    let (row, code) = match random.below(12) {
        0 => (random.row(), CellType::DeleteColumn),
        1 => (random.row(), CellType::Delete),
        2 if random.below(4) == 0 => (random.row(), CellType::DeleteFamily),
        _ => (random.row(), CellType::Put),
    };
    let (mut cells, family) = (CellBuf::new(true), random.pick(&["f", "f", "g"]));
    let count = if code == CellType::Put { 1 + random.below(8) } else { 1 };
    let mut columns: Vec<_> = (0..count).map(|_| random.qualifier()).collect();
    columns.sort();
    columns.dedup();
    for column in columns {
        let column = if code == CellType::DeleteFamily { String::new() } else { column };
        let time = now - random.below(4) * 300;
        let key = key::flat_key(row.as_bytes(), family.as_bytes(), column.as_bytes(), time, code as u8);
        // A label that nobody looks at.
        let tags: &[u8] = if random.below(60) == 0 { &[0, 2, 99, 7] } else { &[] };
        let value = vec![b'v'; random.below(90) as usize];
        cells.push(&OwnedCell::new(&key, &value, tags, 0).as_ref());
    }
    let kind = if code == CellType::Put { MutationKind::Put } else { MutationKind::Delete };
    Mutation::new(kind, row, cells)
}

/// Some rows in one file, some in several, some in memory.
fn filled(random: &Random) -> Rig {
    let rig = Rig::with(table(random), RegionConfig::default());
    let steps = random.pick(&[60, 400]);
    for step in 0..steps {
        rig.clock.advance(Duration::from_millis(5));
        let now = 1000 + 5 * step + 900;
        rig.write(WriteRequest::batch(vec![mutation(random, now)])).unwrap().ops.remove(0).unwrap();
        if random.below(120) == 0 {
            rig.region.flush(None, "test").unwrap();
        }
    }
    match random.below(4) {
        0 => {}
        1 => drop(rig.region.flush(None, "test").unwrap()),
        major => {
            rig.region.flush(None, "test").unwrap();
            rig.region.compact(None, major == 2, &martite_store::Unthrottled).unwrap();
        }
    }
    if random.below(3) == 0 {
        rig.write(WriteRequest::batch(vec![mutation(random, 3000)])).unwrap().ops.remove(0).unwrap();
    }
    rig
}

/// Has no block at the first look at it in a while.
struct Forgetful<'a> {
    files: &'a Files,
    random: &'a Random,
}

impl BlockSource for Forgetful<'_> {
    fn get(&self, reader: &Reader, request: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        if self.random.below(12) == 0 {
            return Ok(None);
        }
        self.files.blocking().get(reader, request)
    }
    fn may_block(&self) -> bool {
        false
    }
}

fn texts(cells: &CellBuf) -> Vec<String> {
    let text = |c: martite_cell::CellRef<'_>| {
        format!("{} {}#{} {:?}", c.key.escape_ascii(), c.value.len(), c.type_code(), c.tags)
    };
    cells.iter().map(text).collect()
}

fn scanned(rig: &Rig, get: &GetSpec) -> Vec<String> {
    let spec = ScanSpec {
        families: get.families.clone(),
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
    GetSpec { families, time_range, exists_only, max_versions: random.pick(&[1, 1, 2, 3]), ..GetSpec::new("row000") }
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
