//! A table filled at random: two families, rows in one file, in several and in memory, with versions, markers and tags.

#![allow(dead_code, clippy::unwrap_used)]

use crate::rig::Rig;
use martite_catalog::{FamilyDescriptor, TableDescriptor, TableName};
use martite_cell::{CellBuf, CellType, OwnedCell, key};
use martite_env::{Random as _, SeededRandom};
use martite_hfile::{Block, BlockRequest, BlockSource, HFileError, Reader, Step};
use martite_region::{Mutation, MutationKind, RegionConfig, ScanEnd, ScanLimits, ScanOutput, ScanSpec, WriteRequest};
use martite_store::Files;
use std::sync::Arc;
use std::time::Duration;

const QUALIFIERS: u64 = 30;

pub struct Random(pub SeededRandom);

impl Random {
    pub fn below(&self, n: u64) -> u64 {
        self.0.u64() % n
    }
    pub fn pick<T: Copy>(&self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
    pub fn row(&self) -> String {
        format!("row{:03}", self.below(60))
    }
    /// Few of them are in most rows.
    pub fn qualifier(&self) -> String {
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
pub fn filled(random: &Random) -> Rig {
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
pub struct Forgetful<'a> {
    pub files: &'a Files,
    pub random: &'a Random,
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

/// `batches`: cells of a Result, of which one is picked.
pub fn limits(random: &Random, batches: &[u32]) -> ScanLimits {
    ScanLimits {
        results: random.pick(&[1, 7, 1000]),
        batch: random.pick(batches),
        size_bytes: random.pick(&[u64::MAX, 100, 1000]),
        block_bytes: random.pick(&[u64::MAX, 1000]),
        allow_partial: random.below(2) == 0,
        pause_after_cells: random.pick(&[1, 5, 10_000]),
        ..ScanLimits::default()
    }
}

/// All cells of a scan, call by call.
pub fn scanned(rig: &Rig, spec: &ScanSpec, limits: &ScanLimits, src: &dyn BlockSource) -> Result<CellBuf, String> {
    let mut scanner = rig.region.scanner(spec.clone()).map_err(|error| error.to_string())?;
    let mut out = ScanOutput::new(false);
    let mut cells = CellBuf::new(false);
    loop {
        let step = scanner.next_batch(limits, &mut || false, src, &mut out).map_err(|error| error.to_string())?;
        if let Step::Ready(state) = step
            && state.end != ScanEnd::Paused
        {
            out.cells.iter().for_each(|cell| cells.push(&cell));
            out = ScanOutput::new(false);
            if state.end == ScanEnd::Exhausted {
                return Ok(cells);
            }
        }
    }
}

pub fn texts(cells: &CellBuf) -> Vec<String> {
    let text = |c: martite_cell::CellRef<'_>| {
        format!("{} {}#{} {:?}", c.key.escape_ascii(), c.value.len(), c.type_code(), c.tags)
    };
    cells.iter().map(text).collect()
}
