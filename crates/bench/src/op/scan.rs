//! Scans of ranges: what must come back is known cell by cell.

use super::{Op, Step};
use crate::answer::{Answer, Cells, Fields, Value};
use crate::target::Target;
use crate::{Error, request, rows};
use martite_env::{Random, SeededRandom};
use martite_proto as pb;
use pb::Message;
use std::sync::Arc;

/// Package of HBase's filters and comparators.
const PACKAGE: &str = "org.apache.hadoop.hbase.filter.";
/// Lower-case letters are in no value.
const ABSENT: &str = "martite";

/// Which rows of a range come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    All,
    /// Those whose number ends in 0: a RowFilter that looks at the key's last byte.
    Tenth,
    /// None, by PerformanceEvaluation's FilterAllFilter, which asks nothing of the row.
    None,
    /// None: a ValueFilter looks for letters that no value has.
    NoValue,
}

impl Passing {
    fn filter(self) -> Option<pb::Filter> {
        let comparator = |name: &str, message: Vec<u8>| pb::Comparator {
            name: format!("{PACKAGE}{name}"),
            serialized_comparator: Some(message.into()),
        };
        let equal =
            |comparator| pb::CompareFilter { compare_op: pb::CompareType::Equal as i32, comparator: Some(comparator) };
        let (name, message) = match self {
            Passing::All => return None,
            Passing::None => ("FilterAllFilter", Vec::new()),
            Passing::Tenth => {
                let last = rows::KEY_LEN as u32 - 1;
                let zero = pb::BinaryComponentComparator { value: b"0"[..].into(), offset: last };
                let compare_filter = equal(comparator("BinaryComponentComparator", zero.encode_to_vec()));
                ("RowFilter", pb::RowFilter { compare_filter }.encode_to_vec())
            }
            Passing::NoValue => {
                let substring = pb::SubstringComparator { substr: ABSENT.to_owned() };
                let compare_filter = equal(comparator("SubstringComparator", substring.encode_to_vec()));
                ("ValueFilter", pb::ValueFilter { compare_filter }.encode_to_vec())
            }
        };
        Some(pb::Filter { name: format!("{PACKAGE}{name}"), serialized_filter: Some(message.into()) })
    }

    /// Of the rows, one in so many; 0: none.
    fn step(self) -> u64 {
        match self {
            Passing::All => 1,
            Passing::Tenth => 10,
            Passing::None | Passing::NoValue => 0,
        }
    }
}

pub struct Scan {
    target: Arc<Target>,
    random: SeededRandom,
    /// Rows of a range.
    span: u64,
    step: u64,
    filter: Option<pb::Filter>,
    /// Compare every value, not some.
    check_all: bool,
    /// The cells are counted, and nobody looks at them.
    unread: bool,
    end: u64,
    stop: rows::Key,
    region: usize,
    seq: u64,
    scanner: u64,
    /// What must come next.
    next_row: u64,
    next_column: usize,
    /// Rows of this scan that were told.
    told: u64,
    turn: u64,
}

impl Scan {
    /// Ranges of `span` rows that begin anywhere.
    pub fn new(target: Arc<Target>, passing: Passing, span: u64, seed: u64) -> Scan {
        let span = span.min(target.rows);
        Scan {
            target,
            random: SeededRandom::new(seed),
            span,
            step: passing.step(),
            filter: passing.filter(),
            check_all: false,
            unread: false,
            end: 0,
            stop: rows::key(0),
            region: 0,
            seq: 0,
            scanner: 0,
            next_row: 0,
            next_column: 0,
            told: 0,
            turn: 0,
        }
    }

    /// Compares every value.
    pub fn checking_all(self) -> Scan {
        Scan { check_all: true, ..self }
    }

    /// For a client whose work must not be seen by others of its thread.
    pub fn unread(self) -> Scan {
        Scan { unread: true, ..self }
    }

    fn count_unread(&mut self, bytes: usize) -> Result<(), Error> {
        let columns = self.target.shape.columns;
        let cells = self.next_column + self.target.cells_in(bytes)? as usize;
        self.next_row += (cells / columns) as u64 * self.step;
        self.next_column = cells % columns;
        if (self.next_row, self.next_column) > (self.end, 0) || self.step == 0 && cells > 0 {
            return Err(Error::wrong("a scan returned more rows than there are in its range"));
        }
        Ok(())
    }

    /// Checks the cells that are whole; how many bytes they have.
    fn check_cells(&mut self, block: &[u8]) -> Result<usize, Error> {
        let shape = self.target.shape;
        let mut cells = Cells::new(block, shape);
        let mut key = rows::key(self.next_row);
        while cells.has_next() {
            if self.step == 0 || self.next_row >= self.end {
                return Err(Error::wrong("a scan returned more rows than there are in its range"));
            }
            let check_value = self.check_all || self.turn.is_multiple_of(64);
            cells.expect(&key, self.next_row, self.next_column, check_value)?;
            self.turn += 1;
            self.next_column += 1;
            if self.next_column == shape.columns {
                self.next_column = 0;
                self.next_row += self.step;
                key = rows::key(self.next_row);
            }
        }
        Ok(block.len() - cells.left())
    }

    fn open(&mut self, start: &[u8], id: u32, out: &mut Vec<u8>) {
        self.seq = 0;
        request::open_scan(out, id, &self.target, self.region, start, &self.stop, self.filter.as_ref());
    }

    fn finish(&self) -> Result<Step, Error> {
        if self.step > 0 && (self.next_row < self.end || self.next_column > 0) {
            return Err(Error::wrong(format!("a scan to row {} ended before row {}", self.end, self.next_row)));
        }
        Ok(Step::Done { rows: self.span - self.told })
    }

    /// Another request is written. Who leaves its cells unread is long under way, and has seen how many rows there were.
    fn go_on(&mut self) -> Step {
        if !self.unread {
            return Step::More;
        }
        let rows = (self.next_row + self.span).saturating_sub(self.end + self.told);
        self.told += rows;
        Step::Part { rows }
    }
}

impl Op for Scan {
    fn reads_cells(&self) -> bool {
        !self.unread
    }

    fn begin(&mut self, id: u32, out: &mut Vec<u8>) -> bool {
        let start = self.random.below(self.target.rows - self.span + 1);
        self.end = start + self.span;
        self.stop = rows::key(self.end);
        self.next_row = start.next_multiple_of(self.step.max(1));
        self.next_column = 0;
        self.told = 0;
        self.region = self.target.region_of(start);
        self.open(&rows::key(start), id, out);
        true
    }

    fn some_cells(&mut self, cells: &[u8]) -> Result<usize, Error> {
        self.check_cells(cells)
    }

    fn answer(&mut self, id: u32, answer: Answer<'_>, out: &mut Vec<u8>) -> Result<Step, Error> {
        let (mut more, mut more_in_region) = (true, true);
        for field in Fields(answer.message) {
            match field? {
                (2, Value::Varint(scanner)) => self.scanner = scanner,
                (3, Value::Varint(flag)) => more = flag != 0,
                (5, _) => return Err(Error::wrong("a scan returned cells beside the cell block")),
                (8, Value::Varint(flag)) => more_in_region = flag != 0,
                _ => {}
            }
        }
        if self.unread {
            self.count_unread(answer.taken)?;
        }
        if self.check_cells(answer.cells)? < answer.cells.len() {
            return Err(Error::wrong("the cell block ends in a cell"));
        }
        if more && more_in_region {
            request::next_scan(out, id, &self.target, self.scanner, self.seq);
            self.seq += 1;
            return Ok(self.go_on());
        }
        let end = self.target.regions[self.region].end.clone();
        if !more || end.is_empty() || *end >= self.stop[..] {
            return self.finish();
        }
        self.region += 1;
        self.open(&end, id, out);
        Ok(self.go_on())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{FAMILY, SINGLE, Shape};
    use crate::target::example;
    use martite_cell::{CellBuf, OwnedCell};

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

    fn response(more_in_region: bool) -> Vec<u8> {
        pb::ScanResponse {
            scanner_id: Some(5),
            more_results: Some(true),
            more_results_in_region: Some(more_in_region),
            ..Default::default()
        }
        .encode_to_vec()
    }

    fn judge(op: &mut Scan, more_in_region: bool, cells: &[u8]) -> Result<Step, Error> {
        op.answer(0, Answer { message: &response(more_in_region), cells, taken: 0 }, &mut Vec::new())
    }

    fn scan(passing: Passing, splits: &[u64]) -> Scan {
        let mut op = Scan::new(Arc::new(example(SINGLE, 30, splits)), passing, 30, 1);
        assert!(op.begin(0, &mut Vec::new()));
        op
    }

    #[test]
    fn a_scan_goes_on_in_the_next_region() {
        let mut op = scan(Passing::All, &[12]);
        assert_eq!(judge(&mut op, true, &block(0..8)).unwrap(), Step::More);
        assert_eq!(op.seq, 1);
        assert_eq!(judge(&mut op, false, &block(8..12)).unwrap(), Step::More);
        assert_eq!((op.region, op.seq), (1, 0));
        assert_eq!(judge(&mut op, true, &[]).unwrap(), Step::More, "a heartbeat");
        assert_eq!(judge(&mut op, false, &block(12..30)).unwrap(), Step::Done { rows: 30 });
    }

    #[test]
    fn cells_are_judged_wherever_an_answer_is_cut() {
        let whole = block(0..30);
        for cut in (0..whole.len()).step_by(97) {
            let mut op = scan(Passing::All, &[]);
            let judged = op.some_cells(&whole[..cut]).unwrap();
            assert!(judged <= cut && cut - judged < whole.len() / 30, "{judged} of {cut}");
            assert_eq!(judge(&mut op, false, &whole[judged..]).unwrap(), Step::Done { rows: 30 });
        }
        assert!(judge(&mut scan(Passing::All, &[]), false, &whole[..whole.len() - 1]).is_err());
        assert!(scan(Passing::All, &[]).some_cells(&block(1..3)).is_err());
    }

    #[test]
    fn cells_that_nobody_looks_at_are_counted() {
        let a_row = block(0..1).len();
        let scan = |passing| scan(passing, &[]).unread();
        let judge = |op: &mut Scan, rows: usize, rest: usize, more_in_region| {
            let message = response(more_in_region);
            op.answer(0, Answer { message: &message, cells: &[], taken: rows * a_row + rest }, &mut Vec::new())
        };
        let mut op = scan(Passing::All);
        assert!(!op.reads_cells());
        assert_eq!(judge(&mut op, 12, 0, true).unwrap(), Step::Part { rows: 12 });
        assert_eq!(judge(&mut op, 18, 0, false).unwrap(), Step::Done { rows: 18 });
        for (rows, rest) in [(29, 0), (31, 0), (30, 1)] {
            assert!(judge(&mut scan(Passing::All), rows, rest, false).is_err(), "{rows} {rest}");
        }
        assert!(judge(&mut scan(Passing::None), 1, 0, false).is_err());
    }

    #[test]
    fn rows_that_are_missing_or_too_many_are_found() {
        assert!(judge(&mut scan(Passing::All, &[]), false, &block(0..29)).is_err());
        assert!(judge(&mut scan(Passing::All, &[]), false, &block((0..30).filter(|r| *r != 7))).is_err());
        assert!(judge(&mut scan(Passing::All, &[]), false, &block(0..31)).is_err());
        assert!(judge(&mut scan(Passing::None, &[]), false, &block(0..1)).is_err());
        assert!(judge(&mut scan(Passing::Tenth, &[]), false, &block([0, 10])).is_err());
        assert_eq!(judge(&mut scan(Passing::Tenth, &[]), false, &block([0, 10, 20])).unwrap(), Step::Done { rows: 30 });
        assert_eq!(judge(&mut scan(Passing::NoValue, &[]), false, &[]).unwrap(), Step::Done { rows: 30 });
    }

    #[test]
    fn filters_are_named_as_hbase_names_them() {
        let name = |passing: Passing| passing.filter().map(|f| f.name);
        assert_eq!(name(Passing::All), None);
        assert_eq!(name(Passing::None).as_deref(), Some("org.apache.hadoop.hbase.filter.FilterAllFilter"));
        assert_eq!(name(Passing::Tenth).as_deref(), Some("org.apache.hadoop.hbase.filter.RowFilter"));
        assert_eq!(name(Passing::NoValue).as_deref(), Some("org.apache.hadoop.hbase.filter.ValueFilter"));
    }
}
