//! [`Pieces`]: from the results of scan calls to rows as the caller wants them: whole, in batches, or as they come.
//!
//! A result with the flag `partial` may be followed by more cells of its row, or turn out to be the row's last.

use crate::{Row, Scan};
use bytes::Bytes;
use martite_cell::{Order, key};
use std::cmp::Ordering;
use std::collections::VecDeque;

/// How rows are handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    /// So many cells at a time.
    Batches(usize),
    AsTheyCome,
}

#[derive(Debug)]
pub(crate) struct Pieces {
    form: Form,
    limit: u32,
    ready: VecDeque<Row>,
    /// Of one row that is not complete.
    parts: Vec<Row>,
    /// Rows handed out, or ready to be; with pieces, those that were begun.
    rows: u32,
    /// The last piece that became ready: its row, and its last cell if more of the row may come.
    last: Option<(Bytes, Option<Bytes>)>,
    /// After the scan was resumed within a row: cells up to this key were handed out already.
    skip: Option<Bytes>,
}

impl Pieces {
    pub fn new(scan: &Scan) -> Pieces {
        let form = match scan.proto.batch_size {
            _ if scan.allow_partials => Form::AsTheyCome,
            Some(cells) => Form::Batches(cells as usize),
            None => Form::Whole,
        };
        Pieces { form, limit: scan.limit, ready: VecDeque::new(), parts: Vec::new(), rows: 0, last: None, skip: None }
    }

    pub fn next(&mut self) -> Option<Row> {
        self.ready.pop_front()
    }

    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Rows that the limit leaves; 0: any number.
    pub fn rows_left(&self) -> u32 {
        let complete = match (self.form, &self.last) {
            // A row that was begun is not one that is done.
            (Form::Batches(_) | Form::AsTheyCome, Some((_, Some(_)))) => self.rows.saturating_sub(1),
            _ => self.rows,
        };
        if self.limit == 0 { 0 } else { (self.limit - complete.min(self.limit)).max(1) }
    }

    /// Whether the limit is reached, and the last row complete.
    pub fn is_full(&self) -> bool {
        let complete = self.last.as_ref().is_none_or(|(_, more)| more.is_none());
        self.limit > 0 && (self.rows > self.limit || (self.rows == self.limit && complete && self.parts.is_empty()))
    }

    /// A result of a call.
    pub fn add(&mut self, mut row: Row) {
        if row.is_empty() {
            return;
        }
        if let Some(skip) = self.skip.take()
            && key::row(&skip) == row.row()
        {
            let seen = row.cells().take_while(|cell| Order::Default.keys(cell.key, &skip) != Ordering::Greater).count();
            if seen == row.len() {
                self.skip = Some(skip);
                return;
            }
            row = row.skip(seen);
        }
        if self.parts.last().is_some_and(|part| part.row() != row.row()) {
            self.end_of_row();
        }
        let partial = row.is_partial();
        match self.form {
            Form::AsTheyCome => self.deliver(row),
            Form::Whole if partial => self.parts.push(row),
            Form::Whole if self.parts.is_empty() => self.deliver(row),
            Form::Whole => {
                self.parts.push(row);
                self.end_of_row();
            }
            Form::Batches(cells) => {
                self.parts.push(row);
                self.deliver_batches(cells);
                if !partial {
                    self.end_of_row();
                }
            }
        }
    }

    fn deliver_batches(&mut self, cells: usize) {
        while self.parts.iter().map(Row::len).sum::<usize>() >= cells {
            let (batch, rest) = Row::joined(&self.parts).split(cells);
            self.parts = if rest.is_empty() { Vec::new() } else { vec![rest] };
            self.deliver(batch);
        }
    }

    /// What there is of the row is all of it.
    pub fn end_of_row(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        if !parts.is_empty() {
            self.deliver(Row::joined(&parts));
        }
        if let Some((_, more)) = &mut self.last {
            *more = None;
        }
    }

    fn deliver(&mut self, row: Row) {
        let begun = self.last.as_ref().is_some_and(|(last, _)| last == row.row());
        if !begun || self.form == Form::Whole {
            self.rows += 1;
        }
        if self.limit > 0 && self.rows > self.limit {
            return;
        }
        let more = match self.form {
            Form::Whole => None,
            _ if !row.is_partial() => None,
            _ => row.cells().last().map(|cell| Bytes::copy_from_slice(cell.key)),
        };
        self.last = Some((Bytes::copy_from_slice(row.row()), more));
        self.ready.push_back(row);
    }

    /// The next region has none of the rows before.
    pub fn enter_region(&mut self) {
        self.last = None;
        self.skip = None;
    }

    /// Where to go on after the scanner was lost: a row, and whether it is read again. `None`: where the region began.
    pub fn resume(&mut self) -> Option<(Bytes, bool)> {
        let parts = std::mem::take(&mut self.parts);
        match &self.last {
            Some((row, Some(cell))) => {
                self.skip = Some(cell.clone());
                Some((row.clone(), true))
            }
            // Nothing of the row in parts was handed out, unless as batches.
            Some((row, None)) => Some((row.clone(), false)),
            None => parts.first().map(|part| (Bytes::copy_from_slice(part.row()), true)),
        }
    }
}
