//! Scans of a region: limits cut the answer and change nothing else; filters see rows whole; readers keep their view.

#![allow(clippy::unwrap_used)]

mod rig;

use bytes::Bytes;
use martite_cell::{CellBuf, CellType, OwnedCell, key};
use martite_hfile::{Block, BlockRequest, BlockSource, HFileError, Reader, Step};
use martite_proto as pb;
use martite_region::{
    FamilyColumns, GetSpec, Getter, Mutation, MutationKind, RegionConfig, RegionError, RegionScanner, ScanEnd,
    ScanLimits, ScanOutput, ScanSpec, WriteRequest,
};
use martite_store::Files;
use pb::Message;
use rig::Rig;
use std::cell::{Cell, RefCell};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

struct Dice(Cell<u64>);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(Cell::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1))
    }
    fn below(&self, n: u64) -> u64 {
        let mut x = self.0.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.0.set(x);
        (x >> 11) % n
    }
    fn one_in(&self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// Has a block only when it was asked for it before.
struct Forgetful<'a> {
    files: &'a Files,
    known: RefCell<HashSet<BlockRequest>>,
    dice: Dice,
}

impl BlockSource for Forgetful<'_> {
    fn get(&self, reader: &Reader, request: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        if self.dice.one_in(40) {
            self.known.borrow_mut().clear();
        }
        if self.known.borrow_mut().insert(*request) {
            return Ok(None);
        }
        self.files.blocking().get(reader, request)
    }
    fn may_block(&self) -> bool {
        false
    }
}

fn source(rig: &Rig, seed: u64) -> Forgetful<'_> {
    Forgetful { files: &rig.ctx.stores.files, known: RefCell::default(), dice: Dice::new(seed) }
}

fn put_cells(rig: &Rig, row: &str, cells: &[(&str, &str, u64, &str)]) {
    let mut buf = CellBuf::new(true);
    for (family, qualifier, ts, value) in cells {
        let cell = OwnedCell::put(row.as_bytes(), family.as_bytes(), qualifier.as_bytes(), *ts, value.as_bytes());
        buf.push(&cell.as_ref());
    }
    let mutation = Mutation::new(MutationKind::Put, row.to_owned(), buf);
    rig.write(WriteRequest::batch(vec![mutation])).unwrap().ops.remove(0).unwrap();
}

/// 40 rows, up to 12 cells each, in both families, in memory and files.
fn filled(seed: u64) -> Rig {
    let (rig, dice) = (Rig::new(), Dice::new(seed));
    for i in 0..120 {
        let row = format!("row{:02}", dice.below(40));
        let families = [("f", dice.one_in(2)), ("g", dice.one_in(3))];
        for (family, _) in families.iter().filter(|(_, there)| *there) {
            let qualifiers = ["a", "b", "c", "d"];
            let cells: Vec<_> =
                qualifiers.iter().filter(|_| dice.one_in(2)).map(|q| (*family, *q, 100 + i, "v")).collect();
            if !cells.is_empty() {
                put_cells(&rig, &row, &cells);
            }
        }
        if dice.one_in(30) {
            rig.region.flush(None, "test").unwrap();
        }
    }
    rig
}

/// `row f:q@ts`, or with another value than `v` also `=value`.
fn texts(cells: &CellBuf) -> Vec<String> {
    let text = |c: martite_cell::CellRef<'_>| {
        let value = if c.value == b"v" { String::new() } else { format!("={}", c.value.escape_ascii()) };
        let [row, family, qualifier] = [c.row(), c.family(), c.qualifier()].map(|b| b.escape_ascii().to_string());
        format!("{row} {family}:{qualifier}@{}{value}", c.timestamp())
    };
    cells.iter().map(text).collect()
}

struct Answer {
    cells: Vec<String>,
    /// Cells of each Result, and whether it was partial.
    results: Vec<(usize, bool)>,
    batches: Vec<(ScanEnd, usize)>,
    rows_filtered: u64,
}

/// Batch after batch, with the given limits, until the region has no more.
fn drain(scanner: &mut RegionScanner, limits: &ScanLimits, rig: &Rig, seed: u64) -> Result<Answer, RegionError> {
    let (src, dice) = (source(rig, seed), Dice::new(seed));
    let mut answer = Answer { cells: Vec::new(), results: Vec::new(), batches: Vec::new(), rows_filtered: 0 };
    for _ in 0..10_000 {
        let mut out = ScanOutput::new(false);
        let state = loop {
            let mut expired = || limits.allow_partial && dice.one_in(50);
            match scanner.next_batch(limits, &mut expired, &src, &mut out)? {
                Step::Ready(state) if state.end != ScanEnd::Paused => break state,
                _ => {}
            }
        };
        answer.cells.extend(texts(&out.cells));
        assert_eq!(out.results.iter().map(|r| r.cells).sum::<usize>(), out.cells.len());
        answer.results.extend(out.results.iter().map(|r| (r.cells, r.partial)));
        answer.batches.push((state.end, out.results.len()));
        answer.rows_filtered += out.counters.rows_filtered;
        if !state.more_in_region || state.end == ScanEnd::Rows {
            return Ok(answer);
        }
    }
    panic!("the scan does not end: {limits:?}");
}

fn read(rig: &Rig, spec: ScanSpec, limits: &ScanLimits) -> Answer {
    drain(&mut rig.region.scanner(spec).unwrap(), limits, rig, 7).unwrap()
}

fn all(rig: &Rig, spec: ScanSpec) -> Vec<String> {
    read(rig, spec, &ScanLimits::default()).cells
}

fn row_of(text: &str) -> &str {
    text.split(' ').next().unwrap()
}

fn random_limits(dice: &Dice) -> ScanLimits {
    let sometimes = |max: u64| if dice.one_in(2) { 1 + dice.below(max) } else { 0 };
    ScanLimits {
        results: sometimes(9),
        batch: sometimes(4) as u32,
        size_bytes: sometimes(400),
        block_bytes: sometimes(3_000),
        rows: 0,
        allow_partial: dice.one_in(2),
        pause_after_cells: sometimes(15),
    }
}

#[test]
fn limits_cut_the_answer_and_change_nothing_else() {
    for seed in 0..60 {
        let (rig, dice) = (filled(seed), Dice::new(seed + 100));
        for _ in 0..8 {
            let spec = ScanSpec {
                reversed: dice.one_in(3),
                max_versions: 1 + dice.below(3) as u32,
                families: if dice.one_in(3) { vec![FamilyColumns::whole("g")] } else { Vec::new() },
                ..ScanSpec::default()
            };
            let limits = random_limits(&dice);
            let expected = all(&rig, spec.clone());
            let answer = read(&rig, spec.clone(), &limits);
            assert_eq!(answer.cells, expected, "seed {seed}: {limits:?} {spec:?}");
            check_results(&answer, &limits);
        }
    }
}

fn check_results(answer: &Answer, limits: &ScanLimits) {
    let mut at = 0;
    for (cells, partial) in &answer.results {
        assert!(*cells > 0 && (limits.batch == 0 || *cells <= limits.batch as usize), "{cells} {limits:?}");
        let row = row_of(&answer.cells[at]);
        assert!(answer.cells[at..at + cells].iter().all(|c| row_of(c) == row), "a Result holds one row");
        at += cells;
        let next_row = answer.cells.get(at).map(|c| row_of(c));
        assert!(*partial || next_row != Some(row), "{row} goes on without a partial Result: {limits:?}");
        assert!(!*partial || limits.batch > 0 || limits.allow_partial, "{limits:?}");
    }
    // What is left of the last row may be invisible: then an empty batch follows a partial Result.
    let (_, last_batch) = answer.batches[answer.batches.len() - 1];
    assert!(last_batch == 0 || answer.results.last().is_none_or(|(_, partial)| !*partial));
    for (end, results) in &answer.batches {
        assert!(limits.results == 0 || *results <= limits.results as usize);
        assert!(*end != ScanEnd::Results || *results == limits.results as usize);
    }
}

#[test]
fn a_get_finds_what_a_scan_finds_whatever_it_must_wait_for() {
    for seed in 0..20 {
        let rig = filled(seed);
        let cells = all(&rig, ScanSpec { max_versions: 3, ..ScanSpec::default() });
        let src = source(&rig, seed);
        for i in 0..42 {
            let row = format!("row{i:02}");
            let expected: Vec<_> = cells.iter().filter(|c| row_of(c) == row).cloned().collect();
            for filter in [None, Some(filter("FilterAllFilter", None)), Some(key_only())] {
                let expected = match &filter {
                    Some(f) if f.name.ends_with("FilterAllFilter") => Vec::new(),
                    Some(_) => expected.iter().map(|c| format!("{c}=")).collect(),
                    None => expected.clone(),
                };
                let get = GetSpec { max_versions: 3, filter, ..GetSpec::new(row.clone()) };
                let mut out = CellBuf::new(false);
                out.push(&OwnedCell::put(b"kept", b"f", b"q", 1, b"v").as_ref());
                let outcome = loop {
                    match rig.region.get(&get, &src, &mut out).unwrap() {
                        Step::Ready(outcome) => break outcome,
                        Step::Need(_) => assert_eq!(out.len(), 1),
                    }
                };
                assert_eq!(texts(&out)[1..], expected);
                assert_eq!((outcome.cells, outcome.exists), (expected.len(), !expected.is_empty()));
                let exists = GetSpec { exists_only: true, ..get };
                out.clear();
                let found = rig.region.get(&exists, &rig.ctx.stores.files.blocking(), &mut out).unwrap();
                let Step::Ready(found) = found else { panic!("a blocking source was asked") };
                assert_eq!((found.exists, found.cells, out.len()), (!expected.is_empty(), 0, 0));
            }
        }
    }
}

#[test]
fn gets_that_share_what_they_opened_find_the_same() {
    for seed in 0..20 {
        let rig = filled(seed);
        rig.region.compact(None, seed % 2 == 0, &martite_store::Unthrottled).unwrap();
        let (src, dice) = (source(&rig, seed), Dice::new(seed));
        let family = FamilyColumns { columns: ["b".into(), "d".into()].into(), ..FamilyColumns::whole("f") };
        for families in [Vec::new(), vec![family], vec![FamilyColumns::whole("g")]] {
            let like = |row: String| GetSpec { max_versions: 2, families: families[..].into(), ..GetSpec::new(row) };
            let first = like("row00".into());
            let mut getter = Getter::new(&rig.region, &first).unwrap();
            let any_row = || format!("row{:02}", dice.below(42));
            let mut told = VecDeque::new();
            for _ in 0..80 {
                // Told or not told what comes next, or told wrong.
                if told.is_empty() || dice.one_in(8) {
                    let rows: Vec<_> = (0..dice.below(Getter::GROUP as u64 + 1)).map(|_| any_row()).collect();
                    getter.expect(rows.iter().map(|row| Bytes::from(row.clone())).collect::<Vec<_>>().iter(), &src);
                    told.extend(rows);
                }
                let row = told.pop_front().filter(|_| !dice.one_in(20));
                if row.is_none() {
                    told.clear();
                }
                let get = like(row.unwrap_or_else(any_row));
                assert!(get.is_like(&first));
                let (mut alone, mut shared) = (CellBuf::new(false), CellBuf::new(false));
                rig.region.get(&get, &rig.ctx.stores.files.blocking(), &mut alone).unwrap();
                while let Step::Need(_) = getter.get(&get.row, &src, &mut shared).unwrap() {
                    assert!(shared.is_empty());
                }
                assert_eq!(texts(&shared), texts(&alone), "seed {seed}: {get:?}");
            }
            assert!(!first.is_like(&GetSpec { max_versions: 1, ..first.clone() }));
            let reads = || rig.region.load().read_requests;
            let before = reads();
            drop(getter);
            assert_eq!(reads() - before, 80);
        }
    }
}

#[test]
fn rows_refused_by_their_key_leave_the_others_as_they_are() {
    for seed in 0..30 {
        let (rig, dice) = (filled(seed), Dice::new(seed));
        if dice.one_in(2) {
            rig.region.flush(None, "test").unwrap();
            rig.region.compact(None, true, &martite_store::Unthrottled).unwrap();
        }
        for reversed in [false, true] {
            let spec = ScanSpec { max_versions: 2, reversed, ..ScanSpec::default() };
            let (all, limits) = (all(&rig, spec.clone()), random_limits(&dice));
            for digits in ["[02468]$", "^row[13]", "row1[0-9]"] {
                let odd = |row: &str| match digits {
                    "[02468]$" => row.ends_with(['0', '2', '4', '6', '8']),
                    "^row[13]" => row.starts_with("row1") || row.starts_with("row3"),
                    _ => row.starts_with("row1"),
                };
                let expected: Vec<_> = all.iter().filter(|c| odd(row_of(c))).cloned().collect();
                let answer = read(&rig, ScanSpec { filter: Some(rows_like(digits)), ..spec.clone() }, &limits);
                assert_eq!(answer.cells, expected, "seed {seed}, {digits}: {limits:?}");

                let size = dice.below(20) as usize;
                let both = ScanSpec { filter: Some(both(rows_like(digits), page(size as i64))), ..spec.clone() };
                let mut rows: Vec<_> = expected.iter().map(|cell| row_of(cell)).collect();
                rows.dedup();
                rows.truncate(size);
                let first: Vec<_> = expected.iter().filter(|cell| rows.contains(&row_of(cell))).cloned().collect();
                assert_eq!(self::all(&rig, both), first, "seed {seed}, {digits}, {size} rows");
            }
        }
    }
}

#[test]
fn a_long_row_that_is_refused_is_leapt_over() {
    let rig = Rig::new();
    let names: Vec<_> = (0..500).map(|i| format!("q{i:03}")).collect();
    for row in ["ra", "rb", "rc"] {
        let cells: Vec<_> = names.iter().map(|q| ("f", q.as_str(), 1, "v")).collect();
        put_cells(&rig, row, &cells);
    }
    rig.region.flush(None, "test").unwrap();
    let mut scanner = rig.region.scanner(filtered(rows_like("rc"))).unwrap();
    let mut out = ScanOutput::new(false);
    let limits = ScanLimits { allow_partial: true, ..ScanLimits::default() };
    let read = scanner.next_batch(&limits, &mut || false, &rig.ctx.stores.files.blocking(), &mut out).unwrap();
    assert!(matches!(read, Step::Ready(_)));
    assert_eq!((out.cells.len(), out.counters.rows_scanned, out.counters.rows_filtered), (500, 3, 2));
    assert!(out.counters.cells_scanned < 600, "{:?}", out.counters);
}

#[test]
fn a_row_limit_counts_complete_rows() {
    let rig = Rig::new();
    for row in ["ra", "rb", "rc", "rd"] {
        put_cells(&rig, row, &[("f", "a", 1, "v"), ("f", "b", 1, "v"), ("g", "a", 1, "v")]);
    }
    for batch in [0, 1, 2, 3, 4] {
        let limits = ScanLimits { rows: 2, batch, ..ScanLimits::default() };
        let answer = read(&rig, ScanSpec::default(), &limits);
        assert_eq!(answer.cells.len(), 6, "batch {batch}");
        assert_eq!(answer.batches.last().map(|b| b.0), Some(ScanEnd::Rows), "batch {batch}");
    }
    // A Result that its batch ends is partial though the filter lets nothing of its row follow.
    let spec = filtered(filter("FirstKeyOnlyFilter", Some(pb::FirstKeyOnlyFilter {}.encode_to_vec())));
    for batch in [0, 1, 2] {
        let answer = read(&rig, spec.clone(), &ScanLimits { rows: 2, batch, ..ScanLimits::default() });
        assert_eq!(answer.cells, ["ra f:a@1", "rb f:a@1"], "batch {batch}");
    }
}

#[test]
fn a_scanner_goes_on_seeing_what_it_saw_first() {
    let rig = Rig::new();
    for i in 0..30 {
        put_cells(&rig, &format!("row{i:02}"), &[("f", "a", 10, "v")]);
    }
    let mut scanner = rig.region.scanner(ScanSpec::default()).unwrap();
    let (limits, src) = (ScanLimits { results: 1, ..ScanLimits::default() }, source(&rig, 1));
    let mut seen = Vec::new();
    for round in 0.. {
        let mut out = ScanOutput::new(false);
        let state = loop {
            if let Step::Ready(state) = scanner.next_batch(&limits, &mut || false, &src, &mut out).unwrap() {
                break state;
            }
        };
        seen.extend(texts(&out.cells));
        if !state.more_in_region {
            break;
        }
        put_cells(&rig, &format!("row{:02}", (round * 7) % 30), &[("f", "a", 20, "new"), ("f", "b", 20, "new")]);
        if round % 5 == 0 {
            rig.region.flush(None, "test").unwrap();
        }
        if round % 11 == 0 {
            rig.region.compact(None, true, &martite_store::Unthrottled).unwrap();
        }
    }
    let expected: Vec<_> = (0..30).map(|i| format!("row{i:02} f:a@10")).collect();
    assert_eq!(seen, expected);
}

fn filter(class: &str, message: Option<Vec<u8>>) -> pb::Filter {
    pb::Filter { name: format!("org.apache.hadoop.hbase.filter.{class}"), serialized_filter: message.map(Into::into) }
}

fn key_only() -> pb::Filter {
    filter("KeyOnlyFilter", Some(pb::KeyOnlyFilter { len_as_val: false }.encode_to_vec()))
}

fn page(page_size: i64) -> pb::Filter {
    filter("PageFilter", Some(pb::PageFilter { page_size }.encode_to_vec()))
}

fn prefix(prefix: &str) -> pb::Filter {
    let message = pb::PrefixFilter { prefix: Some(prefix.as_bytes().to_vec().into()) };
    filter("PrefixFilter", Some(message.encode_to_vec()))
}

/// SingleColumnValueFilter: the newest `family:qualifier` equals `value`; rows without the column go.
fn single_column(family: &str, qualifier: &str, value: &str) -> pb::Filter {
    let comparable = pb::ByteArrayComparable { value: Some(value.as_bytes().to_vec().into()) };
    let comparator = pb::Comparator {
        name: "org.apache.hadoop.hbase.filter.BinaryComparator".into(),
        serialized_comparator: Some(pb::BinaryComparator { comparable }.encode_to_vec().into()),
    };
    let message = pb::SingleColumnValueFilter {
        column_family: Some(family.as_bytes().to_vec().into()),
        column_qualifier: Some(qualifier.as_bytes().to_vec().into()),
        compare_op: pb::CompareType::Equal as i32,
        comparator,
        filter_if_missing: Some(true),
        latest_version_only: Some(true),
    };
    filter("SingleColumnValueFilter", Some(message.encode_to_vec()))
}

fn pagination(limit: i32, offset: i32) -> pb::Filter {
    let message = pb::ColumnPaginationFilter { limit, offset: Some(offset), column_offset: None };
    filter("ColumnPaginationFilter", Some(message.encode_to_vec()))
}

/// FilterList MUST_PASS_ALL.
fn both(a: pb::Filter, b: pb::Filter) -> pb::Filter {
    let message = pb::FilterList { operator: pb::filter_list::Operator::MustPassAll as i32, filters: vec![a, b] };
    filter("FilterList", Some(message.encode_to_vec()))
}

/// RowFilter: rows in which the regular expression is found.
fn rows_like(expression: &str) -> pb::Filter {
    let comparator = pb::Comparator {
        name: "org.apache.hadoop.hbase.filter.RegexStringComparator".into(),
        serialized_comparator: Some(
            pb::RegexStringComparator {
                pattern: expression.into(),
                pattern_flags: 0,
                charset: "UTF-8".into(),
                engine: None,
            }
            .encode_to_vec()
            .into(),
        ),
    };
    let compare_filter = pb::CompareFilter { compare_op: pb::CompareType::Equal as i32, comparator: Some(comparator) };
    filter("RowFilter", Some(pb::RowFilter { compare_filter }.encode_to_vec()))
}

fn filtered(filter: pb::Filter) -> ScanSpec {
    ScanSpec { filter: Some(filter), ..ScanSpec::default() }
}

fn three_rows() -> Rig {
    let rig = Rig::new();
    put_cells(&rig, "ra", &[("f", "k", 1, "yes"), ("g", "a", 1, "v"), ("g", "b", 1, "v")]);
    put_cells(&rig, "rb", &[("f", "k", 1, "no"), ("g", "a", 1, "v")]);
    rig.region.flush(None, "test").unwrap();
    put_cells(&rig, "sa", &[("f", "j", 1, "v"), ("f", "k", 1, "yes"), ("g", "a", 1, "v")]);
    rig
}

#[test]
fn filters_drop_rows_and_cells() {
    let rig = three_rows();
    let check = |filter: pb::Filter, expected: &[&str]| {
        let name = filter.name.clone();
        for limits in [ScanLimits::default(), ScanLimits { results: 1, pause_after_cells: 1, ..ScanLimits::default() }]
        {
            assert_eq!(read(&rig, filtered(filter.clone()), &limits).cells, expected, "{name}");
        }
        let mut rows: Vec<&[&str]> = expected.chunk_by(|a, b| row_of(a) == row_of(b)).collect();
        rows.reverse();
        if !name.ends_with("PageFilter") {
            let reversed = ScanSpec { reversed: true, ..filtered(filter) };
            assert_eq!(all(&rig, reversed), rows.concat(), "{name} reversed");
        }
    };
    check(prefix("r"), &["ra f:k@1=yes", "ra g:a@1", "ra g:b@1", "rb f:k@1=no", "rb g:a@1"]);
    check(page(1), &["ra f:k@1=yes", "ra g:a@1", "ra g:b@1"]);
    check(
        single_column("f", "k", "yes"),
        &["ra f:k@1=yes", "ra g:a@1", "ra g:b@1", "sa f:j@1", "sa f:k@1=yes", "sa g:a@1"],
    );
    check(single_column("f", "k", "other"), &[]);
    check(single_column("f", "j", "v"), &["sa f:j@1", "sa f:k@1=yes", "sa g:a@1"]);
    check(single_column("g", "b", "v"), &["ra f:k@1=yes", "ra g:a@1", "ra g:b@1"]);
    check(pagination(1, 1), &["ra g:a@1", "rb g:a@1", "sa f:k@1=yes"]);
    check(filter("FirstKeyOnlyFilter", Some(Vec::new())), &["ra f:k@1=yes", "rb f:k@1=no", "sa f:j@1"]);
}

/// HBase counts what passed a filter once more, and in a raw scan markers, too; also for filters that look at rows only.
#[test]
fn with_a_filter_a_raw_scan_counts_markers_as_versions() {
    let rig = Rig::new();
    put_cells(&rig, "ra", &[("f", "k", 5, "v")]);
    let mut marker = CellBuf::new(true);
    let place = key::flat_key(b"ra", b"f", b"k", 9, CellType::Delete as u8);
    marker.push(&OwnedCell::new(&place, b"", b"", 0).as_ref());
    let delete = Mutation::new(MutationKind::Delete, "ra".to_owned(), marker);
    rig.write(WriteRequest::batch(vec![delete])).unwrap().ops.remove(0).unwrap();
    for flushed in [false, true] {
        if flushed {
            rig.region.flush(None, "test").unwrap();
        }
        let raw = |spec: ScanSpec| all(&rig, ScanSpec { raw: true, max_versions: 1, ..spec });
        assert_eq!(raw(ScanSpec::default()), ["ra f:k@9=", "ra f:k@5"]);
        for filter in [page(3), rows_like("r."), key_only()] {
            assert_eq!(raw(filtered(filter.clone())), ["ra f:k@9="], "{filter:?}");
        }
    }
}

#[test]
fn rows_that_are_refused_by_their_keys_are_left_in_every_way() {
    for seed in 0..60 {
        let (rig, dice) = (filled(seed), Dice::new(seed));
        // Too long to be left in a few steps.
        let qualifiers: Vec<String> = (0..40).map(|q| format!("q{q:02}")).collect();
        for row in [7, 23, 24] {
            let cells: Vec<_> = qualifiers.iter().map(|q| ("f", q.as_str(), 9, "v")).collect();
            put_cells(&rig, &format!("row{row:02}"), &cells);
        }
        match dice.below(3) {
            0 => {}
            1 => drop(rig.region.flush(None, "test").unwrap()),
            _ => drop(rig.region.compact(None, true, &martite_store::Unthrottled).unwrap()),
        }
        let families = if dice.one_in(4) { Vec::new() } else { vec![FamilyColumns::whole("f")] };
        let whole = ScanSpec { families, ..ScanSpec::default() };
        let everything = all(&rig, whole.clone());
        for _ in 0..8 {
            let wanted: Vec<u64> = (0..10).filter(|_| dice.one_in(4)).collect();
            let stop_row = if dice.one_in(2) { format!("row{:02}", dice.below(40)) } else { String::new() };
            let is_before_stop = |row: &str| stop_row.is_empty() || row < stop_row.as_str();
            let is_wanted = |row: &str| wanted.iter().any(|digit| row.ends_with(&digit.to_string()));
            let rows =
                || everything.chunk_by(|a, b| row_of(a) == row_of(b)).filter(|row| is_before_stop(row_of(&row[0])));
            let expected: Vec<_> = rows().filter(|row| is_wanted(row_of(&row[0]))).flatten().cloned().collect();
            let refused = rows().filter(|row| !is_wanted(row_of(&row[0]))).count() as u64;
            let digits = wanted.iter().map(u64::to_string).collect::<String>();
            let filter = rows_like(&format!("[x{digits}]$"));
            let spec = ScanSpec { filter: Some(filter), stop_row: stop_row.clone().into(), ..whole.clone() };
            let limits = ScanLimits { batch: 0, ..random_limits(&dice) };
            let answer = read(&rig, spec, &limits);
            let context = format!("seed {seed}: [{digits}] before {stop_row:?}, {limits:?}");
            assert_eq!(answer.cells, expected, "{context}");
            // As HBase does, this counts an empty rest behind a partial Result, too.
            assert!(
                answer.rows_filtered == refused || limits.allow_partial,
                "{} {refused} {context}",
                answer.rows_filtered
            );
        }
    }
}

#[test]
fn a_block_that_must_be_waited_for_is_counted_once() {
    for seed in 0..40 {
        let rig = filled(seed);
        let blocks = |src: &dyn BlockSource| {
            let mut scanner =
                rig.region.scanner(ScanSpec { start_row: "row05".into(), ..ScanSpec::default() }).unwrap();
            let mut out = ScanOutput::new(false);
            while let Step::Need(_) = scanner.next_batch(&ScanLimits::default(), &mut || false, src, &mut out).unwrap()
            {
            }
            (out.counters.blocks, out.counters.block_bytes)
        };
        assert_eq!(blocks(&source(&rig, seed)), blocks(&rig.ctx.stores.files.blocking()), "seed {seed}");
    }
}

#[test]
fn families_read_on_demand_give_the_same_rows_in_order() {
    for seed in 0..20 {
        let (rig, dice) = (filled(seed), Dice::new(seed));
        for row in 0..40 {
            if dice.one_in(2) {
                // `g` is essential here, so that `f`, which sorts before it, is joined.
                put_cells(&rig, &format!("row{row:02}"), &[("g", "k", 500, if dice.one_in(3) { "no" } else { "yes" })]);
            }
        }
        let spec = ScanSpec { max_versions: 2, ..filtered(single_column("g", "k", "yes")) };
        let at_once = all(&rig, ScanSpec { load_on_demand: false, ..spec.clone() });
        assert!(at_once.len() > 10 && at_once.iter().all(|c| !c.ends_with("=no")));
        for _ in 0..4 {
            let limits = ScanLimits { batch: 0, ..random_limits(&dice) };
            assert_eq!(read(&rig, spec.clone(), &limits).cells, at_once, "seed {seed}: {limits:?}");
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let rig = three_rows();
    let columns = vec![FamilyColumns { columns: ["k".into()].into(), ..FamilyColumns::whole("f") }];
    let raw = rig.region.scanner(ScanSpec { raw: true, families: columns, ..ScanSpec::default() });
    assert!(matches!(raw.map(|_| ()), Err(RegionError::DoNotRetry(m)) if m.contains("any column for a raw scan")));
    let families = vec![FamilyColumns::whole("none")];
    let unknown = rig.region.scanner(ScanSpec { families, ..ScanSpec::default() });
    assert!(matches!(unknown.map(|_| ()), Err(RegionError::NoSuchFamily(_))));
    let unread = rig.region.scanner(filtered(filter("NoSuchFilter", None)));
    assert!(matches!(unread.map(|_| ()), Err(RegionError::Filter(m)) if m.contains("NoSuchFilter")));
    let mut scanner = rig.region.scanner(filtered(single_column("f", "k", "yes"))).unwrap();
    let refused = drain(&mut scanner, &ScanLimits { batch: 1, ..ScanLimits::default() }, &rig, 1);
    assert!(matches!(refused.map(|_| ()), Err(RegionError::DoNotRetry(m)) if m.contains("hasFilterRow")));
    let outside = rig.region.get(&GetSpec::new("a"), &source(&rig, 1), &mut CellBuf::new(false));
    assert!(matches!(outside, Err(RegionError::WrongRegion(_))));
}

#[test]
fn a_row_that_is_too_big_is_refused() {
    let config = RegionConfig { max_row_size_bytes: 300, ..RegionConfig::default() };
    let rig = Rig::with(rig::table(&["f", "g"]), config);
    put_cells(&rig, "ra", &[("f", "a", 1, "v")]);
    put_cells(&rig, "rb", &[("f", "a", 1, &"x".repeat(200)), ("g", "a", 1, &"x".repeat(200))]);
    let too_big = "Max row size allowed: 300, but row is bigger than that";
    let files = rig.ctx.stores.files.clone();
    let get = rig.region.get(&GetSpec::new("rb"), &files.blocking(), &mut CellBuf::new(false));
    assert!(matches!(get, Err(RegionError::RowTooBig(m)) if m == too_big));
    let mut scanner = rig.region.scanner(ScanSpec::default()).unwrap();
    let scan = drain(&mut scanner, &ScanLimits::default(), &rig, 1);
    assert!(matches!(scan.map(|_| ()), Err(RegionError::RowTooBig(m)) if m == too_big));
    let one_family = ScanSpec { families: vec![FamilyColumns::whole("f")], ..ScanSpec::default() };
    assert_eq!(all(&rig, one_family).len(), 2);
}

/// Rows of a few cells in `f`, most of them plain, with some older versions, markers and rows of many cells.
fn varied(seed: u64) -> Rig {
    let (rig, dice) = (Rig::new(), Dice::new(seed));
    for i in 0..400 {
        let row = format!("row{:03}", dice.below(200));
        let qualifiers: Vec<String> = match dice.below(40) {
            0 => (0..100).map(|q| format!("q{q:02}")).collect(),
            _ => ["a", "b", "c", "d"].iter().filter(|_| dice.one_in(2)).map(|q| (*q).to_owned()).collect(),
        };
        let values = ["v", "w", "x", "y", "z"];
        let value = |_: &String| values[dice.below(5) as usize];
        let cells: Vec<_> = qualifiers.iter().map(|q| ("f", q.as_str(), 100 + dice.below(50), value(q))).collect();
        if dice.one_in(6) {
            let mut marker = CellBuf::new(true);
            let kind = if dice.one_in(2) { CellType::DeleteColumn } else { CellType::Delete };
            let key = key::flat_key(row.as_bytes(), b"f", b"b", 100 + dice.below(50), kind as u8);
            marker.push(&OwnedCell::new(&key, b"", b"", 0).as_ref());
            let mutation = Mutation::new(MutationKind::Delete, row, marker);
            rig.write(WriteRequest::batch(vec![mutation])).unwrap().ops.remove(0).unwrap();
        } else if !cells.is_empty() {
            put_cells(&rig, &row, &cells);
        }
        if i % 80 == 79 && dice.one_in(2) {
            rig.region.flush(None, "test").unwrap();
        }
    }
    match dice.below(4) {
        0 => {}
        1 => drop(rig.region.flush(None, "test").unwrap()),
        _ => drop(rig.region.compact(None, true, &martite_store::Unthrottled).unwrap()),
    }
    rig
}

#[test]
fn rows_that_are_refused_by_their_cells_are_refused_in_any_way() {
    let filters = [
        "ValueFilter(=, 'binary:v')",
        "ValueFilter(=, 'substring:V')",
        "ValueFilter(!=, 'binary:v') AND QualifierFilter(=, 'binary:c')",
        "QualifierFilter(>, 'binary:c')",
        "FamilyFilter(=, 'binary:g')",
        "SingleColumnValueFilter('f', 'b', =, 'binary:w', true, true)",
        "SingleColumnValueFilter('f', 'b', =, 'binary:w', false, false)",
        "SingleColumnValueExcludeFilter('f', 'd', =, 'binary:x', true, true)",
        "SKIP ValueFilter(!=, 'binary:v')",
        "ValueFilter(=, 'binary:x') OR SingleColumnValueFilter('f', 'a', =, 'binary:w', true, true)",
        "SingleColumnValueFilter('f', 'c', =, 'binary:y', true, true) AND FirstKeyOnlyFilter()",
        "RowFilter(=, 'substring:5') AND ValueFilter(=, 'binary:w')",
    ];
    let mut refused = 0;
    for seed in 0..40 {
        let (rig, dice) = (varied(seed), Dice::new(seed));
        for text in filters {
            let filter = martite_filter::language::parse(text).unwrap();
            let columns: Vec<bytes::Bytes> = match dice.below(3) {
                0 => ["a", "b", "d"].map(Into::into).to_vec(),
                _ => Vec::new(),
            };
            // A page is counted over all rows: with it, each row is read by itself.
            let one_by_one = both(filter.clone(), page(1_000));
            let spec = |filter| ScanSpec {
                filter: Some(filter),
                families: vec![FamilyColumns { columns: columns[..].into(), ..FamilyColumns::whole("f") }],
                max_versions: 1 + (seed % 3) as u32,
                start_row: format!("row{:03}", seed).into(),
                stop_row: format!("row{:03}", 120 + 2 * seed).into(),
                ..ScanSpec::default()
            };
            let expected = read(&rig, spec(one_by_one), &ScanLimits::default());
            let limits = ScanLimits { batch: 0, ..random_limits(&dice) };
            let answer = read(&rig, spec(filter.clone()), &limits);
            assert_eq!(answer.cells, expected.cells, "seed {seed}: {text}, {limits:?}");
            let answer = read(&rig, spec(filter), &ScanLimits::default());
            assert_eq!(answer.rows_filtered, expected.rows_filtered, "seed {seed}: {text}");
            refused += answer.rows_filtered;
        }
    }
    assert!(refused > 10_000, "{refused} rows refused");
}

#[test]
fn a_cursor_tells_where_a_scan_is_whatever_it_has_passed() {
    let rig = Rig::new();
    for row in 0..3_000 {
        put_cells(&rig, &format!("row{row:04}"), &[("f", "a", 1, "v")]);
    }
    rig.region.flush(None, "test").unwrap();
    let families = vec![FamilyColumns::whole("f")];
    for text in ["ValueFilter(=, 'binary:none')", "RowFilter(=, 'substring:none')"] {
        let filter = Some(martite_filter::language::parse(text).unwrap());
        let spec = ScanSpec { filter, families: families.clone(), ..ScanSpec::default() };
        let mut scanner = rig.region.scanner(spec).unwrap();
        let limits = ScanLimits { allow_partial: true, ..ScanLimits::default() };
        let (src, mut out) = (rig.ctx.stores.files.blocking(), ScanOutput::new(false));
        let Step::Ready(state) = scanner.next_batch(&limits, &mut || true, &src, &mut out).unwrap() else {
            panic!("a blocking source was asked")
        };
        // The clock is looked at after a thousand cells.
        assert_eq!(state.end, ScanEnd::Time, "{text}");
        let scanned = out.counters.rows_scanned as usize;
        assert!(scanned >= 900, "{text}: {scanned} rows scanned");
        let cursor = String::from_utf8(state.cursor.unwrap().to_vec()).unwrap();
        let at: usize = cursor["row".len()..].parse().unwrap();
        assert!((scanned - 1..=scanned).contains(&at), "{text}: {scanned} rows scanned, at {cursor}");
    }
}
