//! Commit: a write gets its number, its place in the log, and becomes cells of the memstores.
//!
//! The number and the place in the log are taken together under the region's append lock, so the log has the region's
//! edits in the order of their numbers. The memstores may be filled in any order: readers go by numbers.

use crate::{Durability, Region, RegionError};
use bytes::Bytes;
use martite_cell::{CellBuf, CellRef};
use martite_wal::{Entry, Ticket, WalError};
use parking_lot::RwLockReadGuard;
use std::borrow::Cow;
use std::sync::atomic::Ordering;

/// Cells of one mutation.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub cells: &'a CellBuf,
    /// Its own durability, never the default.
    pub durability: Durability,
}

/// What goes with the cells into the log.
#[derive(Default)]
pub(crate) struct EditKey<'a> {
    pub nonce_group: u64,
    pub nonce: u64,
    pub cluster_ids: &'a [(u64, u64)],
    pub now_ms: u64,
}

/// A write that is in order; [`Region::finish`] must follow, once the rows are unlocked.
#[must_use = "readers and the client wait for it"]
pub(crate) struct Committed {
    seq: u64,
    ticket: Option<Ticket>,
    durability: Durability,
}

/// Proof that the caller shares the updates lock: no flush freezes the memstores between log and memstore.
pub(crate) type Updates<'a> = RwLockReadGuard<'a, ()>;

impl Region {
    /// The updates lock; WouldBlock if a flush is being prepared and the caller may not wait.
    pub(crate) fn updates(&self, may_block: bool) -> Result<Updates<'_>, RegionError> {
        if may_block { Ok(self.updates.read()) } else { self.updates.try_read().ok_or(RegionError::WouldBlock) }
    }

    /// Writes all parts as one edit. The caller holds the rows' locks. After an error nothing is visible; unless it is a
    /// refusal of the entry, the log has failed for good.
    pub(crate) fn commit<'a>(
        &self,
        _updates: &Updates<'_>,
        parts: impl Iterator<Item = Part<'a>> + Clone,
        key: &EditKey<'_>,
    ) -> Result<Committed, RegionError> {
        let (bytes, families, cell_count) = self.edit_of(parts.clone());
        let durability = parts.clone().map(|p| p.durability).max().unwrap_or_default();
        let entry = (cell_count > 0).then(|| Entry {
            region: self.wal_name.clone(),
            table: self.wal_table.clone(),
            write_time_ms: key.now_ms,
            nonce_group: key.nonce_group,
            nonce: key.nonce,
            cluster_ids: Cow::Borrowed(key.cluster_ids),
            scopes: Cow::Borrowed(&self.wal_scopes),
            cells: bytes,
            cell_count,
            families,
            ..Entry::default()
        });
        let (seq, ticket) = self.append(entry)?;
        for part in parts {
            self.add_to_memstores(part.cells, seq, key.now_ms);
            if part.durability == Durability::SkipWal {
                let size = part.cells.size_bytes() as u64;
                self.counters.data_without_wal_bytes.fetch_add(size, Ordering::Relaxed);
            }
        }
        Ok(Committed { seq, ticket, durability })
    }

    /// Lets the write become visible when it is durable, and returns its number. Not under locks: the log may be written
    /// here, and those who wait for this and other writes told.
    pub(crate) fn finish(&self, committed: Committed) -> u64 {
        let Committed { seq, ticket, durability } = committed;
        let wal = &self.ctx.wal;
        match ticket.filter(|_| durability > Durability::AsyncWal) {
            None => self.mvcc.complete(seq),
            Some(ticket) if durability == Durability::FsyncWal => wal.on_forced(ticket, self.when_durable(seq)),
            Some(ticket) => wal.on_synced_here(ticket, self.when_durable(seq)),
        }
        if self.account_memstore() > self.settings.flush_size_bytes {
            self.want_flush();
        }
        seq
    }

    /// The bytes for the log, the families that they are of, and the number of cells.
    fn edit_of<'a>(&self, parts: impl Iterator<Item = Part<'a>> + Clone) -> (Cow<'a, [u8]>, Cow<'_, [Bytes]>, u32) {
        let logged = parts.filter(|p| p.durability != Durability::SkipWal);
        let cell_count = logged.clone().map(|p| p.cells.len()).sum::<usize>() as u32;
        let mut iter = logged.clone();
        let bytes = match (iter.next(), iter.next()) {
            (None, _) => Cow::Borrowed(&[][..]),
            (Some(only), None) => Cow::Borrowed(only.cells.bytes()),
            _ => {
                let mut bytes = Vec::with_capacity(logged.clone().map(|p| p.cells.size_bytes()).sum());
                logged.clone().for_each(|p| bytes.extend_from_slice(p.cells.bytes()));
                Cow::Owned(bytes)
            }
        };
        if self.wal_families.len() == 1 {
            return (bytes, Cow::Borrowed(&self.wal_families), cell_count);
        }
        let mut touched = vec![false; self.stores.len()];
        for cell in logged.flat_map(|p| p.cells.iter()) {
            if let Some(at) = self.store_index(cell.family()) {
                touched[at] = true;
            }
        }
        let families = self.wal_families.iter().zip(&touched).filter(|(_, t)| **t).map(|(f, _)| f.clone());
        (bytes, Cow::Owned(families.collect()), cell_count)
    }

    /// Takes the next number, and appends the entry under it.
    pub(crate) fn append(&self, entry: Option<Entry<'_>>) -> Result<(u64, Option<Ticket>), RegionError> {
        let _order = self.append.lock();
        let seq = self.mvcc.begin()?;
        let Some(entry) = entry else { return Ok((seq, None)) };
        match self.ctx.wal.append(&Entry { seq, ..entry }) {
            Ok(ticket) => Ok((seq, Some(ticket))),
            Err(WalError::BadEntry(what)) => {
                self.mvcc.complete(seq);
                Err(RegionError::DoNotRetry(what))
            }
            Err(error) => {
                let error = RegionError::Wal(error);
                self.log_failed(&error);
                Err(error)
            }
        }
    }

    fn add_to_memstores(&self, cells: &CellBuf, seq: u64, now_ms: u64) {
        let mut cells = cells.iter().map(|cell| CellRef { seq_id: seq, ..cell }).peekable();
        // Cells of one family come together.
        while let Some(family) = cells.peek().map(|cell| cell.family()) {
            let run = std::iter::from_fn(|| cells.next_if(|cell| cell.family() == family));
            match self.store(family) {
                Some(store) => drop(store.memstore().add_all(run, now_ms)),
                None => run.for_each(drop),
            }
        }
    }

    /// Completes the number.
    pub(crate) fn when_durable(&self, seq: u64) -> Box<dyn FnOnce(Result<(), WalError>) + Send> {
        let (mvcc, events) = (self.mvcc.clone(), self.ctx.events.clone());
        Box::new(move |result| match result {
            Ok(()) => mvcc.complete(seq),
            Err(error) => {
                let error = RegionError::Wal(error);
                mvcc.fail(&error);
                if let Some(events) = events {
                    events.must_stop(&error);
                }
            }
        })
    }

    /// Nothing can be acknowledged any more.
    pub(crate) fn log_failed(&self, error: &RegionError) {
        self.mvcc.fail(error);
        if let Some(events) = &self.ctx.events {
            events.must_stop(error);
        }
    }
}
