//! The cleaner: archived logs and store files are deleted once they are old enough.

use crate::services::Services;
use crate::{MasterError, snapshots};
use martite_config::keys;
use martite_store::link;
use std::collections::BTreeSet;
use std::io::ErrorKind;
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
    let before = now.saturating_sub(services.config.get(keys::HFILE_TTL));
    // Whoever names archived files waits, and those who have named some are known.
    let Some(_one) = services.snapshots.try_keep_files() else { return Ok(deleted) };
    if let Some(needed) = snapshots::needed_files(services)? {
        for layout in [&services.layout, &services.layout.master_data()] {
            let archive = Archive { services, root: layout.root(), needed: &needed, before_ms: before };
            deleted += archive.clean(&layout.archive_dir(), ARCHIVE_DEPTH)?;
        }
    }
    Ok(deleted)
}

/// Deletes the files of a directory that were written before a time.
fn delete_old(services: &Services, dir: &Path, before_ms: u64) -> Result<usize, MasterError> {
    let entries = services.list(dir)?;
    let mut deleted = 0;
    for entry in entries.iter().filter(|e| !e.is_dir && e.modified_ms < before_ms) {
        deleted += delete(services, &dir.join(&entry.name))?;
    }
    Ok(deleted)
}

fn delete(services: &Services, path: &Path) -> Result<usize, MasterError> {
    match services.fs.remove_file(path) {
        Ok(()) => Ok(1),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(0),
        Err(e) => Err(MasterError::io(format!("delete {}: {e}", path.display()))),
    }
}

/// An archive of store files that is cleaned.
struct Archive<'a> {
    services: &'a Services,
    root: &'a Path,
    /// Names of files that snapshots need.
    needed: &'a BTreeSet<String>,
    before_ms: u64,
}

impl Archive<'_> {
    /// Deletes old files below a directory, and the directories that become empty.
    fn clean(&self, dir: &Path, depth: u32) -> Result<usize, MasterError> {
        let mut deleted = 0;
        let entries = self.services.list(dir)?;
        let mut linked = BTreeSet::new();
        for entry in entries.iter().filter(|e| e.is_dir) {
            let below = dir.join(&entry.name);
            match link::linked_file(&entry.name) {
                Some(file) => {
                    if self.is_linked(dir, &below, file)? {
                        linked.insert(file);
                        continue;
                    }
                }
                None if depth > 0 => deleted += self.clean(&below, depth - 1)?,
                None => continue,
            }
            self.remove_if_empty(&below)?;
        }
        for entry in entries.iter().filter(|e| !e.is_dir && e.modified_ms < self.before_ms) {
            if !linked.contains(&*entry.name) && !self.is_needed(&entry.name) {
                deleted += delete(self.services, &dir.join(&entry.name))?;
            }
        }
        Ok(deleted)
    }

    fn remove_if_empty(&self, dir: &Path) -> Result<(), MasterError> {
        match self.services.fs.remove_empty_dir(dir) {
            // Something may be archived there just now.
            Err(e) if !matches!(e.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::NotFound) => {
                Err(MasterError::io(format!("remove {}: {e}", dir.display())))
            }
            _ => Ok(()),
        }
    }

    /// A file that was set aside for another of its name has a number behind it.
    fn is_needed(&self, name: &str) -> bool {
        self.needed.contains(name) || name.split_once('.').is_some_and(|(first, _)| self.needed.contains(first))
    }

    /// Whether a link leads to the file; back references to it that count no more are removed.
    fn is_linked(&self, dir: &Path, back_references: &Path, file: &str) -> Result<bool, MasterError> {
        let mut linked = false;
        for back in self.services.list(back_references)? {
            if link::is_in_use(&*self.services.fs, self.root, dir, file, &back.name)? {
                linked = true;
            } else {
                delete(self.services, &back_references.join(&back.name))?;
            }
        }
        Ok(linked)
    }
}
