//! [`Acknowledged`]: numbers that are handed out one after the other, and up to which all are done.
//!
//! ```text
//! handed out   1000 1001 1002 1003
//! done         1000      1002          last: 1000. When 1001 is done, last: 1002.
//! ```
//! A record that is being inserted is not read: the last is what readers may ask for.

use crate::Error;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// Numbers that may be done while an earlier one is not, as many as YCSB's window has.
const WINDOW: usize = 1 << 20;

#[derive(Debug)]
pub struct Acknowledged {
    next: Cell<u64>,
    /// All below are done.
    end: Cell<u64>,
    /// Those done beyond it.
    beyond: RefCell<BTreeSet<u64>>,
}

impl Acknowledged {
    /// The numbers below `first` are there.
    pub fn new(first: u64) -> Acknowledged {
        Acknowledged { next: Cell::new(first), end: Cell::new(first), beyond: RefCell::default() }
    }

    pub fn hand_out(&self) -> u64 {
        let number = self.next.get();
        self.next.set(number + 1);
        number
    }

    /// How many numbers there are, without a gap.
    pub fn end(&self) -> u64 {
        self.end.get()
    }

    /// The last number that is done, and with it all before; 0 of none.
    #[inline]
    pub fn last(&self) -> u64 {
        self.end.get().saturating_sub(1)
    }

    pub fn acknowledge(&self, number: u64) -> Result<(), Error> {
        let mut beyond = self.beyond.borrow_mut();
        beyond.insert(number);
        while beyond.remove(&self.end.get()) {
            self.end.set(self.end.get() + 1);
        }
        if beyond.len() >= WINDOW {
            return Err(Error::Setup(format!("record {} is still being inserted, after a million others", self.end())));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_waits_for_those_before() {
        let numbers = Acknowledged::new(1000);
        assert_eq!((numbers.last(), [(); 4].map(|()| numbers.hand_out())), (999, [1000, 1001, 1002, 1003]));
        let last_after = |number| {
            numbers.acknowledge(number).unwrap();
            numbers.last()
        };
        assert_eq!([1000, 1002, 1003, 1001].map(last_after), [1000, 1000, 1000, 1003]);
        assert_eq!(Acknowledged::new(0).last(), 0);
    }

    #[test]
    fn a_number_that_is_never_done_ends_it() {
        let numbers = Acknowledged::new(0);
        assert!((1..WINDOW as u64).all(|number| numbers.acknowledge(number).is_ok()));
        let told = numbers.acknowledge(WINDOW as u64).unwrap_err().to_string();
        assert!(told.contains("record 0"), "{told}");
    }
}
