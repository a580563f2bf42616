//! The normalizer: regions of a table become about equally large (HBase 2.6: SimpleRegionNormalizer).
//!
//! A region of more than twice the average size is split; neighbours that together stay within the average are merged.
//!
//! ```text
//! sizes in MB, average 10:   [4] [5] [40] [3] [2] [6]
//!                            └─merge─┘ split └──merge: 3+2─┘ [6] would make 11
//! ```

use crate::catalog::{RegionEntry, TableEntry};
use crate::procedure::{Executor, merge_regions, split_region};
use crate::services::Services;
use crate::switches::Switch;
use crate::{Caller, MasterError};
use martite_catalog::{RegionInfo, RegionState, TableState};
use martite_config::keys;

const MB: u64 = 1 << 20;
const DAY_MS: u64 = 86_400_000;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    Split(RegionInfo),
    Merge(Vec<RegionInfo>),
}

/// A region as the planner sees it.
struct Candidate {
    info: RegionInfo,
    size_mb: u64,
    is_open: bool,
}

/// What the planner goes by.
struct Rules {
    average_mb: f64,
    split: bool,
    merge: bool,
    min_count: usize,
    /// Regions made after this are too young to be merged.
    born_before_ms: u64,
    min_size_mb: u64,
    max_merged: usize,
}

/// Plans for every table that `wanted` lets through and that wants to be normalized, and starts the work. False if the
/// normalizer is switched off.
pub(crate) fn run(
    services: &Services,
    procedures: &Executor,
    wanted: impl Fn(&TableEntry) -> bool,
) -> Result<bool, MasterError> {
    if !services.is_on(Switch::Normalizer) {
        return Ok(false);
    }
    let by_default = services.config.get(keys::NORMALIZATION_ENABLED);
    for table in services.catalog.tables().into_iter().filter(&wanted) {
        let enabled = table.descriptor.is_normalization_enabled().unwrap_or(by_default);
        if !enabled || table.name().is_system() || table.state != TableState::Enabled {
            continue;
        }
        for plan in plans_of(services, &table) {
            tracing::info!(table = %table.name(), ?plan, "the normalizer has a plan");
            if let Err(error) = start(services, procedures, &plan) {
                tracing::warn!(table = %table.name(), %error, "a plan of the normalizer was refused");
            }
        }
    }
    Ok(true)
}

fn start(services: &Services, procedures: &Executor, plan: &Plan) -> Result<u64, MasterError> {
    let body = match plan {
        Plan::Split(region) => split_region(services, region.encoded_name(), None)?,
        Plan::Merge(regions) => merge_regions(services, regions.clone(), false)?,
    };
    procedures.submit(body, &Caller { user: "normalizer".into(), client_version: None }, (0, 0))
}

fn plans_of(services: &Services, table: &TableEntry) -> Vec<Plan> {
    let live = services.catalog.regions(table.name()).into_iter().filter(RegionEntry::is_live);
    let candidates: Vec<Candidate> = live
        .map(|entry| Candidate {
            size_mb: services.host.region(entry.info.encoded_name()).map_or(0, |r| r.load().file_size_bytes / MB),
            is_open: entry.state == RegionState::Open,
            info: entry.info,
        })
        .collect();
    let (config, of_table) = (&services.config, |key: &str| table.descriptor.setting(key));
    let attribute = |key: &str| table.descriptor.attributes.parsed::<i64>(key).filter(|v| *v > 0);
    let total: u64 = candidates.iter().map(|c| c.size_mb).sum();
    let average_mb = match (attribute("NORMALIZER_TARGET_REGION_SIZE_MB"), attribute("NORMALIZER_TARGET_REGION_COUNT"))
    {
        (Some(size), _) => size as f64,
        (None, Some(count)) => total as f64 / count as f64,
        (None, None) => total as f64 / candidates.len().max(1) as f64,
    };
    let min_age_days = config.get_for(keys::NORMALIZER_MIN_AGE_DAYS, of_table);
    plan(
        &candidates,
        &Rules {
            average_mb,
            split: config.get_for(keys::NORMALIZER_SPLIT, of_table) && services.is_on(Switch::Split),
            merge: config.get_for(keys::NORMALIZER_MERGE, of_table) && services.is_on(Switch::Merge),
            min_count: config.get_for(keys::NORMALIZER_MIN_COUNT, of_table) as usize,
            born_before_ms: services.clock.now_ms().saturating_sub(min_age_days.saturating_mul(DAY_MS)),
            min_size_mb: config.get_for(keys::NORMALIZER_MIN_SIZE_MB, of_table),
            max_merged: config.get_for(keys::NORMALIZER_MERGE_MAX, of_table) as usize,
        },
    )
}

fn plan(regions: &[Candidate], rules: &Rules) -> Vec<Plan> {
    let mut plans = Vec::new();
    if rules.split {
        let large = regions.iter().filter(|r| r.is_open && r.size_mb as f64 > 2.0 * rules.average_mb);
        plans.extend(large.map(|r| Plan::Split(r.info.clone())));
    }
    let worth_it = regions.len() >= rules.min_count && rules.average_mb >= rules.min_size_mb as f64;
    if rules.merge && worth_it {
        plans.extend(merges(regions, rules));
    }
    plans
}

/// Walks the regions in order, and closes a run of neighbours when the next one does not fit.
fn merges(regions: &[Candidate], rules: &Rules) -> Vec<Plan> {
    let mut plans = Vec::new();
    let mut run: Vec<&Candidate> = Vec::new();
    let mut close = |run: &mut Vec<&Candidate>| {
        if run.len() > 1 {
            plans.push(Plan::Merge(run.iter().map(|r| r.info.clone()).collect()));
        }
        run.clear();
    };
    for region in regions {
        let old_enough = region.info.region_id() <= rules.born_before_ms;
        if !region.is_open || !old_enough || region.size_mb < rules.min_size_mb {
            close(&mut run);
            continue;
        }
        let together = run.iter().map(|r| r.size_mb).sum::<u64>() + region.size_mb;
        if together as f64 > rules.average_mb.floor() || run.len() >= rules.max_merged {
            close(&mut run);
        }
        run.push(region);
    }
    close(&mut run);
    plans
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_catalog::TableName;

    const RULES: Rules = Rules {
        average_mb: 10.0,
        split: true,
        merge: true,
        min_count: 3,
        born_before_ms: 100,
        min_size_mb: 1,
        max_merged: 100,
    };

    fn region(n: usize, size_mb: u64) -> Candidate {
        let info = RegionInfo::new(TableName::parse("t").unwrap(), vec![n as u8 + 1], vec![n as u8 + 2], 1);
        Candidate { info, size_mb, is_open: true }
    }

    /// Plans in words: `split 2`, `merge 0-1`.
    fn words(sizes: &[u64], rules: &Rules) -> Vec<String> {
        let regions: Vec<Candidate> = sizes.iter().enumerate().map(|(n, size)| region(n, *size)).collect();
        let at = |info: &RegionInfo| regions.iter().position(|r| r.info == *info).unwrap();
        plan(&regions, rules)
            .iter()
            .map(|plan| match plan {
                Plan::Split(info) => format!("split {}", at(info)),
                Plan::Merge(infos) => format!("merge {}-{}", at(&infos[0]), at(&infos[infos.len() - 1])),
            })
            .collect()
    }

    #[test]
    fn large_regions_are_split_and_small_neighbours_merged() {
        assert_eq!(words(&[4, 5, 40, 3, 2, 6], &RULES), ["split 2", "merge 0-1", "merge 3-4"]);
        assert_eq!(words(&[10, 10, 10], &RULES), Vec::<String>::new());
        assert_eq!(words(&[20, 1], &RULES), Vec::<String>::new(), "twice the average is not more than that");
    }

    #[test]
    fn some_regions_are_left_alone() {
        assert_eq!(words(&[4, 0, 5], &RULES), Vec::<String>::new(), "an empty region ends a run");
        assert_eq!(words(&[4, 5], &RULES), Vec::<String>::new(), "too few regions");
        assert_eq!(words(&[1, 1, 1, 1], &Rules { max_merged: 2, ..RULES }), ["merge 0-1", "merge 2-3"]);
        assert_eq!(words(&[1, 1, 1], &Rules { born_before_ms: 0, ..RULES }), Vec::<String>::new(), "too young");
        assert_eq!(words(&[4, 5, 40], &Rules { split: false, merge: false, ..RULES }), Vec::<String>::new());
    }
}
