//! Scans of a test's store: cells in memstore and files, read with any options, through a source that often has nothing.
#![allow(dead_code, reason = "every test program uses a part of it")]

pub mod model;

use martite_blockcache::BlockCache;
use martite_cell::{CellBuf, CellRef, CellType, OwnedCell, key, tags};
use martite_env::{MemFs, SeededRandom};
use martite_filter::Filter;
use martite_hfile::{Block, BlockKindHint, BlockRequest, BlockSource, BloomType, FileId, HFileError, Reader, Step};
use martite_proto as pb;
use martite_store::scan::{RowLimits, RowRead, StoreEnd};
use martite_store::{
    CompactionScan, CompactionScanner, FamilyOptions, Files, KeepDeleted, MemStore, ReadView, Store, StoreConfig,
    StoreContext, StoreScan, StoreScanner,
};
use pb::Message;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// A store whose flushes keep every cell, so that reads with any family options can be tried on the same cells.
pub struct Bench {
    pub store: Store,
    seq: u64,
    seed: u64,
}

/// What the flushes of a [`Bench`] write.
pub fn keep_everything(bloom: BloomType) -> FamilyOptions {
    FamilyOptions {
        max_versions: u32::MAX,
        keep_deleted: KeepDeleted::True,
        new_version_behavior: true,
        block_size: 128,
        bloom,
        ..FamilyOptions::new("f")
    }
}

impl Bench {
    pub fn new(bloom: BloomType, seed: u64) -> Bench {
        Bench::of(keep_everything(bloom), seed)
    }

    /// `options`: of what is written.
    pub fn of(options: FamilyOptions, seed: u64) -> Bench {
        let fs = Arc::new(MemFs::new());
        let cache = Arc::new(BlockCache::new(64 << 20, Block::heap_size));
        let ctx = StoreContext {
            files: Files::new(fs.clone(), cache),
            fs,
            random: Arc::new(SeededRandom::new(seed)),
            root: "/hbase".into(),
            config: StoreConfig::default(),
        };
        let dir = Path::new("/hbase/data/default/t/0123456789abcdef0123456789abcdef/f");
        let store = Store::open(Arc::new(ctx), dir.to_owned(), Arc::new(options), 0).expect("an empty store opens");
        Bench { store, seq: 0, seed }
    }

    pub fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    pub fn add(&self, cell: &OwnedCell) {
        self.store.memstore().add(&cell.as_ref());
    }

    pub fn flush(&mut self) {
        if self.store.memstore().is_empty() {
            return;
        }
        let ticket = self.store.prepare_flush();
        let flushed = self.store.flush_to_tmp(&ticket, self.seq, 0, 0).expect("a flush");
        self.store.commit_flush(ticket, flushed).expect("a commit");
    }

    /// Freezes the memstore without writing it.
    pub fn freeze(&self) {
        self.store.memstore().snapshot();
    }

    pub fn source(&self) -> Forgetful<'_> {
        Forgetful::new(self.store.context().files.as_ref(), self.seed)
    }

    pub fn scan(&self, family: &FamilyOptions, scan: &StoreScan, filter: Option<&pb::Filter>) -> Vec<String> {
        read_all(self.store.view(), family, scan, filter, &self.source())
    }

    /// The cells that a flush or compaction of everything keeps.
    pub fn compact(&self, family: &FamilyOptions, scan: CompactionScan) -> Vec<OwnedCell> {
        let mut scanner = CompactionScanner::new(self.store.view(), Arc::new(family.clone()), scan);
        let source = self.source();
        let mut kept = Vec::new();
        loop {
            match scanner.next(&source).expect("a sound file") {
                Step::Need(_) => {}
                Step::Ready(Some(cell)) => kept.push(cell.to_owned_cell()),
                Step::Ready(None) => return kept,
            }
        }
    }
}

/// Cells in memory as a view of their own.
pub fn view_of(cells: &[OwnedCell]) -> ReadView {
    let memstore = MemStore::new(Default::default());
    for cell in cells {
        memstore.add(&cell.as_ref());
    }
    let segments = memstore.segments();
    ReadView { segments, files: Arc::default() }
}

/// Every cell that a scan returns, row after row; checks that rows come whole and in order.
pub fn read_all(
    view: ReadView,
    family: &FamilyOptions,
    scan: &StoreScan,
    filter: Option<&pb::Filter>,
    src: &dyn BlockSource,
) -> Vec<String> {
    let mut filter = filter.map(|f| Filter::decode(f).expect("a sound filter"));
    let has_filter = filter.is_some();
    let mut scanner = StoreScanner::with_filter(view, Arc::new(family.clone()), Arc::new(scan.clone()), has_filter);
    while let Step::Need(_) = scanner.open(src).expect("a sound file") {}
    let mut out = CellBuf::new(true);
    let (block_bytes, mut scratch) = (Cell::new(0), Vec::new());
    let mut read = RowRead {
        out: &mut out,
        filter: filter.as_mut(),
        src,
        expired: &mut || false,
        limits: RowLimits::NONE,
        discard: false,
        cells_scanned: 0,
        block_bytes: &block_bytes,
        scratch: &mut scratch,
    };
    while let Some(row) = scanner.peek().map(|c| c.row().to_vec()) {
        if is_past_stop(&row, scan) {
            break;
        }
        let before = read.out.len();
        let end = loop {
            if let Step::Ready(end) = scanner.next(&mut read).expect("a sound file") {
                break end;
            }
        };
        assert!((before..read.out.len()).all(|at| read.out.get(at).expect("a cell").row() == row));
        if let Some(filter) = read.filter.as_deref_mut() {
            filter.reset();
        }
        match end {
            StoreEnd::Row => {}
            StoreEnd::Exhausted => break,
            other => panic!("{other:?} without limits"),
        }
    }
    out.iter().map(|c| text(&c)).collect()
}

pub fn is_past_stop(row: &[u8], scan: &StoreScan) -> bool {
    let stop = &scan.stop_row[..];
    !stop.is_empty()
        && match row.cmp(stop) {
            std::cmp::Ordering::Less => scan.reversed,
            std::cmp::Ordering::Equal => !scan.include_stop,
            std::cmp::Ordering::Greater => !scan.reversed,
        }
}

/// `row:qualifier/timestamp=value`, or `row:qualifier/timestamp Kind` for markers.
pub fn text(cell: &CellRef<'_>) -> String {
    let column = format!("{}:{}", cell.row().escape_ascii(), cell.qualifier().escape_ascii());
    match CellType::from_code(cell.type_code()) {
        Some(CellType::Put) => format!("{column}/{}={}", cell.timestamp(), cell.value.escape_ascii()),
        kind => format!("{column}/{} {:?}", cell.timestamp(), kind.expect("a known type")),
    }
}

pub fn cell(
    row: &str,
    qualifier: &str,
    ts: u64,
    kind: CellType,
    value: &str,
    seq_id: u64,
    ttl: Option<u64>,
) -> OwnedCell {
    let key = key::flat_key(row.as_bytes(), b"f", qualifier.as_bytes(), ts, kind as u8);
    let mut section = Vec::new();
    if let Some(ttl) = ttl {
        tags::append(&mut section, tags::TTL, &ttl.to_be_bytes());
    }
    OwnedCell::new(&key, value.as_bytes(), &section, seq_id)
}

/// ValueFilter: the value equals `value`.
pub fn value_filter(value: &str) -> pb::Filter {
    let package = "org.apache.hadoop.hbase.filter.";
    let comparable = pb::ByteArrayComparable { value: Some(value.as_bytes().to_vec().into()) };
    let comparator = pb::Comparator {
        name: format!("{package}BinaryComparator"),
        serialized_comparator: Some(pb::BinaryComparator { comparable }.encode_to_vec().into()),
    };
    let compare_filter = pb::CompareFilter { compare_op: pb::CompareType::Equal as i32, comparator: Some(comparator) };
    pb::Filter {
        name: format!("{package}ValueFilter"),
        serialized_filter: Some(pb::ValueFilter { compare_filter }.encode_to_vec().into()),
    }
}

/// Never waits, and has a block only when it was asked for it before; forgets now and then.
pub struct Forgetful<'a> {
    files: &'a Files,
    known: RefCell<HashSet<BlockRequest>>,
    state: Cell<u64>,
    pub needs: Cell<u64>,
    /// Files whose data was read.
    pub data_read: RefCell<HashSet<FileId>>,
}

impl<'a> Forgetful<'a> {
    pub fn new(files: &'a Files, seed: u64) -> Forgetful<'a> {
        Forgetful {
            files,
            known: RefCell::default(),
            state: Cell::new(seed | 1),
            needs: Cell::new(0),
            data_read: RefCell::default(),
        }
    }

    fn random(&self) -> u64 {
        let mut x = self.state.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.state.set(x);
        x
    }
}

impl BlockSource for Forgetful<'_> {
    fn get(&self, reader: &Reader, request: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        let mut known = self.known.borrow_mut();
        if self.random().is_multiple_of(50) {
            known.clear();
        }
        if known.insert(*request) {
            self.needs.set(self.needs.get() + 1);
            return Ok(None);
        }
        drop(known);
        if request.kind == BlockKindHint::Data {
            self.data_read.borrow_mut().insert(request.file);
        }
        self.files.blocking().get(reader, request)
    }
    fn may_block(&self) -> bool {
        false
    }
}

/// Every script of a folder, of which there are at least so many, comes out of `replay` as it is; with `UPDATE_GOLDEN=1`
/// it is written as it comes out.
pub fn check_scripts(folder: &str, least: usize, replay: fn(&str) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    assert!(paths.len() >= least, "{paths:?}");
    for path in paths {
        let script = std::fs::read_to_string(&path).expect("a script");
        let replayed = replay(&script);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, replayed).expect("a script that can be written");
        } else {
            assert_eq!(replayed, script, "{}: run with UPDATE_GOLDEN=1 and read the difference", path.display());
        }
    }
}
