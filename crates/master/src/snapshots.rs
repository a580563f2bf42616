//! Snapshots that are there: found, deleted, and what they need kept from the cleaner.
//!
//! ```text
//!   Snapshot ─ .tmp/<name>: description ─ regions flushed, files listed: manifest ─ moved to <name>
//!   <name> ─┬─ clone: a new table whose files are links
//!           ├─ restore: new regions in the place of the table's, whose files are links
//!           └─ delete, or its time is over: moved to .tmp, removed
//! ```
//! One lock: who lists a snapshot's files, makes links to them, deletes a snapshot or deletes archived files holds it, so that no
//! file goes between being named and being kept.

use crate::services::Services;
use crate::switches::Switch;
use crate::{MasterError, class};
use martite_catalog::{TableName, snapshot};
use martite_proto as pb;
use martite_store::name::{HFileLink, hfile_of, is_hfile, link_of};
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeSet, HashMap};

#[derive(Default)]
pub(crate) struct Snapshots {
    files: Mutex<()>,
    asking: Mutex<()>,
}

impl Snapshots {
    /// Archived files stay, and snapshots too.
    pub fn keep_files(&self) -> MutexGuard<'_, ()> {
        self.files.lock()
    }

    /// The same for a duty that can be done later: None while somebody else is at it, which may take long.
    pub fn try_keep_files(&self) -> Option<MutexGuard<'_, ()>> {
        self.files.try_lock()
    }

    /// Requests for snapshots are looked at one after the other.
    pub fn asking(&self) -> MutexGuard<'_, ()> {
        self.asking.lock()
    }
}

pub(crate) fn does_not_exist(name: &str) -> MasterError {
    MasterError::new(class::SNAPSHOT_NOT_FOUND, format!("Snapshot '{name}' doesn't exist on the filesystem"))
}

/// As HBase prints what is asked for.
pub(crate) fn text(snapshot: &pb::SnapshotDescription) -> String {
    let pb::SnapshotDescription { name, ttl, .. } = snapshot;
    let (table, kind) = (snapshot.table.as_deref().unwrap_or_default(), snapshot.r#type().as_str_name());
    format!("{{ ss={name} table={table} type={kind} ttl={} }}", ttl.unwrap_or(0))
}

pub(crate) fn exists(services: &Services, name: &str) -> bool {
    services.fs.exists(&services.layout.snapshot_dir(name))
}

/// The snapshot of that name. A name that none can have is refused: it is a part of a path.
pub(crate) fn existing(services: &Services, name: &str) -> Result<pb::SnapshotDescription, MasterError> {
    martite_catalog::table_name::check_snapshot_name(name)?;
    let found = snapshot::read_description(&*services.fs, &services.layout.snapshot_dir(name))?;
    found.ok_or_else(|| does_not_exist(name))
}

/// What a snapshot's regions had.
pub(crate) fn manifest(services: &Services, name: &str) -> Result<pb::SnapshotDataManifest, MasterError> {
    let dir = services.layout.snapshot_dir(name);
    let found = snapshot::read_manifest(&*services.fs, &dir)?;
    found.ok_or_else(|| {
        let text = format!("{} has no {}", dir.display(), snapshot::MANIFEST_FILE);
        MasterError::new(class::CORRUPTED_SNAPSHOT, text)
    })
}

/// CorruptedSnapshotException, if a file that it names is nowhere.
pub(crate) fn check_files(services: &Services, manifest: &pb::SnapshotDataManifest) -> Result<(), MasterError> {
    let stores = &services.region_context()?.stores;
    for region in &manifest.region_manifests {
        if let Some(file) = martite_region::missing_file(stores, region)? {
            let text = format!("Missing parent hfile for: {file}");
            return Err(MasterError::new(class::CORRUPTED_SNAPSHOT, text));
        }
    }
    Ok(())
}

/// The whole snapshots that can be read.
pub(crate) fn all(services: &Services) -> Result<Vec<pb::SnapshotDescription>, MasterError> {
    let mut all = Vec::new();
    for name in snapshot::list_names(&*services.fs, &services.layout)? {
        match snapshot::read_description(&*services.fs, &services.layout.snapshot_dir(&name)) {
            Ok(description) => all.extend(description),
            Err(error) => tracing::warn!(%error, name, "a snapshot is left out"),
        }
    }
    Ok(all)
}

/// Whether its time is over.
pub(crate) fn is_expired(snapshot: &pb::SnapshotDescription, now_ms: u64) -> bool {
    let end_ms = |ttl_s: i64| snapshot.creation_time.unwrap_or(0).saturating_add(ttl_s.saturating_mul(1000));
    snapshot
        .ttl
        .filter(|ttl_s| *ttl_s > 0)
        .is_some_and(|ttl_s| end_ms(ttl_s) < i64::try_from(now_ms).unwrap_or(i64::MAX))
}

pub(crate) fn check_expired(services: &Services, snapshot: &pb::SnapshotDescription) -> Result<(), MasterError> {
    if is_expired(snapshot, services.clock.now_ms()) {
        let text = format!("TTL for snapshot '{}' has already expired.", snapshot.name);
        return Err(MasterError::new(class::SNAPSHOT_EXPIRED, text));
    }
    Ok(())
}

pub(crate) fn delete(services: &Services, name: &str) -> Result<(), MasterError> {
    let _kept = services.snapshots.keep_files();
    remove(services, name)
}

/// The caller keeps the files.
fn remove(services: &Services, name: &str) -> Result<(), MasterError> {
    existing(services, name)?;
    // Away at once: a part of a snapshot is none.
    let (from, to) =
        (services.layout.snapshot_dir(name), services.layout.working_snapshot_dir(&format!(".deleted-{name}")));
    let working = services.layout.working_snapshots_dir();
    services.remove_dir(&to)?;
    services.fs.create_dir_all(&working).map_err(|e| MasterError::io(format!("{}: {e}", working.display())))?;
    services.move_dir(&from, &to)?;
    services.remove_dir(&to)
}

/// Deletes those whose time is over.
pub(crate) fn delete_expired(services: &Services) -> Result<usize, MasterError> {
    if !services.is_on(Switch::SnapshotCleanup) {
        return Ok(0);
    }
    let Some(_kept) = services.snapshots.try_keep_files() else { return Ok(0) };
    let now_ms = services.clock.now_ms();
    let expired: Vec<_> = all(services)?.into_iter().filter(|s| is_expired(s, now_ms)).collect();
    for snapshot in &expired {
        tracing::info!(snapshot = snapshot.name, ttl_s = snapshot.ttl, "the snapshot's time is over");
        remove(services, &snapshot.name)?;
    }
    Ok(expired.len())
}

/// Removes what deletions and failures left. No snapshot is being made.
pub(crate) fn clear_working(services: &Services) -> Result<(), MasterError> {
    services.remove_dir(&services.layout.working_snapshots_dir())
}

/// The names of archived files that whole snapshots need; None while one is being made or removed, by others (ExportSnapshot), too:
/// what it needs is not known.
pub(crate) fn needed_files(services: &Services) -> Result<Option<BTreeSet<String>>, MasterError> {
    if !services.list(&services.layout.working_snapshots_dir())?.is_empty() {
        return Ok(None);
    }
    let mut needed = BTreeSet::new();
    for name in snapshot::list_names(&*services.fs, &services.layout)? {
        for (file, _) in files_of(&manifest(services, &name)?) {
            // A clone's link, archived with its table, and what it leads to.
            needed.extend(hfile_of(file).map(str::to_owned));
            needed.insert(file.to_owned());
        }
    }
    Ok(Some(needed))
}

/// Names and sizes of the files of all regions.
pub(crate) fn files_of(manifest: &pb::SnapshotDataManifest) -> impl Iterator<Item = (&str, u64)> {
    let families = manifest.region_manifests.iter().flat_map(|region| &region.family_files);
    families.flat_map(|family| &family.store_files).map(|file| (file.name.as_str(), file.file_size.unwrap_or(0)))
}

/// Bytes of tables' files that are in the archive and that snapshots hold: by table and snapshot. A file that several hold counts
/// for the oldest.
pub(crate) fn sizes(
    services: &Services,
    is_wanted: impl Fn(&TableName) -> bool,
) -> Result<HashMap<(TableName, String), u64>, MasterError> {
    let mut snapshots = all(services)?;
    snapshots.sort_by_key(|s| s.creation_time);
    let mut counted: HashMap<TableName, BTreeSet<String>> = HashMap::new();
    let mut sizes = HashMap::new();
    for snapshot in snapshots {
        let Ok(table) = TableName::parse(snapshot.table()) else { continue };
        if !is_wanted(&table) || services.catalog.table(&table).is_none() {
            continue;
        }
        let counted = match counted.entry(table.clone()) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(new) => new.insert(current_files(services, &table)?),
        };
        let manifest = manifest(services, &snapshot.name)?;
        let files = files_of(&manifest).filter_map(|(name, size)| Some((own_hfile(name, &table)?.to_owned(), size)));
        let bytes = files.filter_map(|(file, size)| counted.insert(file).then_some(size)).sum();
        sizes.insert((table, snapshot.name), bytes);
    }
    Ok(sizes)
}

/// The HFile that a name leads to, if it is of that table.
fn own_hfile<'a>(name: &'a str, table: &TableName) -> Option<&'a str> {
    let is_own = |link: HFileLink<'_>| (link.namespace, link.table) == (table.namespace(), table.qualifier());
    hfile_of(name).filter(|_| link_of(name).is_none_or(is_own))
}

/// The HFiles in a table's own directory.
fn current_files(services: &Services, table: &TableName) -> Result<BTreeSet<String>, MasterError> {
    let mut names = Vec::new();
    for entry in services.catalog.regions(table) {
        for family in services.catalog.existing(table)?.descriptor.families() {
            let dir = services.layout.family_dir(&entry.info, &family.name_string());
            names.extend(services.list(&dir)?.into_iter().map(|entry| entry.name));
        }
    }
    names.retain(|name| is_hfile(name));
    Ok(names.into_iter().collect())
}
