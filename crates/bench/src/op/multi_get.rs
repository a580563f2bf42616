//! Gets of a hundred random rows in one call.

use super::{Op, Step};
use crate::answer::{Answer, Cells, Fields, Value, cell_count};
use crate::request::{self, Scratch};
use crate::target::Target;
use crate::zipfian::Keys;
use crate::{Error, answer};
use martite_env::SeededRandom;
use std::sync::Arc;

/// Rows of one call.
pub const ROWS: usize = 100;

pub struct MultiGet {
    target: Arc<Target>,
    keys: Keys,
    random: SeededRandom,
    /// In the order of the actions.
    rows: Vec<u64>,
    scratch: Scratch,
    turn: u64,
}

impl MultiGet {
    pub fn new(target: Arc<Target>, keys: Keys, seed: u64) -> MultiGet {
        let (random, scratch) = (SeededRandom::new(seed), Scratch::default());
        MultiGet { target, keys, random, rows: Vec::with_capacity(ROWS), scratch, turn: 0 }
    }

    /// Checks the row of one ResultOrException; its index.
    fn check_entry(&mut self, entry: &[u8], cells: &mut Cells<'_>) -> Result<usize, Error> {
        let (mut index, mut count) = (0, 0);
        for field in Fields(entry) {
            match field? {
                (1, Value::Varint(n)) => index = n as usize,
                (2, Value::Bytes(result)) => count = cell_count(result)?,
                (3, Value::Bytes(exception)) => return Err(answer::embedded(exception).into()),
                _ => {}
            }
        }
        let row = *self.rows.get(index).ok_or_else(|| Error::wrong(format!("there is no action {index}")))?;
        if count != self.target.shape.columns {
            return Err(Error::wrong(format!("row {row}: {count} cells")));
        }
        cells.expect_row(row, self.turn)?;
        self.turn += 1;
        Ok(index)
    }
}

impl Op for MultiGet {
    fn begin(&mut self, id: u32, out: &mut Vec<u8>) -> bool {
        self.rows.clear();
        self.rows.extend((0..ROWS).map(|_| self.keys.row(&self.random, self.target.rows)));
        request::multi_get(out, id, &self.target, &mut self.rows, &mut self.scratch);
        true
    }

    fn again(&mut self, id: u32, out: &mut Vec<u8>) {
        request::multi_get(out, id, &self.target, &mut self.rows, &mut self.scratch);
    }

    fn answer(&mut self, _id: u32, answer: Answer<'_>, _out: &mut Vec<u8>) -> Result<Step, Error> {
        let mut cells = Cells::new(answer.cells, self.target.shape);
        let mut seen = 0u128;
        for part in Fields(answer.message) {
            let (1, Value::Bytes(part)) = part? else { continue };
            for entry in Fields(part) {
                match entry? {
                    (1, Value::Bytes(entry)) => seen |= 1 << self.check_entry(entry, &mut cells)?,
                    (2, Value::Bytes(exception)) => return Err(answer::embedded(exception).into()),
                    _ => {}
                }
            }
        }
        if seen.count_ones() as usize != ROWS || !cells.is_empty() {
            return Err(Error::wrong(format!("{} of {ROWS} rows are there", seen.count_ones())));
        }
        Ok(Step::Done { rows: ROWS as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{self, FAMILY, Shape, TEN};
    use crate::target::example;
    use martite_cell::{CellBuf, OwnedCell};
    use martite_proto as pb;
    use pb::Message;

    /// The right answer, its entries in the order that `order` gives.
    fn answer_to(op: &MultiGet, order: &[usize]) -> (pb::MultiResponse, Vec<u8>) {
        let mut cells = CellBuf::new(false);
        let mut part = pb::RegionActionResult::default();
        for &index in order {
            for column in 0..TEN.columns {
                let mut value = Vec::new();
                rows::put_value(&mut value, op.rows[index], column, TEN.value_len);
                let key = rows::key(op.rows[index]);
                cells.push(&OwnedCell::put(&key, FAMILY.as_bytes(), &Shape::qualifier(column), 1, &value).as_ref());
            }
            let result = pb::Result { associated_cell_count: Some(TEN.columns as i32), ..Default::default() };
            part.result_or_exception.push(pb::ResultOrException {
                index: Some(index as u32),
                result: Some(result),
                ..Default::default()
            });
        }
        (pb::MultiResponse { region_action_result: vec![part], ..Default::default() }, cells.into_bytes())
    }

    #[test]
    fn every_row_must_be_there_once() {
        let mut op = MultiGet::new(Arc::new(example(TEN, 1000, &[300])), Keys::Uniform, 3);
        assert!(op.begin(0, &mut Vec::new()));
        let mut judge = |order: &[usize]| {
            let (message, cells) = answer_to(&op, order);
            op.answer(0, Answer { message: &message.encode_to_vec(), cells: &cells, taken: 0 }, &mut Vec::new())
        };
        let all: Vec<usize> = (0..ROWS).collect();
        let backwards: Vec<usize> = (0..ROWS).rev().collect();
        assert_eq!(judge(&all).unwrap(), Step::Done { rows: 100 });
        assert_eq!(judge(&backwards).unwrap(), Step::Done { rows: 100 });
        assert!(judge(&all[1..]).is_err());
        let twice: Vec<usize> = (0..ROWS).map(|i| i.max(1)).collect();
        assert!(judge(&twice).is_err());
    }

    #[test]
    fn exceptions_inside_are_found() {
        let mut op = MultiGet::new(Arc::new(example(TEN, 1000, &[])), Keys::Uniform, 3);
        op.begin(0, &mut Vec::new());
        let (mut message, cells) = answer_to(&op, &[0]);
        let pair = pb::NameBytesPair { name: "java.io.IOException".to_owned(), value: Some(b"full"[..].into()) };
        message.region_action_result[0].exception = Some(pair);
        let outcome =
            op.answer(0, Answer { message: &message.encode_to_vec(), cells: &cells, taken: 0 }, &mut Vec::new());
        assert!(outcome.unwrap_err().to_string().contains("java.io.IOException: full"));
    }
}
