//! What the cache keeps, and that readers may come at any moment.

use super::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const BLOCK: usize = 64 << 10;

fn cache(capacity_bytes: u64) -> BlockCache<Vec<u8>> {
    BlockCache::new(capacity_bytes, |v| v.len())
}

fn block() -> Arc<Vec<u8>> {
    Arc::new(vec![0; BLOCK])
}

/// Reads a block as a user of the cache does.
fn read(cache: &BlockCache<Vec<u8>>, key: Key) {
    let loaded: Result<_, ()> = cache.file(key.0).get_or_load(key.1, Kind::Data, || Ok(block()));
    loaded.unwrap();
}

fn kept(cache: &BlockCache<Vec<u8>>, file: u64, offsets: std::ops::Range<u64>) -> usize {
    offsets.filter(|offset| cache.peek(&(file, *offset)).is_some()).count()
}

#[test]
fn usage_is_weighed_and_bounded() {
    let cache = cache(10 << 20);
    for i in 0..1000 {
        cache.insert((1, i), Kind::Data, block());
        assert!(cache.usage_bytes() <= 10 << 20);
    }
    let stats = cache.stats();
    assert_eq!(stats.inserts, 1000);
    assert_eq!(stats.evictions as usize, 1000 - cache.len());
    assert_eq!(cache.usage_bytes(), cache.len() as u64 * (BLOCK as u64 + ENTRY_BYTES));
    assert_eq!(cache.cached_offsets(1).len(), cache.len());
    let all = Used { blocks: cache.len() as u64, bytes: cache.usage_bytes() };
    assert_eq!(cache.usage_by_file(), [(1, [all, Used::default(), Used::default(), Used::default()])]);
    cache.set_capacity(1 << 20);
    assert!(cache.usage_bytes() <= 1 << 20, "{}", cache.usage_bytes());
    assert_eq!(cache.cached_offsets(1).len(), cache.len());
}

#[test]
fn hits_and_misses_are_counted_by_kind_peeks_are_not() {
    let cache = cache(1 << 20);
    cache.insert((1, 0), Kind::Data, Arc::new(vec![7]));
    cache.insert((1, 9), Kind::Bloom, Arc::new(vec![8]));
    assert_eq!(cache.get(&(1, 0), Kind::Data), Some(Arc::new(vec![7])));
    assert_eq!(cache.get(&(1, 9), Kind::Bloom), Some(Arc::new(vec![8])));
    assert_eq!(cache.get(&(1, 9), Kind::Bloom), Some(Arc::new(vec![8])));
    assert_eq!(cache.get(&(2, 0), Kind::Index), None);
    let mut seen = Vec::new();
    cache.file(1).look_at(9, Kind::Bloom, |value| seen.clone_from(value));
    cache.file(1).look_at(10, Kind::Bloom, |_| panic!("it is not there"));
    assert_eq!(seen, [8]);
    assert_eq!(cache.usage_by_file()[0].1.map(|used| used.blocks), [1, 0, 1, 0]);
    assert_eq!(cache.peek(&(1, 0)), Some(Arc::new(vec![7])));
    assert_eq!(cache.peek(&(2, 0)), None);
    let stats = cache.stats();
    assert_eq!((stats.hits, stats.misses, stats.evictions, stats.inserts), (4, 2, 0, 2));
    let by_kind = stats.by_kind.map(|kind| (kind.hits, kind.misses));
    assert_eq!(by_kind, [(1, 0), (0, 1), (3, 1), (0, 0)]);
}

#[test]
fn a_file_is_dropped_alone() {
    let cache = cache(1 << 20);
    for file in 1..=2 {
        for offset in [30, 10, 20] {
            cache.insert((file, offset), Kind::Data, Arc::new(vec![file as u8]));
        }
    }
    cache.remove(&(1, 20));
    assert_eq!(cache.cached_offsets(1), vec![10, 30]);
    cache.remove_file(1);
    assert_eq!((cache.len(), cache.cached_offsets(1)), (3, vec![]));
    assert_eq!(cache.get(&(1, 10), Kind::Data), None);
    assert!(cache.get(&(2, 10), Kind::Data).is_some());
    cache.insert((1, 10), Kind::Data, Arc::new(vec![1]));
    assert_eq!(cache.cached_offsets(1), vec![10], "what was dropped can come back");
    cache.close_file(1);
    assert_eq!((cache.len(), cache.cached_offsets(1)), (3, vec![]));
    assert_eq!(cache.stats().evictions, 0);
}

#[test]
fn a_block_that_comes_twice_counts_once() {
    let cache = cache(1 << 20);
    for len in [10, 1000, 100] {
        cache.insert((1, 0), Kind::Data, Arc::new(vec![1; len]));
        assert_eq!((cache.len(), cache.usage_bytes()), (1, len as u64 + ENTRY_BYTES));
        assert_eq!(cache.peek(&(1, 0)).unwrap().len(), len);
    }
}

#[test]
fn one_loader_per_block_and_a_failed_load_leaves_nothing() {
    let cache = cache(1 << 20);
    let file = cache.file(1);
    let failed: Result<_, &str> = file.get_or_load(1, Kind::Data, || Err("disk"));
    assert_eq!(failed, Err("disk"));
    let loads = AtomicUsize::new(0);
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                let got: Result<_, ()> = file.get_or_load(1, Kind::Data, || {
                    loads.fetch_add(1, Ordering::Relaxed);
                    Ok(Arc::new(vec![1]))
                });
                assert_eq!(got, Ok(Arc::new(vec![1])));
            });
        }
    });
    assert_eq!(loads.into_inner(), 1);
    let stats = cache.stats();
    assert_eq!((stats.hits, stats.misses, stats.inserts), (3, 2, 1));
}

#[test]
fn a_scan_does_not_push_out_what_is_read_again() {
    let cache = cache(8 << 20);
    for _ in 0..5 {
        (0..100).for_each(|i| read(&cache, (1, i)));
    }
    (0..10_000).for_each(|i| read(&cache, (2, i)));
    let kept = kept(&cache, 1, 0..100);
    assert!(kept >= 95, "{kept} of 100 are left");
}

#[test]
fn what_comes_back_soon_was_worth_keeping() {
    let cache = cache(8 << 20);
    // 128 blocks fit: each round puts out those of the one before, and they are back soon after.
    for round in 0..3 {
        (0..60).for_each(|i| read(&cache, (1, i)));
        (0..100).for_each(|i| read(&cache, (2, 100 * round + i)));
    }
    (1000..5000).for_each(|i| read(&cache, (2, i)));
    let kept = kept(&cache, 1, 0..60);
    assert!(kept >= 50, "{kept} of 60 are left");
}

#[test]
fn what_is_not_read_any_more_goes() {
    let cache = cache(8 << 20);
    for _ in 0..5 {
        (0..100).for_each(|i| read(&cache, (1, i)));
    }
    for _ in 0..20 {
        (0..100).for_each(|i| read(&cache, (2, i)));
    }
    assert!(kept(&cache, 2, 0..100) >= 95);
    assert!(kept(&cache, 1, 0..100) <= 28, "128 blocks fit");
}

#[test]
fn data_does_not_push_out_indexes_and_these_have_a_bound() {
    let cache = cache(8 << 20);
    (0..32).for_each(|i| cache.insert((1, i), Kind::Index, block()));
    for _ in 0..4 {
        (0..2000).for_each(|i| read(&cache, (2, i)));
    }
    assert_eq!(kept(&cache, 1, 0..32), 32);
    (0..1000).for_each(|i| cache.insert((3, i), Kind::Bloom, block()));
    let blocks = kept(&cache, 1, 0..32) + kept(&cache, 3, 0..1000);
    assert!((60..=64).contains(&blocks), "{blocks} blocks of 64 KiB in half of 8 MiB");
}

#[test]
fn blocks_of_files_in_memory_go_last_and_have_a_bound() {
    let cache = cache(8 << 20);
    cache.file(1).set_in_memory(true);
    (0..30).for_each(|i| read(&cache, (1, i)));
    for _ in 0..4 {
        (0..2000).for_each(|i| read(&cache, (2, i)));
    }
    assert_eq!(kept(&cache, 1, 0..30), 30);
    (0..1000).for_each(|i| read(&cache, (1, i)));
    let kept = kept(&cache, 1, 0..1000);
    assert!((28..=32).contains(&kept), "{kept} blocks of 64 KiB in a quarter of 8 MiB");
}

#[test]
fn a_value_larger_than_the_cache_is_not_kept() {
    let cache = cache(1 << 20);
    cache.insert((1, 1), Kind::Data, Arc::new(vec![0; 2 << 20]));
    assert_eq!((cache.len(), cache.usage_bytes(), cache.cached_offsets(1)), (0, 0, vec![]));
}

#[test]
fn stale_items_do_not_pile_up() {
    let cache = cache(1 << 20);
    for i in 0..10_000 {
        cache.insert((1, i % 7), Kind::Data, Arc::new(vec![1]));
        cache.remove(&(1, i % 7));
    }
    assert!(cache.shared.queues.lock().items() < 200);
}

/// Every block says where it belongs. Readers must never see another one, whatever comes and goes meanwhile; in the end
/// the sums agree.
#[test]
fn readers_see_the_right_block_while_others_come_and_go() {
    let cache = cache(256 << 10);
    let value = |file: u64, offset: u64| {
        let mut value = vec![0; 1000 + (offset % 3000) as usize];
        value[..8].copy_from_slice(&file.to_be_bytes());
        value[8..16].copy_from_slice(&offset.to_be_bytes());
        Arc::new(value)
    };
    let check = |file: u64, offset: u64, found: &[u8]| {
        assert_eq!(found[..8], file.to_be_bytes());
        assert_eq!(found[8..16], offset.to_be_bytes());
    };
    let stop = AtomicBool::new(false);
    std::thread::scope(|s| {
        for thread in 0..4u64 {
            let (cache, value, check, stop) = (&cache, &value, &check, &stop);
            s.spawn(move || {
                let mut dice = 0x9E37_79B9_7F4A_7C15 ^ (thread + 1);
                for _ in 0..20_000 {
                    dice ^= dice << 13;
                    dice ^= dice >> 7;
                    dice ^= dice << 17;
                    let (file, offset) = (dice % 5, (dice >> 8) % 400 * 100);
                    match dice >> 32 & 63 {
                        0 => cache.remove(&(file, offset)),
                        1 => cache.insert((file, offset), Kind::Data, value(file, offset)),
                        2 if offset == 0 => cache.remove_file(file),
                        3 if offset < 300 => cache.close_file(file),
                        _ => {
                            let load = || Ok::<_, ()>(value(file, offset));
                            check(file, offset, &cache.file(file).get_or_load(offset, Kind::Data, load).unwrap());
                        }
                    }
                }
                stop.store(true, Ordering::Relaxed);
            });
        }
        s.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for (file, offset) in
                    (0..5).flat_map(|file| cache.cached_offsets(file).into_iter().map(move |o| (file, o)))
                {
                    if let Some(found) = cache.peek(&(file, offset)) {
                        check(file, offset, &found);
                    }
                }
            }
        });
    });
    assert!(cache.usage_bytes() <= 256 << 10);
    // Blocks of a file that was closed under its reader are in the queues only.
    let listed: u64 = cache.usage_by_file().iter().flat_map(|(_, usage)| usage).map(|used| used.bytes).sum();
    assert!(listed <= cache.usage_bytes());
    cache.set_capacity(0);
    assert_eq!((cache.len(), cache.usage_bytes(), cache.usage_by_file()), (0, 0, vec![]));
}
