//! A store on a file system of the test's choice, and a reader so simple that it can be trusted.
#![allow(dead_code, reason = "every test program uses a part of it")]

use martite_blockcache::BlockCache;
use martite_cell::{CellRef, CellType, Order, OwnedCell, key};
use martite_env::{FileSystem, SeededRandom};
use martite_hfile::{Block, BlockSource, Step};
use martite_store::{
    CompactionOutcome, CompactionRequest, FamilyOptions, Files, FlushedFile, Store, StoreConfig, StoreContext,
    StoreError, StoreFile, Unthrottled,
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

pub const ROOT: &str = "/hbase";
pub const NOW: u64 = 1_700_000_000_000;
/// Encoded names of regions.
pub const PARENT: &str = "0123456789abcdef0123456789abcdef";
pub const LEFT: &str = "aaaa456789abcdef0123456789abcdef";
pub const RIGHT: &str = "bbbb456789abcdef0123456789abcdef";

pub fn region_dir(root: &Path, region: &str) -> PathBuf {
    root.join("data/default/t").join(region)
}

pub fn context(fs: Arc<dyn FileSystem>, root: &Path, config: StoreConfig, seed: u64) -> Arc<StoreContext> {
    let cache = Arc::new(BlockCache::new(64 << 20, Block::heap_size));
    Arc::new(StoreContext {
        files: Files::new(fs.clone(), cache),
        fs,
        random: Arc::new(SeededRandom::new(seed)),
        root: root.to_owned(),
        config,
    })
}

/// Small blocks, so that small tests have several.
pub fn family() -> FamilyOptions {
    FamilyOptions { block_size: 256, ..FamilyOptions::new("f") }
}

pub fn open(fs: &(impl FileSystem + Clone), options: FamilyOptions, seed: u64) -> Result<Store, StoreError> {
    let ctx = context(Arc::new(fs.clone()), Path::new(ROOT), StoreConfig::default(), seed);
    open_region(&ctx, PARENT, options)
}

pub fn open_region(ctx: &Arc<StoreContext>, region: &str, options: FamilyOptions) -> Result<Store, StoreError> {
    Store::open(ctx.clone(), region_dir(&ctx.root, region).join("f"), Arc::new(options), NOW)
}

pub fn cell(row: &str, qualifier: &str, ts: u64, kind: CellType, value: &str, seq_id: u64) -> OwnedCell {
    let key = key::flat_key(row.as_bytes(), b"f", qualifier.as_bytes(), ts, kind as u8);
    OwnedCell::new(&key, value.as_bytes(), &[], seq_id)
}

pub fn put(row: &str, ts: u64, value: &str, seq_id: u64) -> OwnedCell {
    cell(row, "q", ts, CellType::Put, value, seq_id)
}

pub fn add(store: &Store, cells: &[OwnedCell]) {
    for cell in cells {
        store.memstore().add(&cell.as_ref());
    }
}

pub fn flush(store: &Store, seq_id: u64) -> Result<FlushedFile, StoreError> {
    let ticket = store.prepare_flush();
    let flushed = store.flush_to_tmp(&ticket, seq_id, u64::MAX, NOW)?;
    store.commit_flush(ticket, flushed)
}

pub fn compact(store: &Store, request: CompactionRequest) -> Result<CompactionOutcome, StoreError> {
    let request = CompactionRequest { now_ms: NOW, ..request };
    let plan = store.select_compaction(request).expect("files to compact");
    store.run_compaction(plan, u64::MAX, NOW, &Unthrottled)
}

pub const MAJOR: CompactionRequest = CompactionRequest { force_major: true, user: true, off_peak: false, now_ms: NOW };

pub fn names(store: &Store) -> Vec<String> {
    store.files().iter().map(|f| f.name().to_owned()).collect()
}

/// Names in a directory; none if it is absent.
pub fn listed(fs: &dyn FileSystem, dir: &Path) -> Vec<String> {
    fs.list(dir).map(|l| l.into_iter().map(|e| e.name).collect()).unwrap_or_default()
}

pub fn ready<T>(step: Step<T>) -> T {
    match step {
        Step::Ready(value) => value,
        Step::Need(request) => panic!("a source that may block asked for {request:?}"),
    }
}

/// Cells of a file, front to back.
pub fn file_cells(file: &Arc<StoreFile>, src: &dyn BlockSource) -> Vec<OwnedCell> {
    let mut scanner = file.scanner(true);
    let mut cells = Vec::new();
    ready(scanner.seek_to_first(src).unwrap());
    while let Some(cell) = scanner.peek() {
        cells.push(cell.to_owned_cell());
        ready(scanner.next(src).unwrap());
    }
    cells
}

/// Every cell of memstore and files, in order.
pub fn raw_cells(store: &Store) -> Vec<OwnedCell> {
    let view = store.view();
    let files = store.context().files.clone();
    let mut cells: Vec<OwnedCell> = view.files.iter().flat_map(|f| file_cells(f, &files.blocking())).collect();
    for segment in &view.segments {
        let mut scanner = segment.scanner();
        scanner.seek_to_first();
        while let Some(cell) = scanner.peek() {
            cells.push(cell.to_owned_cell());
            scanner.next();
        }
    }
    cells.sort_by(|a, b| Order::Default.cells(&a.as_ref(), &b.as_ref()));
    cells
}

/// The newest visible value of each column, as `row:qualifier` → `value@timestamp`: no versions, no time to live.
pub fn logical(store: &Store) -> BTreeMap<String, String> {
    let cells = raw_cells(store);
    let mut visible = BTreeMap::new();
    for cell in cells.iter().map(|c| c.as_ref()).filter(|c| !c.is_delete()) {
        let hidden = cells.iter().any(|marker| hides(&marker.as_ref(), &cell));
        let column = format!("{}:{}", cell.row().escape_ascii(), cell.qualifier().escape_ascii());
        if !hidden {
            // Sorted newest first: the first one stays.
            let value = format!("{}@{}", cell.value.escape_ascii(), cell.timestamp());
            visible.entry(column).or_insert(value);
        }
    }
    visible
}

fn hides(marker: &CellRef<'_>, cell: &CellRef<'_>) -> bool {
    if marker.row() != cell.row() || !marker.is_delete() {
        return false;
    }
    let same_column = marker.qualifier() == cell.qualifier();
    let (at, older) = (cell.timestamp() == marker.timestamp(), cell.timestamp() <= marker.timestamp());
    match CellType::from_code(marker.type_code()) {
        Some(CellType::DeleteFamily) => older,
        Some(CellType::DeleteFamilyVersion) => at,
        Some(CellType::DeleteColumn) => same_column && older,
        Some(CellType::Delete) => same_column && at,
        _ => false,
    }
}

/// Short text of cells for comparisons.
pub fn texts(cells: &[OwnedCell]) -> Vec<String> {
    cells.iter().map(|c| format!("{c:?}")).collect()
}
