//! Flushes and compactions in any order change what files there are, never what a reader sees.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod world;

use martite_cell::{CellType, OwnedCell};
use martite_env::{MemFs, Random, SeededRandom};
use martite_store::{CompactionRequest, Store, StoreConfig, Unthrottled};
use std::{
    path::Path,
    sync::{Arc, Barrier},
};
use world::*;

/// A store that compacts in small selections.
fn small_selections(fs: &MemFs, seed: u64) -> Store {
    let mut config = StoreConfig::default();
    config.compaction.max_files = 3;
    config.compaction.min_size_bytes = 1;
    open_region(&context(Arc::new(fs.clone()), Path::new(ROOT), config, seed), PARENT, family()).unwrap()
}

/// One change to a few rows. Timestamps grow, so that the purge of markers by a major compaction shows nothing old.
fn change(random: &SeededRandom, seq: u64) -> OwnedCell {
    let row = format!("r{:02}", random.below(30));
    let qualifier = ["a", "b"][random.below(2) as usize];
    match random.below(10) {
        0 => cell(&row, "", seq, CellType::DeleteFamily, "", seq),
        1 | 2 => cell(&row, qualifier, seq, CellType::DeleteColumn, "", seq),
        _ => cell(&row, qualifier, seq, CellType::Put, &format!("v{seq}"), seq),
    }
}

#[test]
fn random_flushes_compactions_and_restarts_keep_what_is_visible() {
    for seed in 0..10 {
        let random = SeededRandom::new(seed);
        let fs = MemFs::new();
        let model = open(&MemFs::new(), family(), seed).unwrap();
        let mut store = small_selections(&fs, seed);
        let (mut seq, mut minor, mut major) = (0, 0, 0);
        for step in 0..120 {
            for _ in 0..random.below(12) {
                seq += 1;
                let cells = [change(&random, seq)];
                add(&store, &cells);
                add(&model, &cells);
            }
            match random.below(8) {
                0..=4 => drop(flush(&store, seq).unwrap()),
                5 => {
                    flush(&store, seq).unwrap();
                    drop(store);
                    store = small_selections(&fs, seed * 1000 + step);
                }
                choice => {
                    let force_major = choice == 7 && random.below(3) == 0;
                    let request = CompactionRequest { force_major, user: force_major, off_peak: false, now_ms: NOW };
                    if let Some(plan) = store.select_compaction(request) {
                        *(if plan.all_files { &mut major } else { &mut minor }) += 1;
                        store.run_compaction(plan, u64::MAX, NOW, &Unthrottled).unwrap();
                    }
                }
            }
            assert_eq!(logical(&store), logical(&model), "seed {seed}, step {step}");
        }
        assert!(minor + major > 5, "seed {seed}: {minor} minor, {major} major compactions");
        let (files, archived) = (listed(&fs, store.dir()).len(), store.unarchived_count());
        assert_eq!((files, archived), (store.file_count(), 0));
    }
}

#[test]
fn a_view_taken_during_a_flush_has_every_cell_once() {
    for round in 0..40 {
        let store = open(&MemFs::new(), family(), round).unwrap();
        let cells: Vec<_> = (0..50u32).map(|i| put(&format!("{i:02}"), NOW, "v", 1)).collect();
        add(&store, &cells);
        let start = Barrier::new(2);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                start.wait();
                flush(&store, 1).unwrap();
            });
            start.wait();
            loop {
                let flushed = store.file_count() == 1;
                assert_eq!(raw_cells(&store).len(), 50);
                if flushed {
                    break;
                }
            }
        });
    }
}
