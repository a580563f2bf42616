//! Golden scripts of the blocks that reads ask for: `scan/plans/*.txt`, one operation a line, `->` and its outcome beside
//! it. The outcomes are written anew with `UPDATE_GOLDEN=1`.
//!
//! | operation | |
//! |---|---|
//! | `store [bloom=row\|rowcol\|prefix:n] [block=n] [index=n]` | begins anew; bytes of data blocks and of blocks of the index |
//! | `put <row>… [columns=a,b] [ts=10] [size=20]` | rows `r05`, or `r00-29` |
//! | `wide <row> <n> [ts=10]` | a row of so many columns, `c000` and so on |
//! | `delete-family\|delete-column <row> [columns=a] [ts=10]` | |
//! | `flush` | the file, its blocks and what each begins with |
//! | `get <row> [option…]`, `scan [option…]` | columns=a,b versions=n from=ts to=ts limit=n (cells of a row) |
//! | | scan: start=row stop=row rows=n reversed fuzzy=r?5 column-prefix=a |
//!
//! The outcome of a read is how many cells it returned and what it asked for, in order: `2:data3` is the fourth data block
//! of the second file. The source has everything, as a warm cache does: each block is asked for as often as a reader goes
//! to it anew.

mod scan;

use martite_cell::{CellBuf, CellType};
use martite_filter::Filter;
use martite_hfile::{Block, BlockKindHint, BlockRequest, BlockSource, BloomType, FileId, HFileError, Reader, Step};
use martite_proto as pb;
use martite_store::scan::{RowLimits, RowRead, StoreEnd};
use martite_store::{FamilyOptions, Files, StoreFile, StoreOverrides, StoreScan, StoreScanner};
use pb::Message;
use scan::{Bench, cell, is_past_stop, keep_everything};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// Has every block, and remembers which were asked for.
struct Watching<'a> {
    files: &'a Files,
    asked: RefCell<Vec<BlockRequest>>,
}

impl BlockSource for Watching<'_> {
    fn get(&self, reader: &Reader, request: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        self.asked.borrow_mut().push(*request);
        self.files.blocking().get(reader, request)
    }
    fn may_block(&self) -> bool {
        true
    }
}

/// File, kind, offset.
type Place = (FileId, &'static str, u64);

fn place(request: &BlockRequest) -> Place {
    let kind = match request.kind {
        BlockKindHint::Data => "data",
        BlockKindHint::Index => "index",
        BlockKindHint::Bloom => "bloom",
        BlockKindHint::Meta => "meta",
    };
    (request.file, kind, request.offset)
}

struct World {
    bench: Bench,
    rows: BTreeSet<String>,
    /// Blocks by their place, with their names.
    names: BTreeMap<Place, String>,
}

fn option<'a>(words: &[&'a str], key: &str) -> Option<&'a str> {
    words.iter().find_map(|w| w.strip_prefix(key)?.strip_prefix('='))
}

fn number(words: &[&str], key: &str) -> Option<u64> {
    option(words, key).map(|n| n.parse().unwrap_or_else(|_| panic!("{key}={n}")))
}

fn columns<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    option(words, "columns").map(|c| c.split(',').collect())
}

fn store(words: &[&str]) -> World {
    let bloom = match option(words, "bloom") {
        None => BloomType::None,
        Some("row") => BloomType::Row,
        Some("rowcol") => BloomType::RowCol,
        Some(other) => BloomType::RowPrefix(other.strip_prefix("prefix:").expect(other).parse().expect(other)),
    };
    let overrides = StoreOverrides {
        index_block_bytes: number(words, "index").map(|bytes| bytes as usize),
        ..StoreOverrides::default()
    };
    let block_size = number(words, "block").unwrap_or(256) as usize;
    let options = FamilyOptions { block_size, overrides, ..keep_everything(bloom) };
    World { bench: Bench::of(options, 1), rows: BTreeSet::new(), names: BTreeMap::new() }
}

/// `r00-02`: r00, r01, r02.
fn rows(word: &str) -> Vec<String> {
    let Some((first, last)) = word.split_once('-') else { return vec![word.to_owned()] };
    let (name, from) = first.split_at(first.len() - last.len());
    let range = from.parse::<usize>().expect(word)..=last.parse().expect(word);
    range.map(|n| format!("{name}{n:0width$}", width = last.len())).collect()
}

fn filter(words: &[&str]) -> Option<Filter> {
    let of = |name: &str, message: Vec<u8>| pb::Filter {
        name: format!("org.apache.hadoop.hbase.filter.{name}"),
        serialized_filter: Some(message.into()),
    };
    let proto = if let Some(pattern) = option(words, "fuzzy") {
        let mask: Vec<u8> = pattern.bytes().map(|byte| u8::from(byte == b'?')).collect();
        let pair = pb::BytesBytesPair { first: pattern.to_owned().into(), second: mask.into() };
        of("FuzzyRowFilter", pb::FuzzyRowFilter { fuzzy_keys_data: vec![pair], is_mask_v2: None }.encode_to_vec())
    } else if let Some(prefix) = option(words, "column-prefix") {
        of("ColumnPrefixFilter", pb::ColumnPrefixFilter { prefix: prefix.to_owned().into() }.encode_to_vec())
    } else {
        return None;
    };
    Some(Filter::decode(&proto).expect("a sound filter"))
}

fn store_scan(mut scan: StoreScan, words: &[&str]) -> StoreScan {
    scan.columns = columns(words).map(|c| c.iter().map(|q| (*q).to_owned().into()).collect());
    scan.max_versions = number(words, "versions").map_or(1, |n| n as u32);
    scan.time_range.min = number(words, "from").unwrap_or(scan.time_range.min);
    scan.time_range.max = number(words, "to").unwrap_or(scan.time_range.max);
    scan.store_limit = number(words, "limit").map_or(-1, |n| n as i32);
    if !scan.is_get {
        scan.start_row = option(words, "start").unwrap_or_default().to_owned().into();
        scan.stop_row = option(words, "stop").unwrap_or_default().to_owned().into();
        scan.reversed = words.contains(&"reversed");
    }
    scan
}

impl World {
    fn run(&mut self, line: &str) -> Option<String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let rest = &words[1..];
        match words[0] {
            "store" => *self = store(rest),
            "put" => self.write(CellType::Put, &rows(rest[0]), rest),
            "delete-family" => self.write(CellType::DeleteFamily, &rows(rest[0]), &[&["columns="], rest].concat()),
            "delete-column" => self.write(CellType::DeleteColumn, &rows(rest[0]), rest),
            "wide" => {
                let all: Vec<_> = (0..rest[1].parse::<u32>().expect(line)).map(|n| format!("c{n:03}")).collect();
                let columns = format!("columns={}", all.join(","));
                self.write(CellType::Put, &rows(rest[0]), &[&[columns.as_str()], rest].concat());
            }
            "flush" => return Some(self.flush()),
            "get" => return Some(self.read(store_scan(StoreScan::get(rest[0].to_owned(), 1000), rest), rest)),
            "scan" => return Some(self.read(store_scan(StoreScan::all(1000), rest), rest)),
            other => panic!("no operation {other:?}"),
        }
        None
    }

    fn write(&mut self, kind: CellType, rows: &[String], words: &[&str]) {
        let value = match kind {
            CellType::Put => "v".repeat(number(words, "size").unwrap_or(20) as usize),
            _ => String::new(),
        };
        for row in rows {
            let seq = self.bench.next_seq();
            for column in columns(words).unwrap_or(vec!["a"]) {
                self.bench.add(&cell(row, column, number(words, "ts").unwrap_or(10), kind, &value, seq, None));
            }
            self.rows.insert(row.clone());
        }
    }

    fn watching(&self) -> Watching<'_> {
        Watching { files: self.bench.store.context().files.as_ref(), asked: RefCell::default() }
    }

    fn flush(&mut self) -> String {
        self.bench.flush();
        let files = self.bench.store.view().files;
        let (number, file) = (files.len(), files.last().expect("a file"));
        let (named, begins) = self.blocks_of(number, file);
        self.names.extend(named);
        let mut out = format!("file {number}:");
        for (block, first) in begins {
            write!(out, " {block} {first}").expect("a string");
        }
        out
    }

    /// The blocks of a file, found by going through all of it and by asking its filters for all rows; and where data
    /// blocks begin.
    fn blocks_of(&self, number: usize, file: &Arc<StoreFile>) -> (BTreeMap<Place, String>, Vec<(String, String)>) {
        let watching = self.watching();
        let mut scanner = file.scanner(true);
        let mut firsts = Vec::new();
        scanner.seek_to_first(&watching).expect("a sound file");
        while let Some(cell) = scanner.peek() {
            let data = watching.asked.borrow().iter().filter(|r| r.kind == BlockKindHint::Data).count();
            if data > firsts.len() {
                firsts.push(format!("{}:{}", cell.row().escape_ascii(), cell.qualifier().escape_ascii()));
            }
            scanner.next(&watching).expect("a sound file");
        }
        for row in &self.rows {
            let reader = &file.reader;
            reader.may_contain_row_col(row.as_bytes(), b"a", &watching).expect("a sound file");
            reader.may_contain_delete_family(row.as_bytes(), &watching).expect("a sound file");
        }
        let places: BTreeSet<Place> = watching.asked.borrow().iter().map(place).collect();
        let mut named = BTreeMap::new();
        for kind in ["data", "index", "bloom"] {
            let of_kind = places.iter().filter(|place| place.1 == kind);
            named.extend(of_kind.enumerate().map(|(at, place)| (*place, format!("{number}:{kind}{at}"))));
        }
        let data = named.iter().filter(|(place, _)| place.1 == "data").map(|(_, name)| name);
        let begins = data.map(|name| name.split_once(':').expect("a number").1.to_owned()).zip(firsts).collect();
        (named, begins)
    }

    fn read(&self, scan: StoreScan, words: &[&str]) -> String {
        let watching = self.watching();
        let cells = self.cells_of(&scan, filter(words), number(words, "rows").unwrap_or(u64::MAX), &watching);
        let asked = watching.asked.into_inner();
        let asked: Vec<&str> = asked.iter().map(|request| self.names[&place(request)].as_str()).collect();
        format!("{cells} cells: {}", if asked.is_empty() { "nothing".to_owned() } else { asked.join(" ") })
    }

    fn cells_of(&self, scan: &StoreScan, mut filter: Option<Filter>, mut rows: u64, src: &dyn BlockSource) -> usize {
        let (family, has_filter) = (Arc::new(FamilyOptions::new("f")), filter.is_some());
        let family = Arc::new(FamilyOptions { max_versions: 10, ..(*family).clone() });
        let mut scanner =
            StoreScanner::with_filter(self.bench.store.view(), family, Arc::new(scan.clone()), has_filter);
        scanner.open(src).expect("a sound file");
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
        while rows > 0 && scanner.peek().is_some_and(|cell| !is_past_stop(cell.row(), scan)) {
            let before = read.out.len();
            let end = scanner.next(&mut read).expect("a sound file");
            if let Some(filter) = read.filter.as_deref_mut() {
                filter.reset();
            }
            rows -= u64::from(read.out.len() > before);
            match end {
                Step::Ready(StoreEnd::Row) => {}
                Step::Ready(StoreEnd::Exhausted) => break,
                other => panic!("{other:?} of a source that has everything"),
            }
        }
        out.len()
    }
}

/// The script with the outcomes that it really has.
fn replay(script: &str) -> String {
    let mut world = store(&[]);
    let mut out = String::new();
    for line in script.lines() {
        let operation = line.split_once(" -> ").map_or(line, |(operation, _)| operation).trim_end();
        let outcome = if operation.is_empty() || operation.starts_with('#') { None } else { world.run(operation) };
        out.push_str(operation);
        out.push_str(&outcome.map(|outcome| format!(" -> {outcome}")).unwrap_or_default());
        out.push('\n');
    }
    out
}

#[test]
fn reads_ask_for_the_blocks_that_the_scripts_say() {
    scan::check_scripts("tests/scan/plans", 4, replay);
}
