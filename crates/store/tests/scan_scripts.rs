//! Golden scripts of what scanners see: `scan/scripts/*.txt`, text in, text out. Written anew with `UPDATE_GOLDEN=1`.
//!
//! Paragraphs are commands, then `---`, then the output of the commands that have one. Every command goes on with the
//! cells and options that are there; `family` begins anew. Reads are done three times: with the cells in memory, in
//! several files, and in one more way where a flush comes after every put; the answers must be the same.
//!
//! | command | |
//! |---|---|
//! | `family [versions=1] [min_versions=0] [ttl=ms] [keep_deleted=true\|ttl] [new_version] [purge=ms]` | |
//! | `now <ms>` | 1000 at first |
//! | `put <row>:<qualifier>/<timestamp>=<value> [ttl=ms]` | several on a line share a sequence id |
//! | `delete\|delete-column\|delete-family\|delete-family-version <row>:<qualifier>/<timestamp>` | |
//! | `get <row> [option…]`, `scan [option…]` | columns=a,b versions=n from=ts to=ts limit=n offset=n at=read point filter=value |
//! | | scan: start=row stop=row after-start to-stop reversed raw |
//! | `flush`, `minor`, `major` `[at=smallest read point]` | the cells that are kept |

mod scan;

use martite_cell::{CellType, OwnedCell};
use martite_hfile::BloomType;
use martite_store::{CompactionKind, CompactionScan, FamilyOptions, KeepDeleted, StoreScan};
use scan::{Bench, cell, text, value_filter};

struct World {
    family: FamilyOptions,
    now: u64,
    cells: Vec<OwnedCell>,
    seq: u64,
}

fn fresh() -> World {
    World { family: FamilyOptions::new("f"), now: 1000, cells: Vec::new(), seq: 0 }
}

/// `key=value` of the words, if there.
fn option<'a>(words: &[&'a str], key: &str) -> Option<&'a str> {
    words.iter().find_map(|w| w.strip_prefix(key)?.strip_prefix('='))
}

fn number(words: &[&str], key: &str) -> Option<u64> {
    option(words, key).map(|n| n.parse().unwrap_or_else(|_| panic!("{key}={n}")))
}

impl World {
    fn run(&mut self, line: &str, out: &mut String) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let rest = &words[1..];
        match words[0] {
            "family" => *self = World { family: family(rest), ..fresh() },
            "now" => self.now = rest[0].parse().expect("now <ms>"),
            "put" => self.add(CellType::Put, rest),
            "delete" => self.add(CellType::Delete, rest),
            "delete-column" => self.add(CellType::DeleteColumn, rest),
            "delete-family" => self.add(CellType::DeleteFamily, rest),
            "delete-family-version" => self.add(CellType::DeleteFamilyVersion, rest),
            "get" => self.read(StoreScan::get(rest[0].to_owned(), self.now), line, rest, out),
            "scan" => self.read(StoreScan::all(self.now), line, rest, out),
            "flush" => self.compact(CompactionKind::Flush, line, rest, out),
            "minor" => self.compact(CompactionKind::Minor, line, rest, out),
            "major" => self.compact(CompactionKind::Major, line, rest, out),
            other => panic!("no command {other:?}"),
        }
    }

    fn add(&mut self, kind: CellType, words: &[&str]) {
        self.seq += 1;
        for word in words.iter().filter(|w| w.contains('/')) {
            let (column, rest) = word.split_once('/').expect("row:qualifier/timestamp");
            let (row, qualifier) = column.split_once(':').expect("row:qualifier");
            let (ts, value) = rest.split_once('=').unwrap_or((rest, ""));
            let ts = ts.parse().expect("a timestamp");
            self.cells.push(cell(row, qualifier, ts, kind, value, self.seq, number(words, "ttl")));
        }
    }

    /// The same cells in memory; in files of three; each in a file of its own.
    fn benches(&self) -> Vec<Bench> {
        let blooms = [BloomType::Row, BloomType::RowCol, BloomType::None];
        blooms
            .into_iter()
            .zip([usize::MAX, 3, 1])
            .map(|(bloom, flush_every)| {
                let mut bench = Bench::new(bloom, self.seq);
                for (at, cell) in self.cells.iter().enumerate() {
                    bench.next_seq();
                    bench.add(cell);
                    if (at + 1) % flush_every == 0 {
                        bench.flush();
                    }
                }
                bench
            })
            .collect()
    }

    fn read(&self, mut scan: StoreScan, line: &str, words: &[&str], out: &mut String) {
        scan.columns = option(words, "columns").map(|c| c.split(',').map(|q| q.to_owned().into()).collect());
        scan.max_versions = number(words, "versions").map_or(1, |n| n as u32);
        scan.time_range.min = number(words, "from").unwrap_or(scan.time_range.min);
        scan.time_range.max = number(words, "to").unwrap_or(scan.time_range.max);
        scan.store_limit = number(words, "limit").map_or(-1, |n| n as i32);
        scan.store_offset = number(words, "offset").unwrap_or(0) as u32;
        scan.read_point = number(words, "at").unwrap_or(u64::MAX);
        if !scan.is_get {
            scan.start_row = option(words, "start").unwrap_or_default().to_owned().into();
            scan.stop_row = option(words, "stop").unwrap_or_default().to_owned().into();
            scan.include_start = !words.contains(&"after-start");
            scan.include_stop = words.contains(&"to-stop");
            scan.reversed = words.contains(&"reversed");
            scan.raw = words.contains(&"raw");
        }
        let filter = option(words, "filter").map(value_filter);
        let answers = self.benches().into_iter().map(|bench| bench.scan(&self.family, &scan, filter.as_ref()));
        self.agree(line, answers.collect(), out);
    }

    fn compact(&self, kind: CompactionKind, line: &str, words: &[&str], out: &mut String) {
        let puts = self.cells.iter().map(|c| c.as_ref()).filter(|c| !c.is_delete());
        let scan = CompactionScan {
            kind,
            smallest_read_point: number(words, "at").unwrap_or(u64::MAX),
            now_ms: self.now,
            earliest_put_ms: puts.map(|c| c.timestamp()).min().unwrap_or(0),
        };
        let kept = |bench: Bench| bench.compact(&self.family, scan).iter().map(|c| text(&c.as_ref())).collect();
        self.agree(line, self.benches().into_iter().map(kept).collect(), out);
    }

    fn agree(&self, line: &str, answers: Vec<Vec<String>>, out: &mut String) {
        assert!(answers.iter().all(|a| *a == answers[0]), "{line}: in memory, in files of 3, of 1:\n{answers:#?}");
        let answer = if answers[0].is_empty() { "nothing".to_owned() } else { answers[0].join(" ") };
        out.push_str(&format!("{line} -> {answer}\n"));
    }
}

fn family(words: &[&str]) -> FamilyOptions {
    FamilyOptions {
        max_versions: number(words, "versions").map_or(1, |n| n as u32),
        min_versions: number(words, "min_versions").unwrap_or(0) as u32,
        ttl_ms: number(words, "ttl"),
        keep_deleted: match option(words, "keep_deleted") {
            None => KeepDeleted::False,
            Some("true") => KeepDeleted::True,
            Some("ttl") => KeepDeleted::Ttl,
            Some(other) => panic!("keep_deleted={other}"),
        },
        new_version_behavior: words.contains(&"new_version"),
        time_to_purge_deletes_ms: number(words, "purge").unwrap_or(0),
        ..FamilyOptions::new("f")
    }
}

/// Runs a script and returns it with the output that it really has.
fn replay(script: &str) -> String {
    let mut world = fresh();
    let mut replayed = Vec::new();
    for paragraph in script.trim().split("\n\n") {
        if paragraph.starts_with('#') {
            replayed.push(paragraph.to_owned());
            continue;
        }
        let commands = paragraph.split_once("\n---").map_or(paragraph, |(commands, _)| commands).trim();
        let mut out = String::new();
        for line in commands.lines() {
            world.run(line, &mut out);
        }
        replayed.push(if out.is_empty() {
            commands.to_owned()
        } else {
            format!("{commands}\n---\n{}", out.trim_end())
        });
    }
    replayed.join("\n\n") + "\n"
}

#[test]
fn scripts_have_the_output_that_they_say() {
    scan::check_scripts("tests/scan/scripts", 9, replay);
}

#[test]
fn the_source_of_these_tests_does_miss_blocks() {
    let mut bench = Bench::new(BloomType::Row, 1);
    for row in 0..50 {
        let seq = bench.next_seq();
        bench.add(&cell(&format!("r{row}"), "a", 1, CellType::Put, "v", seq, None));
    }
    bench.flush();
    let source = bench.source();
    let scan = StoreScan::all(1000);
    let read = scan::read_all(bench.store.view(), &FamilyOptions::new("f"), &scan, None, &source);
    assert_eq!(read.len(), 50);
    assert!(source.needs.get() >= 5, "{} misses", source.needs.get());
}

#[test]
fn a_get_of_columns_reads_older_files_only_when_it_must() {
    let mut bench = Bench::new(BloomType::Row, 1);
    for ts in [10, 20, 30, 40] {
        let seq = bench.next_seq();
        bench.add(&cell("r", "a", ts, CellType::Put, "v", seq, None));
        if ts == 10 {
            bench.add(&cell("r", "b", ts, CellType::Put, "v", seq, None));
        }
        bench.flush();
    }
    let family = FamilyOptions { max_versions: 3, ..FamilyOptions::new("f") };
    let files_read = |columns: &[&'static str], max_versions: u32| {
        let source = bench.source();
        let columns = Some(columns.iter().map(|c| (*c).into()).collect());
        let scan = StoreScan { columns, max_versions, ..StoreScan::get("r", 1000) };
        let cells = scan::read_all(bench.store.view(), &family, &scan, None, &source).len();
        (cells, source.data_read.borrow().len())
    };
    assert_eq!(files_read(&["a"], 1), (1, 1));
    assert_eq!(files_read(&["a"], 2), (2, 2));
    assert_eq!(files_read(&["a"], 3), (3, 3));
    assert_eq!(files_read(&["b"], 1), (1, 4), "the newer files had to be asked");
    assert_eq!(files_read(&["a", "b"], 1), (2, 4));
}
