//! Get of one row.

use super::{Op, Step};
use crate::answer::{Answer, Cells, Fields, Value, cell_count};
use crate::target::Target;
use crate::zipfian::Keys;
use crate::{Error, request};
use martite_env::SeededRandom;
use std::sync::Arc;

pub struct Get {
    target: Arc<Target>,
    keys: Keys,
    random: SeededRandom,
    row: u64,
    /// Rows so far.
    turn: u64,
    /// Compare every value, not some.
    check_all: bool,
}

impl Get {
    pub fn new(target: Arc<Target>, keys: Keys, seed: u64) -> Get {
        Get { target, keys, random: SeededRandom::new(seed), row: 0, turn: 0, check_all: false }
    }

    /// Compares every value.
    pub fn checking_all(self) -> Get {
        Get { check_all: true, ..self }
    }
}

impl Op for Get {
    fn begin(&mut self, id: u32, out: &mut Vec<u8>) -> bool {
        self.row = self.keys.row(&self.random, self.target.rows);
        request::get(out, id, &self.target, self.row);
        true
    }

    fn answer(&mut self, _id: u32, answer: Answer<'_>, _out: &mut Vec<u8>) -> Result<Step, Error> {
        let mut count = 0;
        for field in Fields(answer.message) {
            if let (1, Value::Bytes(result)) = field? {
                count = cell_count(result)?;
            }
        }
        let mut cells = Cells::new(answer.cells, self.target.shape);
        // The first is always compared.
        cells.expect_row(self.row, if self.check_all { 0 } else { self.turn })?;
        self.turn += 1;
        if count != self.target.shape.columns || !cells.is_empty() {
            return Err(Error::wrong(format!("row {}: {count} cells", self.row)));
        }
        Ok(Step::Done { rows: 1 })
    }

    fn again(&mut self, id: u32, out: &mut Vec<u8>) {
        request::get(out, id, &self.target, self.row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{self, SINGLE};
    use crate::target::example;
    use martite_cell::{CellBuf, OwnedCell};
    use martite_proto as pb;
    use pb::Message;

    #[test]
    fn only_the_row_that_was_asked_for_is_right() {
        let mut op = Get::new(Arc::new(example(SINGLE, 100, &[])), Keys::Uniform, 1);
        assert!(op.begin(0, &mut Vec::new()));
        let answer_for = |row: u64, count: i32| {
            let (mut value, mut cells) = (Vec::new(), CellBuf::new(false));
            rows::put_value(&mut value, row, 0, 1000);
            cells.push(&OwnedCell::put(&rows::key(row), b"info0", b"0", 1, &value).as_ref());
            let result = pb::Result { associated_cell_count: Some(count), ..Default::default() };
            (pb::GetResponse { result: Some(result) }.encode_to_vec(), cells.into_bytes())
        };
        let row = op.row;
        let mut judge = |(message, cells): (Vec<u8>, Vec<u8>)| {
            op.answer(0, Answer { message: &message, cells: &cells, taken: 0 }, &mut Vec::new())
        };
        assert_eq!(judge(answer_for(row, 1)).unwrap(), Step::Done { rows: 1 });
        assert!(judge(answer_for(row, 2)).is_err());
        assert!(judge(answer_for(row + 1, 1)).is_err());
        assert!(judge((Vec::new(), Vec::new())).is_err());
    }
}
