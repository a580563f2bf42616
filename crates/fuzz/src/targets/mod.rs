//! The targets, one file for each thing that reads bytes from outside.

mod canary;
mod catalog;
mod cells;
mod comparator;
mod compress;
mod config;
mod filter;
mod hfile;
mod peer;
mod regionserver;
mod rpc;
mod tier;
mod wal;
mod zk;

pub use canary::RELEASE;

use crate::Target;

/// Everything that is fuzzed.
pub const ALL: &[Target] = &[
    rpc::HEADER,
    rpc::CONNECTION,
    cells::TARGET,
    compress::TARGET,
    hfile::TARGET,
    wal::TARGET,
    tier::TARGET,
    filter::TARGET,
    comparator::COMPARATOR,
    comparator::REGEX,
    zk::TARGET,
    catalog::TARGET,
    config::TARGET,
    regionserver::TARGET,
];

/// Targets that must fail, and their twin that must not.
pub const CANARIES: &[Target] = &[canary::PANIC, canary::MEMORY, canary::HANG, canary::SOUND];

/// The target of a name, canaries too.
pub fn find(name: &str) -> Option<Target> {
    ALL.iter().chain(CANARIES).find(|target| target.name == name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different_and_seeds_fit() {
        let names: std::collections::BTreeSet<_> = ALL.iter().chain(CANARIES).map(|t| t.name).collect();
        assert_eq!(names.len(), ALL.len() + CANARIES.len());
        for target in ALL.iter().chain(CANARIES) {
            let seeds = (target.seeds)();
            assert!(!seeds.is_empty(), "{}", target.name);
            let longest = seeds.iter().map(Vec::len).max().unwrap_or_default();
            assert!(longest <= target.max_len, "{}: a seed of {longest} bytes", target.name);
        }
    }
}
