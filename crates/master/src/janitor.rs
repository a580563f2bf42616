//! The catalog janitor: regions whose files nobody leans on any more leave hbase:meta and go to the archive.
//!
//! A split parent is needed while a daughter has reference files to it, merged regions' parents while the merged region
//! has. A reference's name is `<file>.<encoded name of the parent>`.

use crate::MasterError;
use crate::catalog::RegionEntry;
use crate::services::{Services, removed_region_row};
use martite_catalog::meta_row::MetaEdit;
use martite_catalog::system::CATALOG_FAMILY;
use martite_catalog::{RegionInfo, layout};

/// Looks at every region once; answers how many were cleaned.
pub(crate) fn run(services: &Services) -> Result<usize, MasterError> {
    let mut cleaned = 0;
    for entry in services.catalog.all_regions() {
        // Nobody lists files for a snapshot meanwhile.
        let Some(_one) = services.snapshots.try_keep_files() else { break };
        let done = match &entry.split {
            Some((a, b)) if entry.info.is_split_parent() => clean_split(services, &entry, [a, b])?,
            _ if !entry.merged.is_empty() => clean_merged(services, &entry)?,
            _ => false,
        };
        cleaned += usize::from(done);
    }
    Ok(cleaned)
}

fn clean_split(services: &Services, parent: &RegionEntry, daughters: [&RegionInfo; 2]) -> Result<bool, MasterError> {
    for daughter in daughters {
        if leans_on(services, daughter, &[&parent.info])? {
            return Ok(false);
        }
        // A split that is not finished yet: its daughters have no rows of their own.
        let known = services.catalog.region(daughter.encoded_name()).is_some();
        if !known && services.fs.exists(&services.layout.region_dir(daughter)) {
            return Ok(false);
        }
    }
    tracing::info!(region = %parent.info, "the daughters of a split region need it no more");
    services.archive_region(&parent.info)?;
    services.meta.apply(&[removed_region_row(&parent.info, services.now_ms())])?;
    services.catalog.remove_region(parent.info.encoded_name());
    Ok(true)
}

fn clean_merged(services: &Services, merged: &RegionEntry) -> Result<bool, MasterError> {
    let parents: Vec<&RegionInfo> = merged.merged.iter().map(|(_, parent)| parent).collect();
    if leans_on(services, &merged.info, &parents)? {
        return Ok(false);
    }
    tracing::info!(region = %merged.info, "a merged region needs its parents no more");
    for parent in parents {
        services.archive_region(parent)?;
    }
    let edit = MetaEdit::region(&merged.info, services.now_ms());
    let edit = merged.merged.iter().fold(edit, |edit, (qualifier, _)| edit.delete_column(CATALOG_FAMILY, qualifier));
    services.meta.apply(&[edit])?;
    services.catalog.update_region(merged.info.encoded_name(), |r| r.merged.clear());
    Ok(true)
}

/// Whether the region has reference files to one of the parents.
fn leans_on(services: &Services, region: &RegionInfo, parents: &[&RegionInfo]) -> Result<bool, MasterError> {
    let dir = services.layout.region_dir(region);
    for family in services.list(&dir)?.into_iter().filter(|e| e.is_dir && !e.name.starts_with('.')) {
        if family.name == layout::RECOVERED_EDITS_DIR {
            continue;
        }
        let references = |name: &str| {
            let parent = name.rsplit_once('.').map(|(_, parent)| parent);
            parents.iter().any(|p| Some(p.encoded_name()) == parent)
        };
        if services.list(&dir.join(&family.name))?.iter().any(|e| references(&e.name)) {
            return Ok(true);
        }
    }
    Ok(false)
}
