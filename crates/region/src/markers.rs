//! Markers: edits of the family METAFAMILY that say in the log what a region does (HBase 2.6).
//!
//! | qualifier | value | when |
//! |---|---|---|
//! | `HBASE::REGION_EVENT::REGION_OPEN`, `…::REGION_CLOSE` | RegionEventDescriptor | open, close |
//! | `HBASE::FLUSH` | FlushDescriptor | a flush starts, commits, aborts |
//! | `HBASE::BULK_LOAD` | BulkLoadDescriptor | files of others were loaded |
//! | `HBASE::COMPACTION` | CompactionDescriptor | a compaction has replaced files |
//!
//! The row is the region's start key, or one zero byte where that is empty. Replay passes over markers; tools such as
//! WALPrettyPrinter read them.

use crate::bulk_load::Loaded;
use crate::commit::EditKey;
use crate::{Region, RegionError};
use bytes::Bytes;
use martite_cell::{CellBuf, OwnedCell};
use martite_proto::{self as pb, Message, flush_descriptor::FlushAction, region_event_descriptor::EventType};
use martite_store::CompactionOutcome;
use martite_wal::Entry;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Family of all markers.
pub(crate) const FAMILY: &[u8] = b"METAFAMILY";
const FLUSH: &[u8] = b"HBASE::FLUSH";
const BULK_LOAD: &[u8] = b"HBASE::BULK_LOAD";
const COMPACTION: &[u8] = b"HBASE::COMPACTION";
const REGION_OPEN: &[u8] = b"HBASE::REGION_EVENT::REGION_OPEN";
const REGION_CLOSE: &[u8] = b"HBASE::REGION_EVENT::REGION_CLOSE";

/// Names of a flush's new files, by family.
pub(crate) type FlushedFiles = Vec<(Bytes, Vec<String>)>;

impl Region {
    /// Puts a marker into the log; its number is complete once the log is synced.
    fn mark(&self, qualifier: &[u8], value: &[u8]) -> Result<u64, RegionError> {
        let key = EditKey { now_ms: self.ctx.clock.now_ms(), ..EditKey::default() };
        let row: &[u8] = if self.info.start_key().is_empty() { &[0] } else { self.info.start_key() };
        let mut cells = CellBuf::new(true);
        cells.push(&OwnedCell::put(row, FAMILY, qualifier, key.now_ms, value).as_ref());
        let entry = Entry {
            region: self.wal_name.clone(),
            table: self.wal_table.clone(),
            write_time_ms: key.now_ms,
            cells: Cow::Owned(cells.into_bytes()),
            cell_count: 1,
            ..Entry::default()
        };
        let (seq, ticket) = self.append(Some(entry))?;
        // Flushes hold a lock here.
        match ticket {
            Some(ticket) => self.ctx.wal.on_synced(ticket, self.when_durable(seq)),
            None => self.mvcc.complete(seq),
        }
        Ok(seq)
    }

    /// Marks an opening or a closing, and waits until the log has it.
    pub(crate) fn mark_event(&self, event: EventType, seq: u64) -> Result<(), RegionError> {
        let stores = self.stores.iter().map(|(family, store)| pb::StoreDescriptor {
            family_name: family.clone(),
            store_home_dir: dir_name(family),
            store_file: store.files().iter().map(|file| file.name().to_owned()).collect(),
            store_file_size_bytes: None,
        });
        let descriptor = pb::RegionEventDescriptor {
            event_type: event as i32,
            table_name: self.wal_table.clone(),
            encoded_region_name: self.wal_name.clone(),
            log_sequence_number: Some(seq),
            stores: stores.collect(),
            server: Some(self.ctx.server.to_proto()),
            region_name: Some(self.info.name().clone()),
        };
        let qualifier = if event == EventType::RegionOpen { REGION_OPEN } else { REGION_CLOSE };
        let seq = self.mark(qualifier, &descriptor.encode_to_vec())?;
        self.mvcc.wait(seq)
    }

    /// Marks a step of a flush; the number of the marker.
    pub(crate) fn mark_flush(&self, action: FlushAction, seq: u64, files: &FlushedFiles) -> Result<u64, RegionError> {
        let stores = files.iter().map(|(family, names)| pb::flush_descriptor::StoreFlushDescriptor {
            family_name: family.clone(),
            store_home_dir: dir_name(family),
            flush_output: names.clone(),
        });
        let descriptor = pb::FlushDescriptor {
            action: action as i32,
            table_name: self.wal_table.clone(),
            encoded_region_name: self.wal_name.clone(),
            flush_sequence_number: Some(seq),
            store_flushes: stores.collect(),
            region_name: Some(self.info.name().clone()),
        };
        self.mark(FLUSH, &descriptor.encode_to_vec())
    }

    /// Marks files that were bulk loaded under a number.
    pub(crate) fn mark_bulk_load(&self, seq: u64, loaded: &[Loaded]) -> Result<u64, RegionError> {
        let families: BTreeSet<&Bytes> = loaded.iter().map(|file| &file.family).collect();
        let stores = families.into_iter().map(|family| {
            let files = loaded.iter().filter(|file| file.family == *family);
            pb::StoreDescriptor {
                family_name: family.clone(),
                store_home_dir: dir_name(family),
                store_file: files.clone().map(|file| file.name.clone()).collect(),
                store_file_size_bytes: Some(files.map(|file| file.size_bytes).sum()),
            }
        });
        let descriptor = pb::BulkLoadDescriptor {
            table_name: self.info.table().to_proto(),
            encoded_region_name: self.wal_name.clone(),
            stores: stores.collect(),
            bulkload_seq_num: i64::try_from(seq).unwrap_or(i64::MAX),
            cluster_ids: Vec::new(),
            replicate: None,
        };
        self.mark(BULK_LOAD, &descriptor.encode_to_vec())
    }

    /// Marks a finished compaction.
    pub(crate) fn mark_compaction(&self, family: &Bytes, outcome: &CompactionOutcome) -> Result<u64, RegionError> {
        let descriptor = pb::CompactionDescriptor {
            table_name: self.wal_table.clone(),
            encoded_region_name: self.wal_name.clone(),
            family_name: family.clone(),
            compaction_input: outcome.inputs.clone(),
            compaction_output: vec![outcome.output.clone()],
            store_home_dir: dir_name(family),
            region_name: Some(self.info.name().clone()),
        };
        self.mark(COMPACTION, &descriptor.encode_to_vec())
    }
}

/// A family's directory in the region's.
pub(crate) fn dir_name(family: &[u8]) -> String {
    String::from_utf8_lossy(family).into_owned()
}
