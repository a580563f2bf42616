//! The tier from outside: what it keeps, what survives, and that nothing it gives is ever wrong.

use super::*;
use crate::{BlockCache, Kind};
use martite_env::{Fault, ManualClock, MemFs, Op, Random, SeededRandom};
use std::sync::atomic::{AtomicBool, Ordering};

const SEGMENT: u32 = 64 << 10;

struct Rig {
    fs: MemFs,
    clock: Arc<ManualClock>,
    options: TierOptions,
}

impl Rig {
    /// Of so many segments.
    fn new(segments: u64) -> Rig {
        let mut options = TierOptions::new(vec!["/slab".into()], segments * u64::from(SEGMENT));
        options.segment_bytes = SEGMENT;
        options.index = Some("/index".into());
        Rig { fs: MemFs::new(), clock: Arc::default(), options }
    }

    fn context(&self, seed: u64) -> TierContext {
        let random = Arc::new(SeededRandom::new(seed));
        TierContext { fs: Arc::new(self.fs.clone()), clock: self.clock.clone(), random }
    }

    /// A tier in which the files 0 to 9 are open.
    fn start(&self, seed: u64) -> Arc<Tier<Vec<u8>>> {
        let tier = Tier::start(self.context(seed), self.options.clone(), view).unwrap();
        (0..10).for_each(|file| tier.open_file(file, name(file)));
        tier
    }
}

fn name(file: u64) -> FileName {
    FileName::of(&format!("data/{file}"), 1 << 20, 7)
}

fn view(value: &Vec<u8>) -> Image<'_> {
    Image { on_disk_size: value.len() as u32 + 33, payload: value }
}

/// The block says where it belongs.
fn block(file: u64, offset: u64) -> Vec<u8> {
    let len = 1000 + (offset * 7 + file) as usize % 3000;
    let random = SeededRandom::new(file << 32 | offset);
    let mut block = vec![0; len];
    random.fill(&mut block);
    block
}

fn offer(tier: &Tier<Vec<u8>>, file: u64, offset: u64) {
    tier.offer(file, offset, &Arc::new(block(file, offset)));
}

/// Whether the tier has the block; what it gives must be right.
fn has(tier: &Tier<Vec<u8>>, file: u64, offset: u64) -> bool {
    let expected = block(file, offset);
    match tier.get(file, offset, expected.len() as u32 + 33) {
        None => false,
        Some(Found::Value(value)) => {
            assert_eq!(*value, expected, "file {file}, offset {offset}");
            true
        }
        Some(Found::Payload { bytes, start }) => {
            assert_eq!(&bytes[start..], expected, "file {file}, offset {offset}");
            true
        }
    }
}

fn held(tier: &Tier<Vec<u8>>, file: u64, offsets: std::ops::Range<u64>) -> usize {
    offsets.filter(|offset| has(tier, file, *offset)).count()
}

/// A tier with blocks 0 to 19 of file 1, all written.
fn with_some(rig: &Rig, seed: u64) -> Arc<Tier<Vec<u8>>> {
    let tier = rig.start(seed);
    (0..20).for_each(|offset| offer(&tier, 1, offset));
    tier.settle();
    tier
}

#[test]
fn what_is_offered_is_found_before_and_after_it_is_written() {
    let rig = Rig::new(8);
    let tier = with_some(&rig, 1);
    assert_eq!((held(&tier, 1, 0..20), held(&tier, 1, 20..30), held(&tier, 2, 0..20)), (20, 0, 0));
    offer(&tier, 1, 50);
    assert!(has(&tier, 1, 50));
    // Again, and of a file that is not open: nothing comes of it.
    offer(&tier, 1, 3);
    offer(&tier, 99, 3);
    tier.settle();
    let stats = tier.stats();
    let bytes: u64 = (0..20).chain([50]).map(|offset| block(1, offset).len() as u64 + 40).sum();
    assert_eq!((stats.blocks, stats.writes, stats.used_bytes, stats.queued_bytes), (21, 21, bytes, 0));
    assert_eq!((stats.hits, stats.misses, stats.evictions, stats.dropped), (21, 30, 0, 0));
    assert_eq!((stats.checksum_failures, stats.io_errors, stats.capacity_bytes), (0, 0, 8 * u64::from(SEGMENT)));
}

#[test]
fn a_size_that_is_not_the_blocks_is_a_miss() {
    let rig = Rig::new(8);
    let tier = with_some(&rig, 1);
    assert!(tier.get(1, 3, 5).is_none());
    assert_eq!((tier.stats().checksum_failures, tier.stats().blocks), (1, 19));
}

#[test]
fn old_blocks_make_room_and_those_that_were_read_stay() {
    let rig = Rig::new(8);
    let tier = with_some(&rig, 1);
    for offset in 0..2000 {
        assert_eq!(held(&tier, 1, 0..10), 10, "before {offset}");
        offer(&tier, 2, offset);
        tier.settle();
        let stats = tier.stats();
        assert!(stats.used_bytes <= stats.capacity_bytes);
        assert_eq!(stats.blocks, stats.writes - stats.evictions);
    }
    assert_eq!(held(&tier, 1, 10..20), 0);
    assert!(held(&tier, 2, 1900..2000) == 100 && held(&tier, 2, 0..1000) == 0);
    let stats = tier.stats();
    assert!(stats.used_bytes > stats.capacity_bytes * 7 / 10, "{stats:?}");
    assert_eq!((stats.checksum_failures, stats.dropped), (0, 0));
}

#[test]
fn blocks_of_files_that_are_gone_leave_room_and_those_of_closed_files_stay() {
    let rig = Rig::new(8);
    let tier = with_some(&rig, 1);
    (0..20).for_each(|offset| offer(&tier, 2, offset));
    tier.close_file(2, true);
    tier.settle();
    assert_eq!(tier.stats().blocks, 20);
    tier.close_file(1, false);
    assert_eq!((held(&tier, 1, 0..20), tier.stats().misses), (0, 0));
    tier.open_file(77, name(1));
    assert!(matches!(tier.get(77, 3, view(&block(1, 3)).on_disk_size), Some(Found::Payload { .. })));
    tier.close_file(77, true);
    let stats = tier.stats();
    assert_eq!((stats.blocks, stats.used_bytes, stats.evictions), (0, 0, 0));
    // Compactions for a long time: what is dead never pushes out what is alive.
    (0..20).for_each(|offset| offer(&tier, 3, offset));
    tier.settle();
    for round in 0..100 {
        tier.open_file(100 + round, name(100 + round));
        (0..30).for_each(|offset| offer(&tier, 100 + round, offset));
        tier.settle();
        assert_eq!(held(&tier, 100 + round, 0..30), 30);
        tier.close_file(100 + round, true);
    }
    assert!(held(&tier, 3, 0..20) >= 18, "{:?}", tier.stats());
}

#[test]
fn a_full_queue_and_blocks_that_are_too_large_drop() {
    let mut rig = Rig::new(8);
    rig.options.queue_bytes = 10_000;
    let tier = rig.start(1);
    tier.offer(1, 0, &Arc::new(vec![1; SEGMENT as usize - 39]));
    assert_eq!((tier.stats().dropped, tier.stats().blocks), (1, 0));
    (0..1000).for_each(|offset| offer(&tier, 1, offset));
    assert!(tier.stats().queued_bytes <= 10_000);
    tier.settle();
    let stats = tier.stats();
    assert_eq!(stats.writes + stats.dropped, 1001);
    tier.stop();
    offer(&tier, 5, 1);
    assert!(!has(&tier, 5, 1), "nothing is taken after the stop");
}

#[test]
fn a_restart_is_warm() {
    let rig = Rig::new(8);
    let tier = with_some(&rig, 1);
    assert!(has(&tier, 1, 4));
    tier.stop();
    tier.stop();
    let tier = rig.start(2);
    assert_eq!((held(&tier, 1, 0..20), tier.stats().blocks), (20, 20));
    // More is written where there is room, and nothing of what was there is hurt.
    (0..50).for_each(|offset| offer(&tier, 2, offset));
    tier.settle();
    assert_eq!((held(&tier, 1, 0..20), held(&tier, 2, 0..50)), (20, 50));
    tier.stop();
    let tier = rig.start(3);
    assert_eq!((held(&tier, 1, 0..20), held(&tier, 2, 0..50)), (20, 50));
    // No clean stop: nothing was written since.
    drop(tier);
    let tier = rig.start(4);
    assert_eq!((held(&tier, 1, 0..20), held(&tier, 2, 0..50)), (20, 50));
    tier.stop();
}

/// What is lost when the server is killed: the segment that was being written. What goes on meanwhile, evictions, moves, files
/// that come and go, leaves nothing behind that is not in its place.
#[test]
fn a_server_that_was_killed_is_warm_but_for_its_open_segment() {
    let rig = Rig::new(8);
    let random = SeededRandom::new(7);
    let mut lost = 0;
    for round in 0..30 {
        let tier = rig.start(round);
        for _ in 0..random.below(400) {
            let (file, offset) = (random.below(5), random.below(40));
            match random.below(40) {
                0 => tier.close_file(file, true),
                1..20 => drop(has(&tier, file, offset)),
                _ => offer(&tier, file, offset),
            }
            tier.open_file(file, name(file));
            tier.settle();
        }
        let before = keys(&tier);
        let open: Vec<Key> = {
            let state = tier.inner.lock();
            state.segments.open().map(|(number, _)| state.segments.blocks(number).to_vec()).unwrap_or_default()
        };
        drop(tier);
        let tier = rig.start(100 + round);
        let after = keys(&tier);
        let missing: Vec<_> = before.iter().filter(|key| !after.contains(key)).collect();
        assert!(missing.iter().all(|key| open.contains(key)), "round {round}");
        lost += missing.len();
        // Blocks of the open segment that had been moved there may be in their old place still.
        let found = (0..5).map(|file| held(&tier, file, 0..40)).sum::<usize>();
        assert_eq!((found, tier.stats().checksum_failures), (after.len(), 0), "round {round}");
        assert!(after.iter().all(|key| before.contains(key)), "round {round}: something came back that was gone");
        tier.stop();
    }
    assert!(lost > 0);
}

fn keys(tier: &Tier<Vec<u8>>) -> Vec<Key> {
    tier.inner.lock().index.iter().map(|(key, _)| key).collect()
}

#[test]
fn the_index_does_not_grow_without_end() {
    let rig = Rig::new(4);
    let tier = rig.start(1);
    let index = || rig.fs.len(Path::new("/index")).unwrap();
    let mut largest = 0;
    for round in 0..60_000 {
        tier.open_file(100 + round, name(100 + round));
        offer(&tier, 100 + round, 0);
        tier.settle();
        tier.close_file(100 + round, true);
        largest = index().max(largest);
    }
    tier.settle();
    assert!(largest > 1_000_000 && largest < 1_100_000 && index() < largest, "{largest}, {}", index());
}

#[test]
fn without_room_for_the_index_the_tier_goes_on() {
    let rig = Rig::new(8);
    let tier = rig.start(1);
    // The index is the only file that is written so.
    rig.fs.remove_file(Path::new("/index")).unwrap();
    rig.fs.inject(Fault::Once { op: Op::Write, nth: 2 });
    (0..200).for_each(|offset| {
        offer(&tier, 1, offset);
        tier.settle();
    });
    let kept = held(&tier, 1, 100..200);
    assert!(kept > 90);
    tier.stop();
    assert_eq!(held(&rig.start(2), 1, 100..200), kept, "a clean stop writes all of it");
    let mut elsewhere = Rig { fs: rig.fs.clone(), ..Rig::new(8) };
    elsewhere.options.index = Some("/absent/index".into());
    let tier = with_some(&elsewhere, 3);
    assert_eq!(held(&tier, 1, 0..20), 20);
    tier.stop();
}

#[test]
fn without_a_path_for_the_index_every_start_is_cold() {
    let mut rig = Rig::new(8);
    rig.options.index = None;
    with_some(&rig, 1).stop();
    assert_eq!(rig.start(2).stats().blocks, 0);
}

#[test]
fn an_index_that_is_damaged_or_of_other_files_is_of_no_use() {
    let rig = Rig::new(8);
    for at in [0, 9, 13, 20, 33, 37, 41, 44, 50, 60, 200] {
        let index = Path::new("/index");
        let _ = rig.fs.remove_file(index);
        with_some(&rig, at).stop();
        assert!(rig.fs.corrupt(index, at, |byte| *byte ^= 4));
        assert_eq!(rig.start(100 + at).stats().blocks, 0, "byte {at}");
    }
    rig.fs.remove_file(Path::new("/index")).unwrap();
    with_some(&rig, 3).stop();
    assert!(rig.fs.truncate(Path::new("/index"), 100));
    assert_eq!(rig.start(4).stats().blocks, 0);
    with_some(&rig, 5).stop();
    rig.fs.remove_file(Path::new("/slab")).unwrap();
    assert_eq!(rig.start(6).stats().blocks, 0, "another slab");
    with_some(&rig, 7).stop();
    let larger = Rig { fs: rig.fs.clone(), ..Rig::new(9) };
    assert_eq!(larger.start(8).stats().blocks, 0, "another size");
}

/// An index of long ago, kept by whatever accident: it leads to the wrong places, and nothing wrong comes from there.
#[test]
fn a_stale_index_gives_misses_and_nothing_else() {
    let rig = Rig::new(8);
    with_some(&rig, 1).stop();
    let stale = rig.fs.read(Path::new("/index")).unwrap();
    let tier = rig.start(2);
    (0..250).for_each(|offset| {
        offer(&tier, 2, offset);
        tier.settle();
    });
    drop(tier);
    rig.fs.write_atomic(Path::new("/index"), &stale).unwrap();
    let tier = rig.start(3);
    assert_eq!(tier.stats().blocks, 20);
    let found = held(&tier, 1, 0..20);
    let stats = tier.stats();
    assert_eq!((stats.checksum_failures, stats.blocks), (20 - found as u64, found as u64));
    assert!(found < 20);
}

#[test]
fn a_crash_leaves_nothing_wrong() {
    for seed in 0..20 {
        let mut rig = Rig::new(4);
        with_some(&rig, seed).stop();
        rig.fs.sync_dir(Path::new("/")).unwrap();
        let tier = rig.start(100 + seed);
        (0..60 + seed * 5).for_each(|offset| {
            offer(&tier, 2, offset);
            tier.settle();
        });
        rig.fs = if seed == 0 { rig.fs.crash() } else { rig.fs.crash_torn(seed) };
        let tier = rig.start(200 + seed);
        let found = held(&tier, 1, 0..20) + held(&tier, 2, 0..200);
        assert_eq!(tier.stats().blocks, found as u64, "seed {seed}");
        (0..30).for_each(|offset| offer(&tier, 3, offset));
        tier.settle();
        assert_eq!(held(&tier, 3, 0..30), 30);
    }
}

#[test]
fn flipped_bytes_are_misses() {
    let rig = Rig::new(8);
    let tier = with_some(&rig, 1);
    let random = SeededRandom::new(5);
    for _ in 0..30 {
        let at = 4096 + random.below(u64::from(SEGMENT));
        rig.fs.corrupt(Path::new("/slab"), at, |byte| *byte ^= 1 << random.below(8));
        held(&tier, 1, 0..20);
    }
    let stats = tier.stats();
    assert!(stats.checksum_failures > 5 && stats.blocks == 20 - stats.checksum_failures, "{stats:?}");
}

#[test]
fn an_error_of_the_device_is_a_miss() {
    let rig = Rig::new(8);
    let tier = with_some(&rig, 1);
    rig.fs.inject(Fault::Once { op: Op::Read, nth: 1 });
    assert!(!has(&tier, 1, 3) && has(&tier, 1, 4));
    rig.fs.inject(Fault::Once { op: Op::Write, nth: 1 });
    offer(&tier, 2, 1);
    tier.settle();
    offer(&tier, 2, 2);
    tier.settle();
    assert!(!has(&tier, 2, 1) && has(&tier, 2, 2));
    let stats = tier.stats();
    assert_eq!((stats.io_errors, stats.blocks, stats.is_off), (2, 20, false));
}

#[test]
fn errors_without_end_switch_the_tier_off() {
    let rig = Rig::new(8);
    let tier = with_some(&rig, 1);
    rig.fs.inject(Fault::Halt { op: Op::Write, nth: 1 });
    for offset in 0..10 {
        offer(&tier, 2, offset);
        tier.settle();
        rig.clock.advance_ms(5_000);
        assert!(!has(&tier, 2, offset));
    }
    assert!(has(&tier, 1, 1), "a success: it begins anew");
    for offset in 0..13 {
        assert!(!tier.stats().is_off);
        offer(&tier, 2, offset);
        tier.settle();
        rig.clock.advance_ms(5_000);
    }
    let stats = tier.stats();
    assert_eq!((stats.is_off, stats.io_errors, stats.blocks, stats.used_bytes), (true, 23, 0, 0));
    assert!(!has(&tier, 1, 1));
    offer(&tier, 2, 50);
    tier.settle();
    assert!(!has(&tier, 2, 50));
    tier.stop();
}

#[test]
fn the_cache_hands_down_data_that_it_evicts_and_nothing_else() {
    let rig = Rig::new(64);
    let tier = rig.start(1);
    let cache = BlockCache::above(Some(tier.clone()), 100 << 10, Vec::len);
    for offset in 0..400 {
        let kind = if offset % 2 == 0 { Kind::Data } else { Kind::Index };
        cache.insert((1, offset), kind, Arc::new(block(1, offset)));
    }
    cache.insert((1, 1000), Kind::Data, Arc::new(block(1, 1000)));
    cache.remove(&(1, 1000));
    cache.insert((2, 0), Kind::Data, Arc::new(block(2, 0)));
    cache.close_file(2);
    cache.set_capacity(0);
    tier.settle();
    assert_eq!((tier.stats().blocks, tier.stats().dropped, cache.len()), (200, 0, 0));
    assert_eq!(
        (0..400).filter(|offset| has(&tier, 1, *offset)).collect::<Vec<_>>(),
        (0..400).step_by(2).collect::<Vec<_>>()
    );
}

#[test]
fn what_proves_to_be_wanted_is_below_as_well() {
    let rig = Rig::new(64);
    let tier = rig.start(1);
    let cache = BlockCache::above(Some(tier.clone()), 100 << 10, Vec::len);
    for offset in 0..200 {
        cache.insert((1, offset), Kind::Data, Arc::new(block(1, offset)));
        (0..3).for_each(|hot| drop(cache.get(&(1, hot), Kind::Data)));
    }
    tier.settle();
    let in_memory = (0..200).filter(|offset| cache.peek(&(1, *offset)).is_some()).collect::<Vec<_>>();
    assert_eq!(in_memory[..3], [0, 1, 2]);
    assert!(held(&tier, 1, 0..3) == 3 && held(&tier, 1, 190..200) == 0, "new ones have not proved it");
    // IN_MEMORY says so.
    cache.file(2).set_in_memory(true);
    cache.insert((2, 0), Kind::Data, Arc::new(block(2, 0)));
    tier.settle();
    assert!(has(&tier, 2, 0));
}

#[test]
fn before_a_stop_memory_is_handed_down() {
    let rig = Rig::new(64);
    let tier = rig.start(1);
    let cache = BlockCache::above(Some(tier.clone()), 1 << 30, Vec::len);
    for offset in 0..200 {
        let kind = if offset < 150 { Kind::Data } else { Kind::Index };
        cache.insert((1, offset), kind, Arc::new(block(1, offset)));
    }
    cache.hand_down();
    assert_eq!((held(&tier, 1, 0..150), held(&tier, 1, 150..200), tier.stats().dropped), (150, 0, 0));
    // What is there is not written again.
    cache.hand_down();
    assert_eq!(tier.stats().writes, 150);
}

#[test]
fn memory_that_is_handed_down_leaves_half_of_the_tier_alone_and_begins_with_what_is_most_wanted() {
    let mut rig = Rig::new(8);
    rig.options.queue_bytes = 8 << 10;
    let tier = rig.start(1);
    for offset in 0..20 {
        offer(&tier, 1, offset);
        tier.settle();
    }
    assert_eq!(held(&tier, 1, 0..20), 20);
    let cache = BlockCache::above(Some(tier.clone()), 1 << 30, Vec::len);
    for offset in 0..1000 {
        cache.insert((2, offset), Kind::Data, Arc::new(block(2, offset)));
    }
    (900..910).for_each(|offset| drop(cache.get(&(2, offset), Kind::Data)));
    cache.hand_down();
    assert_eq!((held(&tier, 1, 0..20), held(&tier, 2, 900..910)), (20, 10));
    let stats = tier.stats();
    assert!(stats.used_bytes > stats.capacity_bytes / 2 && stats.evictions + stats.dropped == 0, "{stats:?}");
    // Nor does it wait for a device that fails.
    rig.fs.inject(Fault::Halt { op: Op::Write, nth: 1 });
    cache.hand_down();
    tier.stop();
    cache.hand_down();
}

/// Readers, writers, files that go and come, a tier that is too small: nobody ever sees a wrong block, and in the end the
/// sums agree.
#[test]
fn readers_see_the_right_block_while_others_come_and_go() {
    let rig = Rig::new(5);
    let tier = rig.start(1);
    let damage = AtomicBool::new(true);
    std::thread::scope(|s| {
        let threads: Vec<_> = (0..4u64)
            .map(|thread| {
                let tier = &tier;
                s.spawn(move || {
                    let random = SeededRandom::new(thread);
                    for _ in 0..5_000 {
                        let (file, offset) = (random.below(5), random.below(100));
                        match random.below(64) {
                            0..30 => offer(tier, file, offset),
                            30 if offset < 20 => {
                                tier.close_file(file, offset < 5);
                                tier.open_file(file, name(file));
                            }
                            31 => tier.refuse(file, offset),
                            _ => drop(has(tier, file, offset)),
                        }
                    }
                })
            })
            .collect();
        s.spawn(|| {
            let random = SeededRandom::new(99);
            while damage.load(Ordering::Relaxed) {
                let at = 4096 + random.below(5 * u64::from(SEGMENT));
                rig.fs.corrupt(Path::new("/slab"), at, |byte| *byte ^= 1);
                std::thread::yield_now();
            }
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        damage.store(false, Ordering::Relaxed);
    });
    tier.settle();
    let stats = tier.stats();
    assert!(stats.hits > 100 && stats.evictions > 100 && stats.io_errors == 0, "{stats:?}");
    let state = tier.inner.lock();
    let bytes: u64 = state.index.iter().map(|(_, entry)| u64::from(entry.len)).sum();
    assert_eq!((state.segments.live_bytes(), state.index.blocks()), (bytes, state.index.iter().count()));
    drop(state);
    (0..5).for_each(|file| tier.close_file(file, true));
    assert_eq!((tier.stats().blocks, tier.stats().used_bytes), (0, 0));
}

#[test]
fn sizes_are_chosen_for_any_capacity() {
    for (capacity, segment) in [(1 << 20, 256 << 10), (100 << 20, 1_638_400), (1 << 40, 8 << 20)] {
        let options = TierOptions::new(vec!["/slab".into()], capacity);
        assert_eq!(options.segment_bytes, segment);
    }
}
