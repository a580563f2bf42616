//! Loads under way, so that a block is read from disk by one caller at a time.

use parking_lot::{Condvar, Mutex};

#[derive(Default)]
pub(crate) struct Flights {
    /// Offsets being loaded; mostly none or one.
    under_way: Mutex<Vec<u64>>,
    landed: Condvar,
}

/// The right to load a block, until it is dropped.
pub(crate) struct Flight<'a> {
    flights: &'a Flights,
    offset: u64,
}

impl Flights {
    /// Waits while another one loads the block.
    pub(crate) fn take_off(&self, offset: u64) -> Flight<'_> {
        let mut under_way = self.under_way.lock();
        while under_way.contains(&offset) {
            self.landed.wait(&mut under_way);
        }
        under_way.push(offset);
        Flight { flights: self, offset }
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.flights.under_way.lock().retain(|offset| *offset != self.offset);
        self.flights.landed.notify_all();
    }
}
