//! Scan with a limit of rows: one call, after whose last row the server closes the scanner by itself; more of them if it returns
//! less at a time, as HBase does when a limit of bytes is nearly used up.

use super::{Op, Step};
use crate::answer::{Answer, Cells, Fields, Value};
use crate::target::Target;
use crate::zipfian::Keys;
use crate::{Error, request, rows};
use martite_env::SeededRandom;
use std::sync::Arc;

pub struct ShortScan {
    target: Arc<Target>,
    keys: Keys,
    random: SeededRandom,
    /// Rows of a scan.
    span: u64,
    start: u64,
    /// Cells of this scan that have come.
    cells: u64,
    /// Its cells are counted, and nobody looks at them.
    unread: bool,
    /// The scanner and the number of the next call; none before the first answer.
    open: Option<(u64, u64)>,
    /// Cells before this scan.
    turn: u64,
}

impl ShortScan {
    /// Scans of `span` rows, which a region must have. They begin at rows by `keys`, or as late as their region allows.
    pub fn new(target: Arc<Target>, keys: Keys, span: u64, seed: u64) -> ShortScan {
        let random = SeededRandom::new(seed);
        ShortScan { target, keys, random, span, start: 0, cells: 0, unread: false, open: None, turn: 0 }
    }

    /// The same for a client whose work must not be seen by others of its thread.
    pub fn unread(self) -> ShortScan {
        ShortScan { unread: true, ..self }
    }

    fn check_cells(&mut self, block: &[u8]) -> Result<(), Error> {
        let columns = self.target.shape.columns as u64;
        let mut cells = Cells::new(block, self.target.shape);
        while !cells.is_empty() {
            if self.cells == self.span * columns {
                return Err(Error::wrong("a scan returned more rows than it was to"));
            }
            let (row, column) = (self.start + self.cells / columns, (self.cells % columns) as usize);
            cells.expect(&rows::key(row), row, column, (self.turn + self.cells).is_multiple_of(64))?;
            self.cells += 1;
        }
        Ok(())
    }

    fn count_unread(&mut self, bytes: usize) -> Result<(), Error> {
        self.cells += self.target.cells_in(bytes)?;
        if self.cells > self.span * self.target.shape.columns as u64 {
            return Err(Error::wrong("a scan returned more rows than it was to"));
        }
        Ok(())
    }

    /// Rows that have not come, the one that has begun among them.
    fn rows_left(&self) -> u32 {
        (self.span - self.cells / self.target.shape.columns as u64) as u32
    }
}

impl Op for ShortScan {
    fn reads_cells(&self) -> bool {
        !self.unread
    }

    fn begin(&mut self, id: u32, out: &mut Vec<u8>) -> bool {
        let row = self.keys.row(&self.random, self.target.rows);
        let region = self.target.rows_of(self.target.region_of(row));
        self.start = row.min(region.end.saturating_sub(self.span)).max(region.start);
        self.turn += self.cells;
        (self.cells, self.open) = (0, None);
        self.again(id, out);
        true
    }

    fn answer(&mut self, id: u32, answer: Answer<'_>, out: &mut Vec<u8>) -> Result<Step, Error> {
        let (mut scanner, mut more) = (None, true);
        for field in Fields(answer.message) {
            match field? {
                (2, Value::Varint(id)) => scanner = Some(id),
                (3, Value::Varint(flag)) => more &= flag != 0,
                (5, _) => return Err(Error::wrong("a scan returned cells beside the cell block")),
                (8, Value::Varint(flag)) => more &= flag != 0,
                _ => {}
            }
        }
        self.count_unread(answer.taken)?;
        self.check_cells(answer.cells)?;
        if self.rows_left() == 0 {
            return Ok(Step::Done { rows: self.span });
        }
        self.open = match self.open {
            Some((scanner, seq)) => Some((scanner, seq + 1)),
            None => scanner.map(|scanner| (scanner, 0)),
        };
        if !more || self.open.is_none() {
            let (start, left) = (self.start, self.rows_left());
            return Err(Error::wrong(format!("a scan from row {start} ended {left} rows early")));
        }
        self.again(id, out);
        Ok(Step::More)
    }

    fn again(&mut self, id: u32, out: &mut Vec<u8>) {
        let left = self.rows_left();
        match self.open {
            None => request::open_short_scan(out, id, &self.target, self.start, left),
            Some((scanner, seq)) => request::next_of_short_scan(out, id, &self.target, scanner, seq, left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{FAMILY, SINGLE, Shape};
    use crate::target::example;
    use martite_cell::{CellBuf, OwnedCell};
    use martite_proto as pb;
    use pb::Message;

    fn block(numbers: impl IntoIterator<Item = u64>) -> Vec<u8> {
        let mut cells = CellBuf::new(false);
        for row in numbers {
            let mut value = Vec::new();
            rows::put_value(&mut value, row, 0, 1000);
            let qualifier = Shape::qualifier(0);
            cells.push(&OwnedCell::put(&rows::key(row), FAMILY.as_bytes(), &qualifier, 1, &value).as_ref());
        }
        cells.into_bytes()
    }

    fn judge(op: &mut ShortScan, more: bool, cells: &[u8]) -> (Result<Step, Error>, Vec<u8>) {
        let answer = pb::ScanResponse { scanner_id: Some(5), more_results: Some(more), ..Default::default() };
        let (message, mut out) = (answer.encode_to_vec(), Vec::new());
        (op.answer(0, Answer { message: &message, cells, taken: 0 }, &mut out), out)
    }

    #[test]
    fn exactly_the_rows_of_the_range_are_right() {
        let target = Arc::new(example(SINGLE, 1000, &[300]));
        let mut op = ShortScan::new(target.clone(), Keys::zipfian(), 100, 1);
        for seed in 0..5 {
            assert!(op.begin(0, &mut Vec::new()));
            let start = op.start;
            let right = block(start..start + 100);
            assert_eq!(right.len() as u64, 100 * target.row_bytes());
            let cells = match seed {
                0 => {
                    assert_eq!(judge(&mut op, false, &right).0.unwrap(), Step::Done { rows: 100 });
                    continue;
                }
                1 => block(start..start + 99),
                2 => block(start..start + 101),
                3 => block(start + 1..start + 101),
                _ => Vec::new(),
            };
            assert!(judge(&mut op, false, &cells).0.is_err());
        }
    }

    #[test]
    fn cells_that_nobody_reads_are_counted() {
        let target = Arc::new(example(SINGLE, 1000, &[]));
        let row = target.row_bytes() as usize;
        let mut op = ShortScan::new(target, Keys::zipfian(), 100, 1).unread();
        assert!(!op.reads_cells());
        let message = pb::ScanResponse { scanner_id: Some(5), more_results: Some(true), ..Default::default() };
        let message = message.encode_to_vec();
        for (taken, outcome) in [
            (100 * row, Some(Step::Done { rows: 100 })),
            (60 * row, Some(Step::More)),
            (100 * row - 1, None),
            (101 * row, None),
        ] {
            assert!(op.begin(0, &mut Vec::new()));
            let step = op.answer(0, Answer { message: &message, cells: &[], taken }, &mut Vec::new());
            assert_eq!(step.ok(), outcome, "{taken} bytes");
        }
    }

    #[test]
    fn a_scan_that_is_cut_short_goes_on_and_is_tried_again_where_it_was() {
        let mut op = ShortScan::new(Arc::new(example(SINGLE, 100, &[])), Keys::zipfian(), 100, 1);
        op.begin(7, &mut Vec::new());
        let (step, first) = judge(&mut op, true, &block(0..60));
        assert_eq!((step.unwrap(), op.open, op.rows_left()), (Step::More, Some((5, 0)), 40));
        let mut again = Vec::new();
        op.again(0, &mut again);
        assert_eq!(again, first);
        let (step, next) = judge(&mut op, true, &block(60..99));
        assert_eq!((step.unwrap(), op.open), (Step::More, Some((5, 1))));
        assert!(!next.is_empty() && next != first);
        assert_eq!(judge(&mut op, false, &block(99..100)).0.unwrap(), Step::Done { rows: 100 });
    }

    #[test]
    fn a_scan_stays_in_its_region() {
        let mut op = ShortScan::new(Arc::new(example(SINGLE, 250, &[120])), Keys::zipfian(), 100, 1);
        let mut seen = [false; 2];
        for _ in 0..500 {
            op.begin(0, &mut Vec::new());
            let second = usize::from(op.start >= 120);
            seen[second] = true;
            assert!(op.start <= [20, 150][second], "{}", op.start);
        }
        assert_eq!(seen, [true; 2]);
    }
}
