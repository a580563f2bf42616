//! The cleaner: archived logs and store files are deleted once they are old enough.

use crate::MasterError;
use crate::services::Services;
use martite_config::keys;
use std::path::Path;

/// Levels below `archive`: data, namespace, table, region, family.
const ARCHIVE_DEPTH: u32 = 5;

/// Deletes what is old enough; answers how many files that were.
pub(crate) fn run(services: &Services) -> Result<usize, MasterError> {
    let now = services.clock.now_ms();
    let log_ttl = services.config.get(keys::LOG_TTL);
    let mut deleted = 0;
    for dir in [services.layout.old_wals_dir(), services.layout.master_data().old_wals_dir()] {
        deleted += delete_old(services, &dir, now.saturating_sub(log_ttl))?;
    }
    // Snapshots name archived files; as long as there are any, none is deleted.
    if !has_snapshots(services)? {
        let before = now.saturating_sub(services.config.get(keys::HFILE_TTL));
        for layout in [&services.layout, &services.layout.master_data()] {
            deleted += clean_archive(services, &layout.archive_dir(), before, ARCHIVE_DEPTH)?;
        }
    }
    Ok(deleted)
}

fn has_snapshots(services: &Services) -> Result<bool, MasterError> {
    let entries = services.list(&services.layout.snapshots_dir())?;
    Ok(entries.iter().any(|e| e.is_dir && !e.name.starts_with('.')))
}

/// Deletes the files of a directory that were written before a time.
fn delete_old(services: &Services, dir: &Path, before_ms: u64) -> Result<usize, MasterError> {
    let entries = services.list(dir)?;
    // A back reference says that another table's link leads to the file.
    let linked = |name: &str| entries.iter().any(|e| e.is_dir && e.name == format!(".links-{name}"));
    let mut deleted = 0;
    for entry in entries.iter().filter(|e| !e.is_dir && e.modified_ms < before_ms && !linked(&e.name)) {
        let path = dir.join(&entry.name);
        match services.fs.remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(MasterError::io(format!("delete {}: {e}", path.display())));
            }
            _ => deleted += 1,
        }
    }
    Ok(deleted)
}

/// Deletes old files below a directory, and the directories that become empty.
fn clean_archive(services: &Services, dir: &Path, before_ms: u64, depth: u32) -> Result<usize, MasterError> {
    let mut deleted = delete_old(services, dir, before_ms)?;
    if depth == 0 {
        return Ok(deleted);
    }
    for entry in services.list(dir)?.into_iter().filter(|e| e.is_dir) {
        let below = dir.join(&entry.name);
        deleted += clean_archive(services, &below, before_ms, depth - 1)?;
        if deleted > 0 && services.list(&below)?.is_empty() {
            services.remove_dir(&below)?;
        }
    }
    Ok(deleted)
}
