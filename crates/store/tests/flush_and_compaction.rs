//! Flushes and compactions on the local file system and in memory: what goes in comes out, and what should go is gone.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod world;

use martite_cell::{CellType, OwnedCell, tags};
use martite_env::{FileSystem, LocalFs, MemFs};
use martite_hfile::{BlockSource, BloomType, Compression, Encoding, Step, format::info};
use martite_proto::{CompactionEventTracker, Message, PBUF_MAGIC};
use martite_store::{
    CompactionRequest, FamilyOptions, FlushTicket, KeepDeleted, Store, StoreConfig, StoreError, Throttle, Unthrottled,
};
use std::{
    collections::HashSet,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::{self, ThreadId},
};
use world::*;

fn rows(range: std::ops::Range<u32>, ts: u64, seq_id: u64) -> Vec<OwnedCell> {
    range.map(|i| put(&format!("row{i:04}"), ts, &format!("value{i} at {ts}"), seq_id)).collect()
}

fn flushed_store(options: FamilyOptions) -> (MemFs, Store) {
    let fs = MemFs::new();
    let store = open(&fs, options, 1).unwrap();
    (fs, store)
}

#[test]
fn what_is_flushed_is_read_back_by_this_store_and_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("hbase");
    let ctx = context(Arc::new(LocalFs), &root, StoreConfig::default(), 1);
    let store = open_region(&ctx, PARENT, family()).unwrap();
    let cells = rows(0..300, NOW, 7);
    add(&store, &cells);
    let before = raw_cells(&store);
    let flushed = flush(&store, 9).unwrap();
    assert_eq!((flushed.cells, store.max_seq_id(), store.max_mvcc()), (300, 9, 7));
    assert!(store.memstore().is_empty());
    assert_eq!(texts(&raw_cells(&store)), texts(&before));
    let path = flushed.path.unwrap();
    assert_eq!(path.file_name().and_then(|n| n.to_str()).map(str::len), Some(32));
    assert_eq!(listed(&LocalFs, &region_dir(&root, PARENT).join(".tmp/f")), Vec::<String>::new());
    drop(store);
    assert_eq!(ctx.files.open_count(), 0);

    let ctx = context(Arc::new(LocalFs), &root, StoreConfig::default(), 2);
    let store = open_region(&ctx, PARENT, family()).unwrap();
    assert_eq!(texts(&raw_cells(&store)), texts(&before));
    assert_eq!((store.max_seq_id(), store.counters().size_bytes), (9, flushed.size_bytes));
}

#[test]
fn a_store_file_says_about_itself_what_hbases_say() {
    let (_fs, store) = flushed_store(FamilyOptions { bloom: BloomType::RowPrefix(3), ..family() });
    add(&store, &rows(0..10, 500, 7));
    add(&store, &[cell("row0001", "", 400, CellType::DeleteFamily, "", 8)]);
    flush(&store, 9).unwrap();
    let files = store.files();
    let get = |key: &[u8]| files[0].reader.file_info().get(key).map(<[u8]>::to_vec);
    let long = |n: u64| Some(n.to_be_bytes().to_vec());
    assert_eq!(get(info::MAX_SEQ_ID_KEY), long(9));
    assert_eq!(get(info::MAJOR_COMPACTION_KEY), Some(vec![0]));
    assert_eq!(get(info::EARLIEST_PUT_TS), long(500));
    assert_eq!(get(info::COMPACTION_EVENT_KEY), Some(b"PBUF".to_vec()));
    assert_eq!(get(info::HISTORICAL), Some(vec![0]));
    // A family marker covers every older time.
    assert_eq!(get(info::TIMERANGE), Some([0u64.to_be_bytes(), 500u64.to_be_bytes()].concat()));
    assert_eq!(get(info::DELETE_FAMILY_COUNT), long(1));
    assert_eq!(get(info::MAX_MEMSTORE_TS_KEY), long(8));
    assert_eq!(get(info::KEY_VALUE_VERSION), Some(1u32.to_be_bytes().to_vec()));
    assert_eq!(get(info::BLOOM_FILTER_TYPE), Some(b"ROWPREFIX_FIXED_LENGTH".to_vec()));
    assert_eq!(get(info::BLOOM_FILTER_PARAM), Some(3u32.to_be_bytes().to_vec()));
    assert_eq!(get(info::LAST_BLOOM_KEY), Some(b"row".to_vec()));
    assert_eq!(get(b"hfile.CREATE_TIME_TS"), long(NOW));
    for key in [
        "hfile.LASTKEY",
        "hfile.AVG_KEY_LEN",
        "hfile.AVG_VALUE_LEN",
        "hfile.KEY_OF_BIGGEST_CELL",
        "hfile.LEN_OF_BIGGEST_CELL",
    ] {
        assert!(get(key.as_bytes()).is_some(), "{key}");
    }
    assert_eq!(get(b"hfile.MAX_TAGS_LEN"), None, "no cell has tags");

    add(&store, &rows(0..10, 600, 10));
    flush(&store, 11).unwrap();
    let inputs = names(&store);
    let outcome = compact(&store, MAJOR).unwrap();
    let files = store.files();
    let get = |key: &[u8]| files[0].reader.file_info().get(key).map(<[u8]>::to_vec);
    assert_eq!(get(info::MAJOR_COMPACTION_KEY), Some(vec![0xff]));
    assert_eq!(get(info::MAX_SEQ_ID_KEY), long(11));
    let event = get(info::COMPACTION_EVENT_KEY).unwrap();
    let event = CompactionEventTracker::decode(event.strip_prefix(PBUF_MAGIC).unwrap()).unwrap();
    let mut named: Vec<String> =
        event.compacted_store_file.iter().map(|n| String::from_utf8(n.to_vec()).unwrap()).collect();
    let mut inputs = inputs;
    named.sort();
    inputs.sort();
    assert_eq!(named, inputs);
    assert_eq!(outcome.output, files[0].name());
}

#[test]
fn encodings_compressions_and_tags_survive_flush_and_compaction() {
    let encodings = [Encoding::None, Encoding::Prefix, Encoding::Diff, Encoding::FastDiff, Encoding::RowIndexV1];
    for (i, encoding) in encodings.into_iter().enumerate() {
        let compression =
            [Compression::None, Compression::Gz, Compression::Snappy, Compression::Lz4, Compression::Zstd][i];
        let options =
            FamilyOptions { encoding, compression, compression_major: compression, max_versions: 3, ..family() };
        let (_fs, store) = flushed_store(options);
        let mut section = Vec::new();
        tags::append(&mut section, tags::ACL, b"rw");
        for generation in 0..3u64 {
            let cells: Vec<_> = rows(0..100, NOW + generation, generation + 1)
                .iter()
                .map(|c| {
                    let c = c.as_ref();
                    let tags = if c.row().ends_with(b"7") { &section[..] } else { &[] };
                    OwnedCell::new(c.key, c.value, tags, c.seq_id)
                })
                .collect();
            add(&store, &cells);
            flush(&store, generation + 1).unwrap();
        }
        let before = raw_cells(&store);
        assert_eq!((before.len(), before.iter().filter(|c| !c.as_ref().tags.is_empty()).count()), (300, 30));
        compact(&store, MAJOR).unwrap();
        let after = raw_cells(&store);
        assert!(before == after, "{encoding:?} {compression:?}");
    }
}

#[test]
fn an_empty_flush_and_one_of_expired_cells_leave_no_file() {
    let (fs, store) = flushed_store(FamilyOptions { ttl_ms: Some(1000), ..family() });
    assert_eq!(flush(&store, 3).unwrap().path, None);
    add(&store, &rows(0..5, NOW - 2000, 4));
    let flushed = flush(&store, 5).unwrap();
    assert_eq!((flushed.path, flushed.cells), (None, 0));
    assert_eq!((store.file_count(), store.memstore().cell_count()), (0, 0));
    assert_eq!(listed(&fs, store.dir()), Vec::<String>::new());
}

#[test]
fn an_aborted_flush_keeps_the_cells_readable_and_the_next_one_writes_them() {
    let (fs, store) = flushed_store(family());
    add(&store, &rows(0..5, NOW, 1));
    let ticket = store.prepare_flush();
    let flushed = store.flush_to_tmp(&ticket, 1, u64::MAX, NOW).unwrap();
    let tmp = flushed.tmp_path.clone().unwrap();
    assert!(fs.exists(&tmp));
    store.abort_flush(ticket, Some(flushed));
    assert!(!fs.exists(&tmp));
    add(&store, &rows(5..8, NOW, 2));
    assert_eq!(logical(&store).len(), 8);
    assert_eq!(flush(&store, 1).unwrap().cells, 5);
    assert_eq!(flush(&store, 2).unwrap().cells, 3);
    assert_eq!(logical(&store).len(), 8);
}

#[test]
fn a_major_compaction_drops_what_nobody_can_see_and_a_minor_one_keeps_markers() {
    let options = FamilyOptions { max_versions: 2, ..family() };
    let (_fs, store) = flushed_store(options);
    for (seq, ts) in [(1, 100), (2, 200), (3, 300)] {
        add(&store, &[put("versions", ts, "v", seq), put("deleted", ts, "v", seq)]);
        flush(&store, seq).unwrap();
    }
    add(&store, &[put("keep", 50, "v", 4)]);
    add(&store, &[cell("deleted", "q", 250, CellType::DeleteColumn, "", 4)]);
    flush(&store, 4).unwrap();
    assert_eq!(raw_cells(&store).len(), 8);

    // Three of four files: markers stay for what the fourth may hold.
    let plan = store.select_compaction(CompactionRequest { now_ms: NOW, ..Default::default() }).unwrap();
    assert!(plan.all_files, "small files need no ratio");
    drop(plan);
    let before = logical(&store);
    let outcome = compact(&store, MAJOR).unwrap();
    assert_eq!((outcome.cells_written, outcome.inputs.len()), (4, 4));
    let expected = [
        "deleted/f:q/300/Put/vlen=1/seqid=3",
        "keep/f:q/50/Put/vlen=1/seqid=4",
        "versions/f:q/300/Put/vlen=1/seqid=3",
        "versions/f:q/200/Put/vlen=1/seqid=2",
    ];
    assert_eq!(texts(&raw_cells(&store)), expected);
    assert_eq!(logical(&store), before);
}

#[test]
fn a_minor_compaction_keeps_markers_for_the_files_it_does_not_read() {
    let (fs, store) = flushed_store(family());
    drop(store);
    let mut config = StoreConfig::default();
    config.compaction.max_files = 3;
    config.compaction.min_size_bytes = 1 << 30;
    let store = open_region(&context(Arc::new(fs), Path::new(ROOT), config, 1), PARENT, family()).unwrap();
    add(&store, &rows(0..200, 100, 1));
    flush(&store, 1).unwrap();
    for seq in 2..5 {
        add(&store, &[cell("row0001", "q", 100 + seq, CellType::DeleteColumn, "", seq)]);
        flush(&store, seq).unwrap();
    }
    let before = logical(&store);
    assert_eq!(before.len(), 199);
    let outcome = compact(&store, CompactionRequest::default()).unwrap();
    assert_eq!((outcome.inputs.len(), outcome.major), (3, false));
    assert_eq!(store.file_count(), 2);
    let kept: Vec<_> = raw_cells(&store).into_iter().filter(|c| c.as_ref().is_delete()).collect();
    let marker = |n: u64| format!("row0001/f:q/{}/DeleteColumn/vlen=0/seqid={n}", 100 + n);
    assert_eq!(texts(&kept), [marker(4), marker(3), marker(2)]);
    assert_eq!(logical(&store), before);
}

#[test]
fn what_an_open_scanner_can_see_survives_a_major_compaction() {
    let (_fs, store) = flushed_store(family());
    add(&store, &[put("r", 100, "old", 5)]);
    flush(&store, 5).unwrap();
    add(&store, &[put("r", 200, "new", 10), cell("r", "q", 150, CellType::DeleteColumn, "", 9)]);
    flush(&store, 10).unwrap();
    let plan = store.select_compaction(MAJOR).unwrap();
    let outcome = store.run_compaction(plan, 7, NOW, &martite_store::Unthrottled).unwrap();
    assert_eq!(outcome.cells_written, 3, "the reader at 7 needs the old value; marker and new value are newer");
    let outcome = compact(&store, MAJOR).unwrap();
    assert_eq!(outcome.cells_written, 1);
}

#[test]
fn kept_deleted_cells_survive_a_major_compaction() {
    let options = FamilyOptions { keep_deleted: KeepDeleted::True, max_versions: 5, ..family() };
    let (_fs, store) = flushed_store(options);
    add(&store, &[put("r", 100, "v", 1), cell("r", "q", 150, CellType::DeleteColumn, "", 2)]);
    flush(&store, 2).unwrap();
    compact(&store, MAJOR).unwrap();
    assert_eq!(raw_cells(&store).len(), 2);
}

#[test]
fn inputs_are_archived_when_their_last_reader_lets_go() {
    let (fs, store) = flushed_store(family());
    for seq in 1..4 {
        add(&store, &rows(0..50, NOW + seq, seq));
        flush(&store, seq).unwrap();
    }
    let view = store.view();
    let inputs = names(&store);
    let outcome = compact(&store, MAJOR).unwrap();
    let archive = Path::new(ROOT).join("archive/data/default/t").join(PARENT).join("f");
    assert_eq!(listed(&fs, &archive), Vec::<String>::new());
    let files = store.context().files.clone();
    assert_eq!(file_cells(&view.files[0], &files.blocking()).len(), 50, "the old view still reads");
    assert_eq!(store.archive_compacted(NOW).unwrap(), 0);
    assert_eq!(files.open_count(), 4);
    drop(view);
    assert_eq!(store.archive_compacted(NOW).unwrap(), 3);
    assert_eq!(files.open_count(), 1);
    let mut expected = inputs;
    expected.sort();
    assert_eq!(listed(&fs, &archive), expected);
    assert_eq!(listed(&fs, store.dir()), [outcome.output]);
}

#[test]
fn a_store_that_died_before_archiving_does_so_when_it_opens() {
    let (fs, store) = flushed_store(family());
    for seq in 1..4 {
        add(&store, &rows(0..50, NOW + seq, seq));
        flush(&store, seq).unwrap();
    }
    let view = store.view();
    compact(&store, MAJOR).unwrap();
    let before = logical(&store);
    assert_eq!(listed(&fs, store.dir()).len(), 4);
    drop((view, store));
    let store = open(&fs, family(), 9).unwrap();
    assert_eq!(store.file_count(), 1);
    assert_eq!(listed(&fs, store.dir()).len(), 1);
    assert_eq!(logical(&store), before);
}

#[test]
fn an_output_names_what_its_inputs_replaced_until_that_is_archived() {
    let (fs, store) = flushed_store(family());
    for seq in 1..3 {
        add(&store, &rows(0..50, NOW + seq, seq));
        flush(&store, seq).unwrap();
    }
    let first_inputs = names(&store);
    let view = store.view();
    compact(&store, MAJOR).unwrap();
    add(&store, &[cell("row0001", "q", NOW + 9, CellType::DeleteColumn, "", 3)]);
    flush(&store, 3).unwrap();
    compact(&store, MAJOR).unwrap();
    assert!(first_inputs.iter().all(|n| listed(&fs, store.dir()).contains(n)), "still read");
    let before = logical(&store);
    assert_eq!(before.len(), 49);
    // The machine stops: the deleted row must not come back from the first inputs.
    drop((view, store));
    let store = open(&fs, family(), 9).unwrap();
    assert_eq!(store.file_count(), 1);
    assert_eq!(logical(&store), before);
}

#[test]
fn a_file_whose_cells_have_all_expired_is_dropped_unread() {
    let (fs, store) = flushed_store(FamilyOptions { ttl_ms: Some(1000), ..family() });
    add(&store, &rows(0..5, NOW, 1));
    flush(&store, 1).unwrap();
    add(&store, &rows(5..9, NOW + 900, 2));
    flush(&store, 2).unwrap();
    add(&store, &rows(5..9, NOW, 3));
    flush(&store, 3).unwrap();
    assert!(store.select_compaction(CompactionRequest { now_ms: NOW + 1000, ..Default::default() }).is_some());
    assert_eq!(store.file_count(), 3);
    assert!(store.select_compaction(CompactionRequest { now_ms: NOW + 1001, ..Default::default() }).is_none());
    assert_eq!(store.file_count(), 2, "the newest one stays, it carries the sequence id");
    assert_eq!(listed(&fs, store.dir()).len(), 2);
    assert_eq!(store.max_seq_id(), 3);
}

#[test]
fn planned_files_are_left_alone_until_the_plan_is_gone() {
    let (_fs, store) = flushed_store(family());
    for seq in 1..4 {
        add(&store, &rows(0..5, NOW + seq, seq));
        flush(&store, seq).unwrap();
    }
    assert!(store.needs_compaction());
    let plan = store.select_compaction(MAJOR).unwrap();
    assert!(!store.needs_compaction());
    assert!(store.select_compaction(MAJOR).is_none());
    drop(plan);
    assert!(store.needs_compaction());
    assert_eq!(store.select_compaction(MAJOR).unwrap().files.len(), 3);
}

#[test]
fn the_pressure_is_one_at_the_number_of_files_that_flushes_wait_for() {
    for (blocking_files, pressures) in [(5, [0.0, 0.0, 0.0, 0.5, 1.0, 1.5]), (3, [0.0, 0.0, 0.0, 2.0, 4.0, 6.0])] {
        let config = StoreConfig { blocking_files, ..StoreConfig::default() };
        let context = context(Arc::new(MemFs::new()), Path::new(ROOT), config, 1);
        let store = open_region(&context, PARENT, family()).unwrap();
        for (seq, pressure) in (1..).zip(pressures) {
            add(&store, &rows(0..5, NOW + seq, seq));
            flush(&store, seq).unwrap();
            assert_eq!(store.compaction_pressure(), pressure, "{seq} files of {blocking_files}");
            assert_eq!(store.has_too_many_files(), pressure > 1.0, "{seq} files of {blocking_files}");
        }
    }
}

struct StopAfter {
    calls: AtomicU64,
}

impl Throttle for StopAfter {
    fn pause(&self, _bytes: u64) -> Result<(), String> {
        if self.calls.fetch_add(1, Relaxed) >= 2 { Err("the region closes".into()) } else { Ok(()) }
    }
}

#[test]
fn a_cancelled_compaction_changes_nothing() {
    let fs = MemFs::new();
    let config = StoreConfig { throttle_every_bytes: 1000, ..StoreConfig::default() };
    let store = open_region(&context(Arc::new(fs.clone()), Path::new(ROOT), config, 1), PARENT, family()).unwrap();
    for seq in 1..4 {
        add(&store, &rows(0..200, NOW + seq, seq));
        flush(&store, seq).unwrap();
    }
    let before = (names(&store), listed(&fs, store.dir()));
    let plan = store.select_compaction(MAJOR).unwrap();
    let error = store.run_compaction(plan, u64::MAX, NOW, &StopAfter { calls: AtomicU64::new(0) }).unwrap_err();
    assert!(matches!(&error, StoreError::Cancelled(why) if why == "the region closes"), "{error}");
    assert_eq!((names(&store), listed(&fs, store.dir())), before);
    assert_eq!(listed(&fs, &region_dir(Path::new(ROOT), PARENT).join(".tmp/f")), Vec::<String>::new());
    let counters = store.counters();
    assert_eq!((counters.compacting_cells, counters.compacted_cells, counters.compactions), (0, 0, 0));
    assert_eq!(compact(&store, MAJOR).unwrap().inputs.len(), 3);
}

struct Watch<'a> {
    store: &'a Store,
    most_done: AtomicU64,
}

impl Throttle for Watch<'_> {
    fn pause(&self, _bytes: u64) -> Result<(), String> {
        let c = self.store.counters();
        assert!(c.compacted_cells <= c.compacting_cells, "{c:?}");
        self.most_done.fetch_max(c.compacted_cells, Relaxed);
        Ok(())
    }
}

/// Each piece has a thread of its own, and ends after three pauses.
#[derive(Default)]
struct InPieces {
    pauses: AtomicU64,
    threads: Mutex<HashSet<ThreadId>>,
}

impl Throttle for InPieces {
    fn pause(&self, _bytes: u64) -> Result<(), String> {
        self.pauses.fetch_add(1, Relaxed);
        self.threads.lock().unwrap().insert(thread::current().id());
        Ok(())
    }
    fn run(&self, piece: &mut (dyn FnMut() + Send)) {
        thread::scope(|scope| scope.spawn(piece).join().unwrap());
    }
    fn ends_piece(&self) -> bool {
        self.pauses.load(Relaxed).is_multiple_of(3)
    }
}

#[test]
fn a_compaction_in_pieces_writes_what_one_in_one_piece_does() {
    let config = StoreConfig { throttle_every_bytes: 1000, ..StoreConfig::default() };
    let compacted = |throttle: &dyn Throttle| {
        let fs = MemFs::new();
        let context = context(Arc::new(fs.clone()), Path::new(ROOT), config.clone(), 1);
        let store = open_region(&context, PARENT, family()).unwrap();
        for seq in 1..4 {
            add(&store, &rows(0..200, NOW + seq, seq));
            flush(&store, seq).unwrap();
        }
        let plan = store.select_compaction(MAJOR).unwrap();
        let outcome = store.run_compaction(plan, u64::MAX, NOW, throttle).unwrap();
        (outcome, fs.read(&store.dir().join(&names(&store)[0])).unwrap())
    };
    let pieces = InPieces::default();
    let (in_pieces, file) = compacted(&pieces);
    let (at_once, wanted) = compacted(&Unthrottled);
    assert_eq!((in_pieces.cells_read, in_pieces.bytes_read), (at_once.cells_read, at_once.bytes_read));
    assert_eq!((in_pieces.cells_written, file.len()), (200, wanted.len()));
    assert!(file == wanted, "the files differ");
    assert!(pieces.threads.lock().unwrap().len() > 5);
}

#[test]
fn progress_is_counted_while_a_compaction_runs() {
    let fs = MemFs::new();
    let config = StoreConfig { throttle_every_bytes: 1000, ..StoreConfig::default() };
    let store = open_region(&context(Arc::new(fs), Path::new(ROOT), config, 1), PARENT, family()).unwrap();
    for seq in 1..4 {
        add(&store, &rows(0..200, NOW + seq, seq));
        flush(&store, seq).unwrap();
    }
    let watch = Watch { store: &store, most_done: AtomicU64::new(0) };
    let plan = store.select_compaction(MAJOR).unwrap();
    let size = plan.size_bytes;
    let outcome = store.run_compaction(plan, u64::MAX, NOW, &watch).unwrap();
    assert!(watch.most_done.load(Relaxed) > 100);
    assert_eq!((outcome.cells_read, outcome.cells_written), (600, 200));
    assert!(outcome.bytes_read <= size && outcome.bytes_read > size / 2, "{} of {size}", outcome.bytes_read);
    let c = store.counters();
    assert_eq!((c.compactions, c.major_compactions, c.files, c.cells), (1, 1, 1, 200));
    assert_eq!((c.compacting_cells, c.flushes, c.flushed_cells), (0, 3, 600));
    assert_eq!(c.compacted_bytes, outcome.bytes_written);
}

#[test]
fn the_cache_is_handed_over_to_the_new_file() {
    let (_fs, store) = flushed_store(family());
    for seq in 1..3 {
        add(&store, &rows(0..400, NOW + seq, seq));
        flush(&store, seq).unwrap();
    }
    let files = store.context().files.clone();
    // A reader keeps a few rows hot.
    for file in store.files().iter() {
        let mut scanner = file.scanner(true);
        for row in ["row0100", "row0200", "row0300"] {
            let key = martite_cell::key::first_on_row(row.as_bytes());
            ready(scanner.seek(&key, &files.blocking()).unwrap());
        }
    }
    let cached = files.cache().len();
    assert!(cached >= 6, "{cached}");
    compact(&store, MAJOR).unwrap();
    let file = &store.files()[0];
    let mut scanner = file.scanner(true);
    let key = martite_cell::key::first_on_row(b"row0200");
    assert_eq!(scanner.seek(&key, &files.cache_only()).unwrap(), Step::Ready(()));
    assert_eq!(scanner.peek().unwrap().row(), b"row0200");
    let cold = martite_cell::key::first_on_row(b"row0010");
    let request = match scanner.seek(&cold, &files.cache_only()).unwrap() {
        Step::Need(request) => request,
        Step::Ready(()) => panic!("nobody read row0010"),
    };
    assert!(!files.cache_only().may_block());
    files.fetch(&request).unwrap();
    assert_eq!(scanner.seek(&cold, &files.cache_only()).unwrap(), Step::Ready(()));
    assert_eq!(scanner.peek().unwrap().row(), b"row0010");
    assert!(files.cache().len() <= cached + 1, "blocks of replaced files are gone");
}

#[test]
fn what_readers_want_is_handed_over_in_a_full_cache() {
    let (_fs, store) = flushed_store(family());
    for seq in 1..3 {
        add(&store, &rows(0..2000, NOW + seq, seq));
        flush(&store, seq).unwrap();
    }
    let files = store.context().files.clone();
    let cache = files.cache();
    let read = |rows: &[&str]| {
        for file in store.files().iter() {
            let mut scanner = file.scanner(true);
            for row in rows {
                let key = martite_cell::key::first_on_row(row.as_bytes());
                ready(scanner.seek(&key, &files.blocking()).unwrap());
            }
        }
    };
    // A scan reads everything. A part is read again and again, and there is room for little else.
    store.prefetch(&martite_store::Unthrottled).unwrap();
    let hot = ["row0100", "row0500", "row0900", "row1300", "row1700"];
    for _ in 0..3 {
        read(&hot);
    }
    let wanted = hot.len() as u64 * store.files().len() as u64;
    let room = (wanted + 3) * cache.usage_bytes() / cache.len() as u64;
    cache.set_capacity(room);
    compact(&store, MAJOR).unwrap();
    let file = &store.files()[0];
    let kept = |row: &str| {
        let key = martite_cell::key::first_on_row(row.as_bytes());
        file.scanner(true).seek(&key, &files.cache_only()).unwrap() == Step::Ready(())
    };
    assert_eq!(hot.map(kept), hot.map(|_| true), "{} blocks are cached", cache.len());
}

/// Whether every block of the store's files is in the cache.
fn is_warm(store: &Store) -> bool {
    let files = store.context().files.clone();
    store.files().iter().all(|file| {
        let mut scanner = file.scanner(true);
        let mut step = scanner.seek_to_first(&files.cache_only()).unwrap();
        while let (Step::Ready(()), Some(_)) = (step, scanner.peek()) {
            step = scanner.next(&files.cache_only()).unwrap();
        }
        step == Step::Ready(())
    })
}

#[test]
fn families_that_want_it_are_in_the_cache_from_the_start() {
    for (on_write, on_open) in [(false, false), (true, false), (false, true)] {
        let options = FamilyOptions { cache_data_on_write: on_write, prefetch_on_open: on_open, ..family() };
        let (fs, store) = flushed_store(options.clone());
        add(&store, &rows(0..400, NOW, 1));
        flush(&store, 1).unwrap();
        assert_eq!(is_warm(&store), on_write);
        drop(store);
        let store = open(&fs, options, 7).unwrap();
        assert_eq!(store.wants_prefetch(), on_open);
        assert!(!is_warm(&store));
        store.prefetch(&martite_store::Unthrottled).unwrap();
        assert!(is_warm(&store));
        let full = store.context().files.cache().clone();
        full.set_capacity(0);
        full.set_capacity(2000);
        store.prefetch(&martite_store::Unthrottled).unwrap();
        assert!(full.is_empty(), "what does not fit is left");
    }
}

#[test]
fn blocks_of_a_flush_stay_if_the_store_is_read_and_the_cache_has_room() {
    let fs = MemFs::new();
    let config = StoreConfig { keep_flushed: true, ..StoreConfig::default() };
    let ctx = context(Arc::new(fs), Path::new(ROOT), config, 1);
    let store = open_region(&ctx, PARENT, FamilyOptions { bloom: BloomType::Row, ..family() }).unwrap();
    let cache = ctx.files.cache();
    let flush = |seq: u64, is_read: bool| {
        add(&store, &rows(0..400, NOW + seq, seq));
        let ticket = FlushTicket { is_read, ..store.prepare_flush() };
        let flushed = store.flush_to_tmp(&ticket, seq, u64::MAX, NOW).unwrap();
        let before = cache.len();
        store.commit_flush(ticket, flushed).unwrap();
        cache.len() - before
    };
    assert_eq!(flush(1, false), 0);
    let all = flush(2, true);
    let file = store.files().last().unwrap().clone();
    let blocks = cache.cached_offsets(file.open_file().id()).len();
    assert_eq!(blocks, all);
    // What readers find there is what is in the file.
    let (from_cache, from_file) = (ctx.files.cache_only(), ctx.files.blocking());
    assert_eq!(file_cells(&file, &from_cache), file_cells(&file, &from_file));
    assert_eq!(cache.len(), all, "nothing had to be read");
    let may_contain = |row: &str| ready(file.reader.may_contain_row(row.as_bytes(), &from_cache).unwrap());
    assert!(may_contain("row0007") && !may_contain("absent"), "its bloom filter is there, too");
    // Half of what is free, and nothing is pushed out for it.
    let used = cache.usage_bytes();
    cache.set_capacity(used + used / 2);
    let part = flush(3, true);
    assert!((1..all * 2 / 3).contains(&part), "{part} of {all}");
    assert_eq!(cache.cached_offsets(file.open_file().id()).len(), all);
}

#[test]
fn the_split_point_is_a_row_in_the_middle_of_the_largest_file() {
    let (_fs, store) = flushed_store(family());
    assert_eq!(store.split_point().unwrap(), None);
    add(&store, &[put("only", NOW, "row", 1)]);
    flush(&store, 1).unwrap();
    assert_eq!(store.split_point().unwrap(), None, "one row cannot be split");
    add(&store, &rows(0..1000, NOW, 2));
    flush(&store, 2).unwrap();
    let row = store.split_point().unwrap().unwrap();
    assert!((&b"row0400"[..]..&b"row0600"[..]).contains(&&row[..]), "{}", row.escape_ascii());
}

#[test]
fn a_bulk_loaded_files_cells_take_its_sequence_id() {
    let (fs, store) = flushed_store(family());
    add(&store, &[put("r", NOW, "before", 5)]);
    flush(&store, 5).unwrap();
    let made = open_region(store.context(), LEFT, family()).unwrap();
    add(&made, &[put("r", NOW, "loaded", 0), put("s", NOW, "loaded", 0)]);
    let source = flush(&made, 0).unwrap().path.unwrap();
    drop(made);
    let file = store.bulk_load(&source, 8, NOW).unwrap();
    assert!(file.name().ends_with("_SeqId_8_") && file.bulk_loaded, "{}", file.name());
    assert!(!fs.exists(&source));
    add(&store, &[put("s", NOW, "after", 9)]);
    flush(&store, 9).unwrap();
    let expected = [("r", "loaded"), ("s", "after")];
    let check = |store: &Store, at: &str| {
        let got = logical(store);
        for (row, value) in expected {
            assert_eq!(got[&format!("{row}:q")], format!("{value}@{NOW}"), "{at}");
        }
        assert_eq!(store.max_seq_id(), 9, "{at}");
    };
    check(&store, "loaded");
    assert_eq!(store.max_mvcc(), 9);
    drop(store);
    let store = open(&fs, family(), 3).unwrap();
    check(&store, "opened again");
    compact(&store, MAJOR).unwrap();
    check(&store, "compacted");
    drop(store);
    check(&open(&fs, family(), 4).unwrap(), "compacted and opened again");
}

#[test]
fn strangers_and_leftovers_in_the_directory_do_no_harm() {
    let (fs, store) = flushed_store(family());
    add(&store, &rows(0..5, NOW, 1));
    flush(&store, 1).unwrap();
    let dir = store.dir().to_owned();
    drop(store);
    fs.write_atomic(&dir.join("README"), b"hello").unwrap();
    fs.create(&dir.join("0123")).unwrap();
    fs.create(&dir.join(".f00.tmp")).unwrap();
    fs.create_dir_all(&dir.join(".filelist")).unwrap();
    let tmp = region_dir(Path::new(ROOT), PARENT).join(".tmp/f");
    fs.create_dir_all(&tmp).unwrap();
    fs.create(&tmp.join("4567")).unwrap();
    let store = open(&fs, family(), 2).unwrap();
    assert_eq!(store.file_count(), 1);
    assert!(!fs.exists(&tmp.join("4567")) && !fs.exists(&dir.join(".f00.tmp")));
    assert!(fs.exists(&dir.join("README")) && fs.exists(&dir.join("0123")));
}

#[test]
fn a_damaged_file_is_an_error_that_names_it() {
    let (fs, store) = flushed_store(family());
    add(&store, &rows(0..100, NOW, 1));
    let path = flush(&store, 1).unwrap().path.unwrap();
    drop(store);
    let len = FileSystem::len(&fs, &path).unwrap();
    assert!(fs.corrupt(&path, len - 1, |byte| *byte ^= 0x40));
    let error = open(&fs, family(), 2).err().unwrap().to_string();
    assert!(error.contains(&*path.to_string_lossy()), "{error}");
}
