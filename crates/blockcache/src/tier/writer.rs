//! The thread that writes: takes blocks from the queue, finds room for them, empties segments, keeps the journal.

use super::journal::Journal;
use super::record;
use super::segments::Place;
use super::{Inner, Key, saved};
use std::sync::Arc;

/// What is to be done next.
enum Next<V> {
    Write(Key, Arc<V>),
    /// Files are gone.
    Note,
}

impl<V> Inner<V> {
    /// Until the tier stops and everything is written.
    pub(super) fn run(&self, mut journal: Option<Journal>) {
        let mut record = Vec::new();
        while let Some(next) = self.next() {
            match next {
                Next::Write(key, value) => self.write(&key, &value, &mut record, &mut journal),
                Next::Note => self.note_gone(&mut journal),
            }
        }
    }

    fn next(&self) -> Option<Next<V>> {
        let mut state = self.lock();
        loop {
            if !state.gone.is_empty() {
                return Some(Next::Note);
            }
            if let Some((key, value)) = state.pending.next() {
                return Some(Next::Write(key, value));
            }
            if state.is_settled() {
                self.idle.notify_all();
            }
            if state.is_stopping {
                return None;
            }
            self.work.wait(&mut state);
        }
    }

    fn note_gone(&self, journal: &mut Option<Journal>) {
        let gone = self.lock().gone.clone();
        let mut entries = Vec::new();
        gone.iter().for_each(|file| saved::gone(&mut entries, file));
        self.note(journal, &entries);
        let mut state = self.lock();
        // More may have come; none if the tier was switched off meanwhile.
        let noted = gone.len().min(state.gone.len());
        state.gone.drain(..noted);
    }

    /// Adds to the journal, if there is one. After an error there is none until the next start.
    fn note(&self, journal: &mut Option<Journal>, entries: &[u8]) {
        let Some(file) = journal else { return };
        let added =
            file.add(entries).and_then(|()| if file.is_long() { file.write_anew(&self.whole()) } else { Ok(()) });
        if let Err(error) = added {
            tracing::warn!(%error, "index of the cache files is not written: a start after a crash finds less of them");
            *journal = None;
        }
    }

    /// Room for a record, and the journal told of the segment that is full and of the one that is begun.
    fn room(&self, len: u32, journal: &mut Option<Journal>) -> Option<Place> {
        let mut state = self.lock();
        let before = state.segments.open();
        let place = state.segments.room(len)?;
        let full = before.filter(|(number, _)| *number != place.segment);
        if before.is_some() && full.is_none() {
            return Some(place);
        }
        let mut entries = Vec::new();
        if let Some(full) = full {
            saved::segment(&mut entries, full, &state.segments, &state.index);
        }
        drop(state);
        saved::emptied(&mut entries, place.segment);
        self.note(journal, &entries);
        Some(place)
    }

    fn write(&self, key: &Key, value: &V, bytes: &mut Vec<u8>, journal: &mut Option<Journal>) {
        let image = (self.view)(value);
        record::put(bytes, key, image.on_disk_size, image.payload);
        let len = bytes.len() as u32;
        self.keep_one_free();
        let written = self.room(len, journal).map(|place| (place, self.slab.write(place, bytes)));
        let mut state = self.lock();
        match written {
            None => state.stats.dropped += 1,
            Some((place, Ok(()))) => {
                state.failing_since = None;
                // Its file may be gone meanwhile.
                if state.pending.get(key).is_some() {
                    state.stats.writes += 1;
                    state.add(*key, place, len, false);
                }
            }
            Some((place, Err(error))) => {
                state.segments.give_back(place, len);
                self.failed(&mut state, &error);
            }
        }
        state.pending.remove(key);
    }

    /// When the last free segment has just been opened, another one is emptied: what was read there since it was written
    /// moves to the open one, as far as half a segment goes; the rest leaves.
    fn keep_one_free(&self) {
        let state = self.lock();
        let Some((segment, keys)) = state.segments.to_empty() else { return };
        let is_here = |key: &&Key| state.index.get(key).is_some_and(|entry| entry.place.segment == segment);
        let (read, rest): (Vec<Key>, Vec<Key>) =
            keys.iter().filter(is_here).partition(|key| state.index.get(key).is_some_and(|entry| entry.is_read));
        let most_bytes = state.segments.segment_bytes() / 2;
        drop(state);
        self.evict(segment, &rest);
        let mut moved_bytes = 0;
        for key in &read {
            let Some(entry) = self.lock().index.get(key).copied() else { continue };
            moved_bytes += entry.len;
            if moved_bytes > most_bytes || !self.move_on(key, entry.place, entry.len) {
                break;
            }
        }
        self.evict(segment, &read);
    }

    /// False: there is no room, or the device fails.
    fn move_on(&self, key: &Key, from: Place, len: u32) -> bool {
        let mut bytes = vec![0; len as usize];
        let read = self.slab.read(from, &mut bytes);
        let is_right =
            read.is_ok() && record::on_disk_size(&bytes).is_some_and(|size| record::is_of(&bytes, key, size));
        if !is_right {
            let mut state = self.lock();
            match read {
                Ok(()) => state.stats.checksum_failures += 1,
                Err(error) => self.failed(&mut state, &error),
            }
            state.remove_at(key, from);
            return true;
        }
        let Some(to) = self.lock().segments.room_in_open(len) else { return false };
        let written = self.slab.write(to, &bytes);
        let mut state = self.lock();
        if let Err(error) = written {
            state.segments.give_back(to, len);
            self.failed(&mut state, &error);
            return false;
        }
        if state.index.get(key).is_some_and(|entry| entry.place == from) {
            state.add(*key, to, len, false);
        }
        true
    }

    /// Those that are still in the segment leave.
    fn evict(&self, segment: u32, keys: &[Key]) {
        let mut state = self.lock();
        for key in keys {
            let Some(place) = state.index.get(key).map(|entry| entry.place) else { continue };
            if place.segment == segment && state.remove_at(key, place) {
                state.stats.evictions += 1;
            }
        }
    }
}
