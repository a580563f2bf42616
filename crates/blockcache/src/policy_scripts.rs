//! Golden scripts of what stays in the cache: `testdata/policy/*.txt`, one operation a line, `->` and its outcome beside
//! it. The outcomes are written anew with `UPDATE_GOLDEN=1`.
//!
//! | operation | |
//! |---|---|
//! | `cache <bytes>` | begins anew |
//! | `capacity <bytes>` | the same cache, larger or smaller |
//! | `in-memory <file>` | its data is of an IN_MEMORY family |
//! | `read <blocks> [<kind>] [size=1000] [times=1]` | as users do: what is missing is loaded |
//! | `get <blocks> [<kind>]` | what is missing stays missing |
//! | `insert <blocks> [<kind>] [size=1000]` | |
//! | `inherit <block> <block>` | the first is wanted as much as the second was |
//! | `together <block> threads=<n>` | all of them read it at once |
//! | `remove <blocks>`, `drop <file>`, `close <file>` | |
//! | `queues` | bytes of each, and the blocks in the order of their turns; `*2`: read twice since they came or stayed |
//! | `counts` | look-ups by kind, blocks that came and that had to go |
//!
//! Files are letters, blocks `a:7` or `a:0-7`, kinds `data` (if none is said), `index`, `bloom` and `meta`. A block's size
//! is all that it costs. `out` are blocks that had to go for others, `not kept` what came and was not there afterwards.

use super::*;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::AtomicU64;

/// The values are their sizes.
type Cache = BlockCache<usize>;

struct World {
    cache: Cache,
}

fn fresh(capacity_bytes: u64) -> World {
    World { cache: BlockCache::new(capacity_bytes, |size| *size) }
}

fn number(words: &[&str], key: &str, default: u64) -> u64 {
    let value = words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    value.map_or(default, |n| n.parse().unwrap())
}

fn kind(words: &[&str]) -> Kind {
    let named = Kind::ALL.into_iter().find(|kind| words.contains(&name(*kind).as_str()));
    named.unwrap_or(Kind::Data)
}

fn name(kind: Kind) -> String {
    format!("{kind:?}").to_lowercase()
}

fn file(word: &str) -> u64 {
    u64::from(word.as_bytes()[0])
}

fn blocks(word: &str) -> Vec<Key> {
    let (name, offsets) = word.split_once(':').unwrap();
    let (first, last) = offsets.split_once('-').unwrap_or((offsets, offsets));
    let (first, last): (u64, u64) = (first.parse().unwrap(), last.parse().unwrap());
    (first..=last).map(|offset| (file(name), offset)).collect()
}

/// `a:0-3 b:7*2`: neighbours that were read equally often together.
fn text(blocks: &[(Key, u8)]) -> String {
    let mut out = Vec::new();
    let follows = |a: &(Key, u8), b: &(Key, u8)| a.0.0 == b.0.0 && a.0.1 + 1 == b.0.1 && a.1 == b.1;
    for run in blocks.chunk_by(follows) {
        let (((file, first), heat), ((_, last), _)) = (run[0], run[run.len() - 1]);
        let file = char::from(file as u8);
        let mut text = format!("{file}:{first}");
        if last > first {
            write!(text, "-{last}").unwrap();
        }
        if heat > 0 {
            write!(text, "*{heat}").unwrap();
        }
        out.push(text);
    }
    out.join(" ")
}

/// What happened to the blocks of one line.
#[derive(Default)]
struct Outcome {
    hit: Vec<Key>,
    miss: Vec<Key>,
    out: Vec<Key>,
    not_kept: Vec<Key>,
}

impl Outcome {
    fn text(&self) -> String {
        let said = [("hit", &self.hit), ("miss", &self.miss), ("out", &self.out), ("not kept", &self.not_kept)];
        let said = said.into_iter().filter(|(_, blocks)| !blocks.is_empty());
        let said: Vec<String> = said
            .map(|(what, blocks)| format!("{what} {}", text(&blocks.iter().map(|key| (*key, 0)).collect::<Vec<_>>())))
            .collect();
        if said.is_empty() { "nothing".to_owned() } else { said.join(", ") }
    }
}

impl World {
    /// The outcome, where there is one to tell.
    fn run(&mut self, line: &str) -> Option<String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let argument = words.get(1).copied().unwrap_or_default();
        match words[0] {
            "cache" => *self = fresh(argument.parse().unwrap()),
            "in-memory" => self.cache.file(file(argument)).set_in_memory(true),
            "queues" => return Some(self.queues()),
            "counts" => return Some(self.counts()),
            "together" => return Some(self.together(blocks(argument)[0], number(&words, "threads", 2))),
            "capacity" => return Some(self.leaving(|cache| cache.set_capacity(argument.parse().unwrap()))),
            "inherit" => {
                let ((file, offset), (from, old)) = (blocks(argument)[0], blocks(words[2])[0]);
                let found = self.cache.cached_blocks(from).into_iter().find(|(offset, _)| *offset == old);
                self.cache.file(file).inherit(offset, found.unwrap().1);
            }
            "remove" => return Some(self.leaving(|cache| blocks(argument).iter().for_each(|key| cache.remove(key)))),
            "drop" => return Some(self.leaving(|cache| cache.remove_file(file(argument)))),
            "close" => return Some(self.leaving(|cache| cache.close_file(file(argument)))),
            "read" | "get" | "insert" => {
                let mut outcome = Outcome::default();
                for _ in 0..number(&words, "times", 1) {
                    blocks(argument).iter().for_each(|key| self.touch(words[0], *key, &words, &mut outcome));
                }
                return Some(outcome.text());
            }
            other => panic!("no operation {other:?}"),
        }
        None
    }

    fn here(&self) -> BTreeSet<Key> {
        let listed = self.cache.shared.queues.lock().listed();
        listed.into_iter().flat_map(|(_, blocks)| blocks).map(|(key, _)| key).collect()
    }

    fn touch(&self, what: &str, key: Key, words: &[&str], outcome: &mut Outcome) {
        let (kind, size) = (kind(words), number(words, "size", 1000));
        let value = || Arc::new((size - ENTRY_BYTES) as usize);
        let before = self.here();
        let misses = self.cache.stats().misses;
        match what {
            "get" => drop(self.cache.get(&key, kind)),
            "insert" => self.cache.insert(key, kind, value()),
            _ => drop(self.cache.file(key.0).get_or_load(key.1, kind, || Ok::<_, ()>(value()))),
        }
        let after = self.here();
        match (what, self.cache.stats().misses - misses) {
            ("insert", _) => {}
            (_, 0) => outcome.hit.push(key),
            _ => outcome.miss.push(key),
        }
        outcome.out.extend(before.difference(&after).filter(|gone| **gone != key));
        if what != "get" && !after.contains(&key) {
            outcome.not_kept.push(key);
        }
    }

    fn leaving(&self, act: impl FnOnce(&Cache)) -> String {
        let before = self.here();
        act(&self.cache);
        Outcome { out: before.difference(&self.here()).copied().collect(), ..Outcome::default() }.text()
    }

    fn together(&self, key: Key, threads: u64) -> String {
        let before = self.cache.stats();
        let (loads, start) = (AtomicU64::new(0), Barrier::new(threads as usize));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    start.wait();
                    let load = || {
                        loads.fetch_add(1, Ordering::Relaxed);
                        Ok::<_, ()>(Arc::new((1000 - ENTRY_BYTES) as usize))
                    };
                    self.cache.file(key.0).get_or_load(key.1, Kind::Data, load).unwrap();
                });
            }
        });
        let after = self.cache.stats();
        let (hits, misses) = (after.hits - before.hits, after.misses - before.misses);
        format!("{} loaded, {misses} missed, {hits} hit", loads.into_inner())
    }

    fn queues(&self) -> String {
        let listed = self.cache.shared.queues.lock().listed();
        let usage_bytes: u64 = listed.iter().map(|(bytes, _)| bytes).sum();
        assert_eq!(usage_bytes, self.cache.usage_bytes());
        assert!(usage_bytes <= self.cache.capacity_bytes());
        let by_file: u64 = self.cache.usage_by_file().iter().flat_map(|(_, usage)| usage).map(|used| used.bytes).sum();
        assert_eq!(usage_bytes, by_file, "queues and tables agree");
        let named = ["small", "main", "meta", "in memory"].into_iter().zip(listed);
        let said = named.filter(|(_, (_, blocks))| !blocks.is_empty());
        let said: Vec<_> = said.map(|(name, (bytes, blocks))| format!("{name} {bytes}: {}", text(&blocks))).collect();
        if said.is_empty() { "empty".to_owned() } else { said.join("; ") }
    }

    fn counts(&self) -> String {
        let stats = self.cache.stats();
        let by_kind = Kind::ALL.into_iter().zip(stats.by_kind).filter(|(_, looks)| looks.hits + looks.misses > 0);
        let mut said: Vec<String> =
            by_kind.map(|(kind, looks)| format!("{} {} hit {} missed", name(kind), looks.hits, looks.misses)).collect();
        said.push(format!("{} came, {} had to go", stats.inserts, stats.evictions));
        said.join(", ")
    }
}

/// The script with the outcomes that it really has.
fn replay(script: &str) -> String {
    let mut world = fresh(0);
    let mut out = String::new();
    for line in script.lines() {
        let operation = line.split_once(" -> ").map_or(line, |(operation, _)| operation).trim_end();
        let outcome = if operation.is_empty() || operation.starts_with('#') { None } else { world.run(operation) };
        match outcome {
            Some(outcome) => writeln!(out, "{operation} -> {outcome}").unwrap(),
            None => writeln!(out, "{operation}").unwrap(),
        }
    }
    out
}

#[test]
fn scripts_have_the_outcomes_that_they_say() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/policy");
    let mut paths: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 7, "{paths:?}");
    for path in paths {
        let script = std::fs::read_to_string(&path).unwrap();
        let replayed = replay(&script);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, replayed).unwrap();
        } else {
            assert_eq!(replayed, script, "{}: run with UPDATE_GOLDEN=1 and read the difference", path.display());
        }
    }
}
