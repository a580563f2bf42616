//! Which changes of a table's store file trackers are allowed (HBase 2.6: StoreFileTrackerValidationUtils).
//!
//! A change goes through MIGRATION, while which both trackers are kept: from one to the other at once, the new one would
//! not know the files that are there.

use crate::{MasterError, class};
use martite_catalog::file_tracker::{FileTracker, of_family};
use martite_catalog::table::FILE_TRACKER;
use martite_catalog::{FamilyDescriptor, TableDescriptor};

fn tracker(table: &TableDescriptor, family: &FamilyDescriptor) -> Result<FileTracker, MasterError> {
    of_family(table, family).map_err(MasterError::do_not_retry)
}

/// Refuses trackers that are not known, and MIGRATION of families that are new.
pub(crate) fn check_create(table: &TableDescriptor) -> Result<(), MasterError> {
    table.families().try_for_each(|family| check_new_family(table, family))
}

fn check_new_family(table: &TableDescriptor, family: &FamilyDescriptor) -> Result<(), MasterError> {
    match tracker(table, family)? {
        FileTracker::Plain(_) => Ok(()),
        FileTracker::Migration { .. } => Err(MasterError::do_not_retry(format!(
            "Should not use MIGRATION as store file tracker for new {}",
            described(table, family)
        ))),
    }
}

fn described(table: &TableDescriptor, family: &FamilyDescriptor) -> String {
    format!("family {} of table {}", family.name_string(), table.name())
}

/// Refuses a change that loses files. `enabled`: the table's regions are open.
pub(crate) fn check_modify(old: &TableDescriptor, new: &TableDescriptor, enabled: bool) -> Result<(), MasterError> {
    for family in new.families() {
        match old.family(family.name()) {
            None => check_new_family(new, family)?,
            Some(before) => check_family(new, family, tracker(old, before)?, tracker(new, family)?, enabled)?,
        }
    }
    Ok(())
}

fn name_of(tracker: FileTracker) -> &'static str {
    match tracker {
        FileTracker::Plain(kind) => kind.name(),
        FileTracker::Migration { .. } => "MIGRATION",
    }
}

/// Refuses trackers that are not known, as HBase does while it clones a snapshot.
pub(crate) fn check_known(table: &TableDescriptor) -> Result<(), MasterError> {
    if table.families().all(|family| tracker(table, family).is_ok()) {
        return Ok(());
    }
    let name = table.attributes.text(FILE_TRACKER).unwrap_or_default();
    let text = "java.lang.RuntimeException: java.lang.RuntimeException: java.lang.ClassNotFoundException: Class";
    Err(MasterError::new(class::IO, format!("{text} {name} not found")))
}

/// Refuses to restore a snapshot whose store file tracker for a family is another than the table's.
pub(crate) fn check_restore(table: &TableDescriptor, of_snapshot: &TableDescriptor) -> Result<(), MasterError> {
    for family in table.families() {
        let Some(then) = of_snapshot.family(family.name()) else { continue };
        let (now, then) = (tracker(table, family)?, tracker(of_snapshot, then)?);
        if now != then {
            let text = format!(
                "Restoring Snapshot is not possible because  the config for column family {} has incompatible configuration. \
                 Current SFT: {} SFT from snapshot: {}",
                family.name_string(),
                name_of(now),
                name_of(then)
            );
            return Err(MasterError::new(class::RESTORE_SNAPSHOT, text));
        }
    }
    Ok(())
}

/// Whether some family of both descriptors has another tracker in the new one.
pub(crate) fn differ(old: &TableDescriptor, new: &TableDescriptor) -> Result<bool, MasterError> {
    for family in new.families() {
        if let Some(before) = old.family(family.name())
            && tracker(old, before)? != tracker(new, family)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn check_family(
    table: &TableDescriptor,
    family: &FamilyDescriptor,
    old: FileTracker,
    new: FileTracker,
    enabled: bool,
) -> Result<(), MasterError> {
    use FileTracker::{Migration, Plain};
    let refuse = |text: String| Err(MasterError::do_not_retry(format!("{text} for {}", described(table, family))));
    match (old, new) {
        _ if old == new => Ok(()),
        // The list or the directory is made by regions that open in MIGRATION.
        (Migration { .. }, Plain(_)) if !enabled => Err(MasterError::new(
            class::TABLE_NOT_ENABLED,
            format!(
                "Should not change store file tracker implementation from MIGRATION while table {} is disabled",
                table.name()
            ),
        )),
        (Migration { to, .. }, Plain(kind)) if kind != to => {
            refuse(format!("Should migrate tracker to {} but got {}", to.name(), kind.name()))
        }
        (Migration { .. }, Plain(_)) => Ok(()),
        (Migration { from: a, .. }, Migration { from: b, .. }) => {
            refuse(format!("The src tracker has been changed from {} to {}", a.name(), b.name()))
        }
        (Plain(a), Plain(_)) => refuse(format!("Should change to MIGRATION first when migrating from {}", a.name())),
        (Plain(a), Migration { from, .. }) if a != from => refuse(format!(
            "Should use src tracker {0} first but got {1} when migrating from {0}",
            a.name(),
            from.name()
        )),
        (Plain(_), Migration { .. }) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_catalog::TableName;
    use martite_catalog::file_tracker::{MIGRATION_SOURCE, MIGRATION_TARGET};

    fn plain(tracker: &str) -> TableDescriptor {
        let table = TableDescriptor::new(TableName::parse("t").unwrap()).with_family(FamilyDescriptor::new("f"));
        table.with(FILE_TRACKER, tracker)
    }

    fn migration(from: &str, to: &str) -> TableDescriptor {
        plain("MIGRATION").with(MIGRATION_SOURCE, from).with(MIGRATION_TARGET, to)
    }

    #[test]
    fn a_change_goes_through_migration() {
        let text = |old: &TableDescriptor, new: &TableDescriptor, enabled: bool| {
            check_modify(old, new, enabled).map_err(|e| e.message).err().unwrap_or_default()
        };
        let (default, file) = (plain("DEFAULT"), plain("FILE"));
        let (there, back) = (migration("DEFAULT", "FILE"), migration("FILE", "DEFAULT"));
        for (old, new) in [(&default, &there), (&there, &file), (&file, &back), (&back, &default), (&there, &there)] {
            assert_eq!(text(old, new, true), "");
        }
        let of_family = " for family f of table t";
        assert_eq!(
            text(&default, &file, true),
            format!("Should change to MIGRATION first when migrating from DEFAULT{of_family}")
        );
        assert_eq!(text(&there, &default, true), format!("Should migrate tracker to FILE but got DEFAULT{of_family}"));
        assert_eq!(
            text(&there, &back, true),
            format!("The src tracker has been changed from DEFAULT to FILE{of_family}")
        );
        assert!(text(&default, &back, true).starts_with("Should use src tracker DEFAULT first but got FILE"));
        assert_eq!(check_modify(&there, &file, false).unwrap_err().class, class::TABLE_NOT_ENABLED);
        assert_eq!(text(&default, &there, false), "", "the source still knows the files");
        assert!(check_create(&file).is_ok() && check_create(&there).is_err());
    }
}
