//! ModifyTableStoreFileTracker, ModifyColumnFamilyStoreFileTracker: from one store file tracker to another.
//!
//! ```text
//! look ─┬─ already there ─▶ done
//!       ├─ MIGRATION to something else ─▶ finish that one ─▶ look
//!       └─▶ MIGRATION from the old to the new ─▶ the new alone
//! ```
//!
//! Each arrow changes the descriptor and opens the regions again, as ModifyTable does.

use super::{Flow, Lock, ModifyTable, Procedure, table_locks, table_name};
use crate::services::Services;
use crate::{MasterError, class, file_tracker};
use bytes::Bytes;
use martite_catalog::file_tracker::{self as trackers, FileTracker, MIGRATION_SOURCE, MIGRATION_TARGET, TrackerKind};
use martite_catalog::table::FILE_TRACKER;
use martite_catalog::{FamilyDescriptor, TableDescriptor, TableName, TableState, to_string_binary};
use martite_proto as pb;
use prost::Message;

/// The saved state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ModifyFileTracker {
    #[prost(message, required, tag = "1")]
    table: pb::TableName,
    /// None: the whole table.
    #[prost(bytes = "bytes", optional, tag = "2")]
    family: Option<Bytes>,
    #[prost(string, tag = "3")]
    target: String,
    /// The change of the descriptor that is under way.
    #[prost(message, optional, tag = "4")]
    change: Option<ModifyTable>,
    #[prost(bool, tag = "5")]
    changed: bool,
}

/// The settings of the table or of the family.
enum Settings<'a> {
    Table(&'a mut TableDescriptor),
    Family(&'a mut FamilyDescriptor),
}

impl Settings<'_> {
    fn set(&mut self, key: &str, value: &str) {
        match self {
            Settings::Table(table) => table.attributes.set(key, value.as_bytes().to_vec()),
            Settings::Family(family) => _ = family.configuration.insert(key.to_owned(), value.to_owned()),
        }
    }

    fn remove(&mut self, key: &str) {
        match self {
            Settings::Table(table) => _ = table.attributes.remove(key),
            Settings::Family(family) => _ = family.configuration.remove(key),
        }
    }

    fn put(&mut self, tracker: FileTracker) {
        match tracker {
            FileTracker::Plain(kind) => {
                self.set(FILE_TRACKER, kind.name());
                self.remove(MIGRATION_SOURCE);
                self.remove(MIGRATION_TARGET);
            }
            FileTracker::Migration { from, to } => {
                self.set(FILE_TRACKER, "MIGRATION");
                self.set(MIGRATION_SOURCE, from.name());
                self.set(MIGRATION_TARGET, to.name());
            }
        }
    }
}

impl ModifyFileTracker {
    /// DoNotRetryIOException, TableNotFoundException, TableNotEnabledException, NoSuchColumnFamilyException.
    pub fn new(
        services: &Services,
        table: &TableName,
        family: Option<Bytes>,
        target: &str,
    ) -> Result<ModifyFileTracker, MasterError> {
        if trackers::target(target).is_none() {
            return Err(MasterError::do_not_retry(format!("Do not need to transfer to {target}")));
        }
        let body = ModifyFileTracker {
            table: table.to_proto(),
            family,
            target: target.to_owned(),
            change: None,
            changed: false,
        };
        body.current(services)?;
        Ok(body)
    }

    fn current(&self, services: &Services) -> Result<(TableDescriptor, FileTracker), MasterError> {
        let entry = services.catalog.existing(&table_name(&self.table)?)?;
        let table = (*entry.descriptor).clone();
        if entry.state != TableState::Enabled {
            return Err(MasterError::new(class::TABLE_NOT_ENABLED, table.name().as_str()));
        }
        let family = match &self.family {
            Some(name) => table.family(name).cloned().ok_or_else(|| {
                let text = format!("{} does not exist for table {}", to_string_binary(name), table.name());
                MasterError::new(class::NO_SUCH_FAMILY, text)
            })?,
            // What the table says, whatever its families say.
            None => FamilyDescriptor::new("any"),
        };
        let tracker = trackers::of_family(&table, &family).map_err(MasterError::do_not_retry)?;
        Ok((table, tracker))
    }

    /// The next descriptor on the way; None at its end.
    fn next(&self, services: &Services, target: TrackerKind) -> Result<Option<TableDescriptor>, MasterError> {
        let (mut table, tracker) = self.current(services)?;
        let next = match tracker {
            FileTracker::Plain(kind) if kind == target => return Ok(None),
            FileTracker::Plain(from) => FileTracker::Migration { from, to: target },
            FileTracker::Migration { to, .. } => FileTracker::Plain(to),
        };
        let old = table.clone();
        match &self.family {
            Some(name) => {
                if let Some(mut family) = table.family(name).cloned() {
                    Settings::Family(&mut family).put(next);
                    table = table.with_family(family);
                }
            }
            None => Settings::Table(&mut table).put(next),
        }
        file_tracker::check_modify(&old, &table, true)?;
        Ok(Some(table))
    }
}

impl Procedure for ModifyFileTracker {
    fn class(&self) -> &'static str {
        match self.family {
            Some(_) => "ModifyColumnFamilyStoreFileTrackerProcedure",
            None => "ModifyTableStoreFileTrackerProcedure",
        }
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        table_locks(&self.table)
    }
    fn can_roll_back(&self) -> bool {
        !self.changed && self.change.as_ref().is_none_or(Procedure::can_roll_back)
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        if let Some(change) = &mut self.change {
            if change.step(services)? != Flow::More {
                self.change = None;
                self.changed = true;
            }
            return Ok(Flow::More);
        }
        let target = trackers::target(&self.target);
        let target = target.ok_or_else(|| MasterError::io(format!("a saved target is {}", self.target)))?;
        match self.next(services, target)? {
            None => Ok(Flow::done()),
            Some(table) => {
                self.change = Some(ModifyTable::new(&table, true));
                Ok(Flow::More)
            }
        }
    }
}
