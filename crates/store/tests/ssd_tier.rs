//! A store whose data is several times the memory cache, above a tier that has room for all of it.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod world;

use martite_blockcache::BlockCache;
use martite_blockcache::tier::{Tier, TierContext, TierOptions};
use martite_cell::OwnedCell;
use martite_env::{Fault, ManualClock, MemFs, Op, Random, SeededRandom};
use martite_hfile::{Block, Encoding, Step};
use martite_store::{FamilyOptions, Files, Store, StoreConfig, StoreContext, image_of};
use std::{path::Path, sync::Arc};
use world::*;

const MEMORY: u64 = 64 << 10;
const SLAB: &str = "/slab";

/// Store files and cache files, each on a device of its own: so that reads of the one are counted.
struct Machine {
    disk: MemFs,
    ssd: MemFs,
    clock: Arc<ManualClock>,
}

struct Server {
    store: Store,
    tier: Arc<Tier<Block>>,
}

impl Machine {
    fn new() -> Machine {
        Machine { disk: MemFs::new(), ssd: MemFs::new(), clock: Arc::default() }
    }

    fn start(&self, seed: u64) -> Server {
        let random = Arc::new(SeededRandom::new(seed));
        let ctx = TierContext { fs: Arc::new(self.ssd.clone()), clock: self.clock.clone(), random: random.clone() };
        let mut options = TierOptions::new(vec![SLAB.into()], 8 << 20);
        options.index = Some("/index".into());
        let tier = Tier::start(ctx, options, image_of).unwrap();
        let cache = Arc::new(BlockCache::above(Some(tier.clone()), MEMORY, Block::heap_size));
        let fs = Arc::new(self.disk.clone());
        let ctx = Arc::new(StoreContext {
            files: Files::below(Path::new(ROOT), fs.clone(), cache),
            fs,
            random,
            root: ROOT.into(),
            config: StoreConfig::default(),
        });
        let family = FamilyOptions { block_size: 1024, encoding: Encoding::FastDiff, ..FamilyOptions::new("f") };
        Server { store: open_region(&ctx, PARENT, family).unwrap(), tier }
    }

    /// Reads of store files while `run` runs.
    fn disk_reads<T>(&self, run: impl FnOnce() -> T) -> (u64, T) {
        let before = self.disk.count(Op::Read);
        let result = run();
        (self.disk.count(Op::Read) - before, result)
    }
}

impl Server {
    /// As a stop of the server does it.
    fn stop(self) {
        self.store.context().files.cache().hand_down();
        drop(self.store);
        self.tier.stop();
    }
}

fn rows(range: std::ops::Range<u32>, seq_id: u64) -> Vec<OwnedCell> {
    let random = SeededRandom::new(seq_id);
    let value = |i: u32| format!("value of {i} {:016x}", random.u64()).repeat(5);
    range.map(|i| put(&format!("row{i:06}"), NOW, &value(i), seq_id)).collect()
}

/// Two files of together about ten times the memory; the cells of both.
fn filled(machine: &Machine) -> (Server, Vec<String>) {
    let server = machine.start(1);
    let mut cells = Vec::new();
    for (range, seq_id) in [(0..2000, 7), (2000..4000, 9)] {
        let new = rows(range, seq_id);
        add(&server.store, &new);
        flush(&server.store, seq_id).unwrap();
        cells.extend(new);
    }
    let expected = texts(&cells);
    assert!(texts(&raw_cells(&server.store)) == expected);
    server.tier.settle();
    (server, expected)
}

#[test]
fn what_does_not_fit_in_memory_is_read_from_the_tier() {
    let machine = Machine::new();
    let (server, expected) = filled(&machine);
    let blocks = server.tier.stats().blocks;
    assert!(blocks * 1024 > 6 * MEMORY, "{blocks} blocks");
    for _ in 0..3 {
        let (reads, cells) = machine.disk_reads(|| texts(&raw_cells(&server.store)));
        assert!(cells == expected);
        assert_eq!(reads, 0);
        server.tier.settle();
    }
    let stats = server.tier.stats();
    assert!(stats.hits > 2 * blocks && stats.evictions + stats.checksum_failures + stats.dropped == 0, "{stats:?}");
}

#[test]
fn a_restart_is_warm() {
    let machine = Machine::new();
    let (server, expected) = filled(&machine);
    let in_memory = server.store.context().files.cache().len() as u64;
    let blocks = server.tier.stats().blocks;
    server.stop();
    let server = machine.start(2);
    let all = server.tier.stats().blocks;
    assert!(all > blocks && all <= blocks + in_memory, "{all} of {blocks} and {in_memory}");
    let (reads, cells) = machine.disk_reads(|| texts(&raw_cells(&server.store)));
    assert!(cells == expected);
    // Indexes and bloom filters.
    assert!(
        reads <= in_memory + blocks - all + 10 && server.tier.stats().hits == all,
        "{reads} reads, {:?}",
        server.tier.stats()
    );
    server.stop();
    // Without the cache files everything is as it was, but slower.
    let cold = Machine { ssd: MemFs::new(), ..machine };
    let server = cold.start(3);
    let (reads, cells) = cold.disk_reads(|| texts(&raw_cells(&server.store)));
    assert!(cells == expected && reads > blocks);
}

#[test]
fn damaged_cache_files_never_give_a_wrong_value() {
    let machine = Machine::new();
    let (server, expected) = filled(&machine);
    let random = SeededRandom::new(3);
    for _ in 0..10 {
        for _ in 0..50 {
            let at = 4096 + random.below(700 << 10);
            assert!(machine.ssd.corrupt(Path::new(SLAB), at, |byte| *byte ^= 1 << random.below(8)));
        }
        assert!(texts(&raw_cells(&server.store)) == expected);
        server.tier.settle();
    }
    let stats = server.tier.stats();
    assert!(stats.checksum_failures > 100 && stats.hits > 1000, "{stats:?}");
}

#[test]
fn a_device_that_fails_costs_only_time() {
    let machine = Machine::new();
    let (server, expected) = filled(&machine);
    machine.clock.advance_ms(1);
    for _ in 0..3 {
        for nth in [1, 5, 9, 100] {
            machine.ssd.inject(Fault::Once { op: Op::Read, nth });
        }
        assert!(texts(&raw_cells(&server.store)) == expected);
    }
    let stats = server.tier.stats();
    assert_eq!((stats.io_errors, stats.is_off), (12, false));
}

#[test]
fn files_that_were_compacted_leave_the_tier() {
    let machine = Machine::new();
    let (server, expected) = filled(&machine);
    compact(&server.store, MAJOR).unwrap();
    server.tier.settle();
    let before = server.tier.stats();
    assert!(texts(&raw_cells(&server.store)) == expected);
    server.tier.settle();
    let after = server.tier.stats();
    // At most one file's worth of blocks, and of evictions there were none.
    let blocks = after.blocks;
    assert!(before.blocks < blocks && blocks * 1024 < 14 * MEMORY && after.evictions == 0, "{after:?}");
    let (reads, cells) = machine.disk_reads(|| texts(&raw_cells(&server.store)));
    assert!(cells == expected);
    assert_eq!(reads, 0);
}

#[test]
fn a_source_that_may_not_wait_does_not_ask_the_tier() {
    let machine = Machine::new();
    let (server, _) = filled(&machine);
    let files = server.store.context().files.clone();
    files.cache().set_capacity(0);
    server.tier.settle();
    let (before, reads) = (server.tier.stats(), machine.ssd.count(Op::Read));
    for file in server.store.files().iter() {
        let step = file.scanner(true).seek_to_first(&files.cache_only()).unwrap();
        assert!(matches!(step, Step::Need(_)));
    }
    assert_eq!((server.tier.stats(), machine.ssd.count(Op::Read)), (before, reads));
}
