//! Which files a compaction takes: HBase's ExploringCompactionPolicy over the rules all its policies share.
//!
//! Files are ordered from oldest to newest and only neighbours are merged, so that sequence ids stay in order. Of all
//! runs of neighbours whose sizes are "in ratio" (no file is larger than `ratio` times the others together) the policy
//! takes the longest, of equally long ones the smallest:
//!
//! ```text
//! min 3 files, max 5, ratio 1.0       older ──▶ newer
//!   100  50  23  12  12               [23 12 12]  23 ≤ 12 + 12; with the 50 it would not be in ratio
//!   100  50  25  12  12               nothing     25 > 24
//!     7   6   5   4   3   2   1       [5 4 3 2 1] five files at most, the smallest five in ratio
//! ```
//!
//! Pure: sizes and ages in, a selection out.

use super::CompactionRequest;
use crate::options::StoreConfig;

/// A new selection must be this much better, while a store is stuck, to displace an earlier one.
const REPLACE_IF_BETTER_BY: f64 = 1.05;

/// What the policy looks at in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidate {
    pub name: String,
    pub size_bytes: u64,
    pub is_reference: bool,
    pub exclude_from_minor: bool,
    pub modified_ms: u64,
    pub min_timestamp: Option<u64>,
}

/// The neighbours to merge, as indices into the candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    pub files: Vec<usize>,
    /// Asked for or due as a major compaction, and all files are taken.
    pub major: bool,
    /// All files of the store are taken: deletes and what they cover can be dropped.
    pub all_files: bool,
    pub off_peak: bool,
}

/// Chooses among `candidates` (oldest first). Those up to and including the newest one under compaction (`compacting`:
/// index of it) are left alone. None if nothing is worth compacting.
pub fn select(
    candidates: &[Candidate],
    compacting: Option<usize>,
    config: &StoreConfig,
    ttl_ms: Option<u64>,
    request: &CompactionRequest,
) -> Option<Selection> {
    let options = &config.compaction;
    let all = candidates.len();
    let busy = compacting.map_or(0, |newest| newest + 1);
    let may_be_stuck = all - busy + usize::from(busy > 0) >= config.blocking_files;
    let mut chosen: Vec<usize> = (busy.min(all)..all).collect();

    let mut is_all = chosen.len() == all;
    if !(request.force_major && is_all) {
        skip_large(candidates, &mut chosen, max_size(config, request.off_peak));
        is_all = chosen.len() == all;
    }
    let files: Vec<&Candidate> = chosen.iter().map(|i| &candidates[*i]).collect();
    let forced = request.force_major && is_all;
    let trying_major = (forced && request.user)
        || ((forced || major_is_due(&files, config, ttl_ms, request.now_ms)) && files.len() < options.max_files);
    let after_split = files.iter().any(|f| f.is_reference);
    if !trying_major && !after_split {
        chosen.retain(|i| !candidates[*i].exclude_from_minor);
        chosen = explore(candidates, &chosen, config, request.off_peak, may_be_stuck);
        if chosen.len() < options.min_files {
            chosen.clear();
        }
    }
    if chosen.len() > options.max_files && !(request.user && trying_major) {
        chosen.truncate(options.max_files);
    }
    let all_files = chosen.len() == all;
    (!chosen.is_empty()).then_some(Selection {
        major: trying_major && all_files,
        all_files,
        off_peak: request.off_peak && !all_files,
        files: chosen,
    })
}

fn max_size(config: &StoreConfig, off_peak: bool) -> u64 {
    if off_peak { config.compaction.max_size_off_peak_bytes } else { config.compaction.max_size_bytes }
}

/// Leaves out the oldest files while they are too large; a reference must be compacted whatever its size.
fn skip_large(candidates: &[Candidate], chosen: &mut Vec<usize>, max_size_bytes: u64) {
    let large = chosen
        .iter()
        .take_while(|i| !candidates[**i].is_reference && candidates[**i].size_bytes > max_size_bytes)
        .count();
    chosen.drain(..large);
}

/// The best run of neighbours in ratio; if there is none and the store is stuck, the smallest run.
fn explore(
    candidates: &[Candidate],
    eligible: &[usize],
    config: &StoreConfig,
    off_peak: bool,
    may_be_stuck: bool,
) -> Vec<usize> {
    let options = &config.compaction;
    let ratio = if off_peak { options.ratio_off_peak } else { options.ratio };
    let (mut best, mut best_size): (&[usize], u64) = (&[], 0);
    let (mut smallest, mut smallest_size): (&[usize], u64) = (&[], u64::MAX);
    for start in 0..eligible.len() {
        for end in start + options.min_files..=eligible.len().min(start + options.max_files) {
            let run = &eligible[start..end];
            let size = run.iter().map(|i| candidates[*i].size_bytes).sum();
            if may_be_stuck && size < smallest_size {
                (smallest, smallest_size) = (run, size);
            }
            if size > max_size(config, off_peak)
                || (size >= options.min_size_bytes && !in_ratio(candidates, run, size, ratio))
            {
                continue;
            }
            if is_better((best.len(), best_size), (run.len(), size), may_be_stuck) {
                (best, best_size) = (run, size);
            }
        }
    }
    if best.is_empty() { smallest.to_vec() } else { best.to_vec() }
}

fn in_ratio(candidates: &[Candidate], run: &[usize], total: u64, ratio: f64) -> bool {
    run.len() < 2
        || run.iter().map(|i| candidates[*i].size_bytes).all(|size| size as f64 <= (total - size) as f64 * ratio)
}

/// Both as (files, bytes).
fn is_better(best: (usize, u64), new: (usize, u64), may_be_stuck: bool) -> bool {
    if may_be_stuck && best.1 > 0 && new.1 > 0 {
        // Most files gone per byte written.
        return best.0 as f64 / best.1 as f64 * REPLACE_IF_BETTER_BY < new.0 as f64 / new.1 as f64;
    }
    new.0 > best.0 || (new.0 == best.0 && new.1 < best.1)
}

/// Whether the oldest of the files is older than the period of major compactions.
pub fn major_is_due(files: &[&Candidate], config: &StoreConfig, ttl_ms: Option<u64>, now_ms: u64) -> bool {
    let Some(first) = files.first() else { return false };
    let period_ms = major_period_ms(config, &first.name);
    let oldest_ms = files.iter().map(|f| f.modified_ms).min().unwrap_or(0);
    if period_ms == 0 || oldest_ms == 0 || oldest_ms >= now_ms.saturating_sub(period_ms) {
        return false;
    }
    if files.len() > 1 {
        return true;
    }
    // Rewriting a single file is only worth it once cells in it have expired.
    let age_ms = first.min_timestamp.map(|ts| now_ms.saturating_sub(ts));
    ttl_ms.zip(age_ms).is_some_and(|(ttl, age)| age > ttl)
}

/// Time between two major compactions of a store. It differs from store to store, by the name of its oldest file, so
/// that they do not all start at once; the same name gives the same time after a restart. 0: never.
fn major_period_ms(config: &StoreConfig, first_name: &str) -> u64 {
    let period_ms = config.compaction.major_period_ms;
    if period_ms == 0 || config.compaction.major_jitter <= 0.0 {
        return period_ms;
    }
    let jitter_ms = (period_ms as f64 * config.compaction.major_jitter).round();
    let shift_ms = (2.0 * jitter_ms * java_random_double(java_hash(first_name))).round();
    (period_ms as f64 + jitter_ms - shift_ms).max(0.0) as u64
}

/// `String.hashCode` of Java.
fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// The first `nextDouble` of `java.util.Random` with this seed.
fn java_random_double(seed: i32) -> f64 {
    const MULTIPLIER: u64 = 0x5_deec_e66d;
    const MASK: u64 = (1 << 48) - 1;
    let mut state = (seed as i64 as u64 ^ MULTIPLIER) & MASK;
    let mut next = |bits: u32| {
        state = state.wrapping_mul(MULTIPLIER).wrapping_add(0xb) & MASK;
        state >> (48 - bits)
    };
    let (high, low) = (next(26), next(27));
    ((high << 27) + low) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_waits_as_long_as_hbase_would_for_its_next_major_compaction() {
        // Computed with java.util.Random, seeded with the hash of the name.
        let config = StoreConfig::default();
        assert_eq!(major_period_ms(&config, "b275c9928e0148ccb2217acd2c5db60c"), 550_921_216);
        assert_eq!(major_period_ms(&config, "0945b1d2556f42999e34cf4877617c0c"), 798_017_020);
        let mut steady = config.clone();
        steady.compaction.major_jitter = 0.0;
        assert_eq!(major_period_ms(&steady, "0945"), 604_800_000);
        steady.compaction.major_period_ms = 0;
        let file = Candidate { modified_ms: 1, ..Candidate::default() };
        assert!(!major_is_due(&[&file, &file], &steady, None, u64::MAX));
    }
}
