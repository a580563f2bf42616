//! The Gets of a multi. Those that stand together and differ in their rows only are one task.

use super::{Doing, Multi, Task};
use crate::error::Fault;
use crate::keep;
use crate::query::RowGet;
use bytes::Bytes;
use martite_hfile::{BlockSource, Step};
use martite_region::{Getter, Region};
use std::sync::Arc;

/// Room for rows that a Get has not read yet, at most.
const MOST_RESERVED: usize = 1 << 20;

pub(super) struct Gets {
    /// The first of them: of every row is wanted what it wants.
    first: RowGet,
    /// Index of the action, and row.
    rows: Vec<(u32, Bytes)>,
    /// Rows that are answered.
    done: usize,
    /// Asked of a replica.
    stale: bool,
}

impl Gets {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Copies what lies in the buffer that brought it.
    pub(super) fn let_go(&mut self) {
        self.first.keep();
        self.rows.iter_mut().for_each(|(_, row)| keep::own(row));
    }
}

impl Multi {
    pub(super) fn push_get(&mut self, (slot, stale): (usize, bool), region: &Arc<Region>, index: u32, get: RowGet) {
        if self.last_gets(slot).is_some_and(|gets| gets.first.is_like(&get)) {
            return self.push_like(slot, index, get.row);
        }
        self.gets_left += 1;
        let rows = vec![(index, get.row.clone())];
        let work = Doing::Gets(Gets { first: get, rows, done: 0, stale });
        self.tasks.push(Task { slot, region: region.clone(), work });
    }

    /// A Get that is like the last one of the slot, which was pushed last.
    pub(super) fn push_like(&mut self, slot: usize, index: u32, row: Bytes) {
        if let Some(gets) = self.last_gets(slot) {
            gets.rows.push((index, row));
            self.gets_left += 1;
        }
    }

    fn last_gets(&mut self, slot: usize) -> Option<&mut Gets> {
        match self.tasks.last_mut() {
            Some(Task { slot: last, work: Doing::Gets(gets), .. }) if *last == slot => Some(gets),
            _ => None,
        }
    }

    /// False: one would block; the same call goes on there.
    pub(super) fn run_gets(&mut self, slot: usize, region: &Region, gets: &mut Gets, src: &dyn BlockSource) -> bool {
        if !self.sees_its_writes(region, src.may_block()) {
            return false;
        }
        let mut getter = match Getter::new(region, &gets.first.like) {
            Ok(getter) => getter,
            Err(e) => {
                let (fault, left) = (Fault::from(e), &gets.rows[gets.done..]);
                left.iter().for_each(|(index, _)| self.push_fault(slot, *index, &fault));
                self.gets_left -= left.len();
                gets.done = gets.rows.len();
                return true;
            }
        };
        let mut told = gets.done;
        while let Some((index, row)) = gets.rows.get(gets.done) {
            if self.must_split() {
                self.refuse(slot, *index);
            } else {
                let mark = self.cells.mark();
                self.make_room();
                if told == gets.done {
                    told = gets.rows.len().min(told + Getter::GROUP);
                    getter.expect(gets.rows[gets.done..told].iter().map(|(_, row)| row), src);
                }
                match getter.get(row, src, &mut self.cells) {
                    Ok(Step::Need(_)) => {
                        self.cells.truncate(mark);
                        return false;
                    }
                    Ok(Step::Ready(outcome)) => {
                        let existence = gets.first.like.exists_only.then_some(outcome.exists);
                        self.push_read(slot, *index, mark, existence, gets.stale);
                    }
                    Err(e) => {
                        self.cells.truncate(mark);
                        self.push_fault(slot, *index, &Fault::from(e));
                    }
                }
            }
            gets.done += 1;
            self.gets_left -= 1;
        }
        true
    }

    /// Before a Get: once the first has shown how large a row is, there is to be room for those that are left.
    fn make_room(&mut self) {
        if self.cells.len() == 1 {
            let size = self.cells.own_bytes();
            self.cells.reserve(size.saturating_mul(self.gets_left).min(MOST_RESERVED), self.gets_left);
        }
    }

    /// A Get sees the writes that stand before it: they are visible, or become so while this waits for the log. False:
    /// they are not, and this may not wait.
    fn sees_its_writes(&mut self, region: &Region, may_block: bool) -> bool {
        self.pending.retain(|pending| !pending.is_done());
        let mut unseen = self.pending.iter().filter(|pending| pending.is_of(region));
        if may_block {
            // Of a log that failed the whole call tells when it ends.
            unseen.for_each(|pending| drop(pending.wait()));
            return true;
        }
        unseen.next().is_none()
    }
}
