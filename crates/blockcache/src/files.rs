//! Which offsets of a file are cached, so that a closed file leaves at once.

use crate::Key;
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};

const STRIPES: usize = 16;

#[derive(Default)]
pub(crate) struct Files {
    stripes: [Mutex<HashMap<u64, BTreeSet<u64>, foldhash::fast::RandomState>>; STRIPES],
}

impl Files {
    pub(crate) fn add(&self, (file, offset): Key) {
        self.stripe(file).lock().entry(file).or_default().insert(offset);
    }

    pub(crate) fn remove(&self, (file, offset): &Key) {
        let mut files = self.stripe(*file).lock();
        if let Some(offsets) = files.get_mut(file) {
            offsets.remove(offset);
            if offsets.is_empty() {
                files.remove(file);
            }
        }
    }

    pub(crate) fn take(&self, file: u64) -> BTreeSet<u64> {
        self.stripe(file).lock().remove(&file).unwrap_or_default()
    }

    pub(crate) fn offsets(&self, file: u64) -> Vec<u64> {
        self.stripe(file).lock().get(&file).map(|o| o.iter().copied().collect()).unwrap_or_default()
    }

    fn stripe(&self, file: u64) -> &Mutex<HashMap<u64, BTreeSet<u64>, foldhash::fast::RandomState>> {
        &self.stripes[file as usize % STRIPES]
    }
}
