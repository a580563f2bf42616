//! What the tier keeps under its lock: index, room, the queue of blocks to be written, counters.

use super::index::{Entry, Index};
use super::segments::{Place, Segments};
use super::{FileName, Key, TierStats};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Blocks to be written. One stays here until it is written, so that it is found meanwhile.
pub(crate) struct Pending<V> {
    order: VecDeque<Key>,
    values: HashMap<Key, (Arc<V>, u64), foldhash::fast::RandomState>,
    bytes: u64,
}

pub(crate) struct State<V> {
    pub index: Index,
    pub segments: Segments,
    pub pending: Pending<V>,
    /// Files that are gone, of which the journal does not know yet.
    pub gone: Vec<FileName>,
    pub stats: TierStats,
    /// Given up: the files cannot be read or written.
    pub is_off: bool,
    pub is_stopping: bool,
    /// When the errors began that have not been followed by a success; time of the monotonic clock.
    pub failing_since: Option<std::time::Duration>,
}

impl<V> Pending<V> {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<V>> {
        self.values.get(key).map(|(value, _)| value)
    }

    pub(crate) fn push(&mut self, key: Key, value: Arc<V>, bytes: u64) {
        self.order.push_back(key);
        self.values.insert(key, (value, bytes));
        self.bytes += bytes;
    }

    /// The block whose turn it is. It stays until `remove`.
    pub(crate) fn next(&mut self) -> Option<(Key, Arc<V>)> {
        while let Some(key) = self.order.pop_front() {
            if let Some((value, _)) = self.values.get(&key) {
                return Some((key, value.clone()));
            }
        }
        None
    }

    /// Whether it was still here.
    pub(crate) fn remove(&mut self, key: &Key) -> bool {
        let Some((_, bytes)) = self.values.remove(key) else { return false };
        self.bytes -= bytes;
        true
    }

    fn remove_file(&mut self, file: &FileName) {
        let of_file: Vec<Key> = self.values.keys().filter(|key| key.file == *file).copied().collect();
        for key in of_file {
            self.remove(&key);
        }
        self.order.retain(|key| key.file != *file);
    }
}

impl<V> State<V> {
    pub(crate) fn new(segments: Segments, index: Index) -> State<V> {
        State {
            index,
            segments,
            pending: Pending { order: VecDeque::new(), values: HashMap::default(), bytes: 0 },
            gone: Vec::new(),
            stats: TierStats::default(),
            is_off: false,
            is_stopping: false,
            failing_since: None,
        }
    }

    /// A record that was written counts from now on.
    pub(crate) fn add(&mut self, key: Key, place: Place, len: u32, is_read: bool) {
        if self.segments.add(place, len, key)
            && let Some(before) = self.index.insert(key, Entry { place, len, is_read })
        {
            self.segments.remove(before.place, before.len);
        }
    }

    /// A block leaves, if it is at this place.
    pub(crate) fn remove_at(&mut self, key: &Key, place: Place) -> bool {
        if self.index.get(key).is_none_or(|entry| entry.place != place) {
            return false;
        }
        let removed = self.index.remove(key);
        removed.inspect(|entry| self.segments.remove(entry.place, entry.len)).is_some()
    }

    /// Whether there was anything of it in the files.
    pub(crate) fn remove_file(&mut self, file: &FileName) -> bool {
        self.pending.remove_file(file);
        let removed = self.index.remove_file(file);
        for entry in &removed {
            self.segments.remove(entry.place, entry.len);
        }
        !removed.is_empty()
    }

    /// Nothing is left to be written, nor to be told to the journal.
    pub(crate) fn is_settled(&self) -> bool {
        self.pending.is_empty() && self.gone.is_empty()
    }

    /// Forgets everything, for good.
    pub(crate) fn switch_off(&mut self) {
        self.is_off = true;
        self.index = Index::default();
        self.gone = Vec::new();
        self.segments = Segments::new(self.segments.count(), self.segments.segment_bytes());
        self.pending = Pending { order: VecDeque::new(), values: HashMap::default(), bytes: 0 };
    }

    pub(crate) fn stats(&self) -> TierStats {
        TierStats {
            capacity_bytes: u64::from(self.segments.count()) * u64::from(self.segments.segment_bytes()),
            used_bytes: self.segments.live_bytes(),
            blocks: self.index.blocks() as u64,
            queued_bytes: self.pending.bytes(),
            is_off: self.is_off,
            ..self.stats
        }
    }
}
