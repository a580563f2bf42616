//! Snapshot and clone: a region's files by name, and a new region that begins with links to such files.

use crate::markers::dir_name;
use crate::open::write_region_info;
use crate::split::open_closed;
use crate::{Region, RegionError, family_options};
use bytes::Bytes;
use martite_catalog::{Layout, RegionInfo, TableDescriptor, snapshot};
use martite_proto::{self as pb, snapshot_region_manifest as manifest};
use martite_store::link::{Linked, write_links};
use martite_store::name::referred_region;
use martite_store::reference::Resolved;
use martite_store::{FamilyOptions, Half, Reference, Store, StoreContext, StoreFile};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl Region {
    /// The files that it has now. Who wants all that was written flushes before.
    pub fn manifest(&self) -> pb::SnapshotRegionManifest {
        manifest_of(&self.info, self.stores.iter().map(|(family, store)| family_files(family, store)))
    }
}

/// The files of a region that is not open.
pub fn manifest_of_closed(
    stores: &Arc<StoreContext>,
    table: &TableDescriptor,
    info: &RegionInfo,
    now_ms: u64,
) -> Result<pb::SnapshotRegionManifest, RegionError> {
    let dir = Layout::new(&stores.root).region_dir(info);
    let files = table.families().map(|family| {
        let store = open_closed(stores, table, &dir, family, now_ms)?;
        Ok(family_files(family.name(), &store))
    });
    Ok(manifest_of(info, files.collect::<Result<Vec<_>, RegionError>>()?))
}

fn manifest_of(
    info: &RegionInfo,
    files: impl IntoIterator<Item = manifest::FamilyFiles>,
) -> pb::SnapshotRegionManifest {
    pb::SnapshotRegionManifest {
        version: Some(snapshot::VERSION),
        region_info: info.to_proto(),
        family_files: files.into_iter().collect(),
    }
}

fn family_files(family: &Bytes, store: &Store) -> manifest::FamilyFiles {
    let file = |file: &Arc<StoreFile>| manifest::StoreFile {
        name: file.name().to_owned(),
        reference: file.half.as_ref().map(Half::to_proto),
        file_size: Some(file.size_bytes()),
    };
    manifest::FamilyFiles { family_name: family.clone(), store_files: store.files().iter().map(file).collect() }
}

/// Calls `each` for every file of a region in a snapshot: the family, and what the file's name leads to.
fn for_each_file(
    source: &RegionInfo,
    files: &pb::SnapshotRegionManifest,
    mut each: impl FnMut(&Bytes, Vec<Linked<'_>>) -> Result<(), RegionError>,
) -> Result<(), RegionError> {
    let (table, region) = (source.table(), source.encoded_name());
    for family in &files.family_files {
        let reference = |file: &manifest::StoreFile| {
            let half = file.reference.as_ref().map(Half::from_proto).transpose();
            let corrupt = |why| RegionError::Corrupt(format!("a snapshot's reference {}: {why}", file.name));
            Ok(half.map_err(corrupt)?.map(|half| Reference { half }))
        };
        let references: Vec<_> = family.store_files.iter().map(reference).collect::<Result<_, RegionError>>()?;
        let linked = family.store_files.iter().zip(&references).map(|(file, reference)| {
            Ok(Linked::new((table.namespace(), table.qualifier(), region), &file.name, reference.as_ref())?)
        });
        each(&family.family_name, linked.collect::<Result<_, RegionError>>()?)?;
    }
    Ok(())
}

/// A file that a region in a snapshot names and that is nowhere.
pub fn missing_file(stores: &StoreContext, files: &pb::SnapshotRegionManifest) -> Result<Option<String>, RegionError> {
    let source = RegionInfo::from_proto(&files.region_info)?;
    let mut missing = None;
    for_each_file(&source, files, |family, linked| {
        let gone = linked.iter().find(|file| !file.is_there(&*stores.fs, &stores.root, &dir_name(family)));
        missing = missing.take().or(gone.map(Linked::name));
        Ok(())
    })?;
    Ok(missing)
}

/// The regions whose files a region in a snapshot has references to, by their encoded names.
pub fn referred_regions(files: &pb::SnapshotRegionManifest) -> BTreeSet<&str> {
    let families = files.family_files.iter().flat_map(|family| &family.store_files);
    families.filter_map(|file| referred_region(&file.name)).collect()
}

/// Makes the directory of `region`, which begins with links to the files of a region in a snapshot. Doing it twice is doing it
/// once. `parents`: the copies of split regions, by the encoded names of these; references are to be to them.
pub fn write_clone(
    stores: &StoreContext,
    table: &TableDescriptor,
    region: &RegionInfo,
    files: &pb::SnapshotRegionManifest,
    parents: &BTreeMap<String, String>,
) -> Result<(), RegionError> {
    let source = RegionInfo::from_proto(&files.region_info)?;
    let dir = Layout::new(&stores.root).region_dir(region);
    write_region_info(&*stores.fs, &dir, region)?;
    for_each_file(&source, files, |name, mut linked| {
        let family = table.family(name).ok_or_else(|| {
            let name = dir_name(name);
            RegionError::Corrupt(format!(
                "the snapshot has files of family {name}, which its table {} lacks",
                table.name()
            ))
        })?;
        let options = family_options(family, table)?;
        for file in &mut linked {
            let Some((reference, parent)) = file.part.take() else { continue };
            if !shows_all(stores, &options, name, file, &reference.half) {
                file.part = Some((reference, parents.get(&parent).cloned().unwrap_or(parent)));
            }
        }
        let with_list = options.tracker.writes_list();
        Ok(write_links(&*stores.fs, &stores.root, &dir.join(dir_name(name)), &linked, with_list)?)
    })
}

/// Whether a half of a file is all of it, as it is after a merge: a link does as well then, and needs no parent. A file that cannot be
/// opened here is told of when the region opens.
fn shows_all(stores: &StoreContext, options: &FamilyOptions, family: &[u8], file: &Linked<'_>, half: &Half) -> bool {
    let places = file.link.locations(&stores.root, &dir_name(family));
    let resolved = Resolved { places, half: None };
    let opened = StoreFile::open(&stores.files, &stores.root, file.link.hfile, resolved, 0, options);
    opened.is_ok_and(|file| {
        [file.first_key(), file.last_key()].into_iter().flatten().all(|key| half.shows(options.order, key))
    })
}
