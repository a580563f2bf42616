//! MultipleColumnPrefixFilter: qualifiers that begin with one of several prefixes; seeks from one to the next.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use bytes::Bytes;
use martite_cell::{CellRef, key};
use martite_proto as pb;

struct MultipleColumnPrefix {
    /// Sorted, distinct.
    prefixes: Vec<Bytes>,
    /// Index of the prefix to seek to.
    hint: usize,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::MultipleColumnPrefixFilter = input.message(&[])?;
    let mut prefixes = proto.sorted_prefixes;
    prefixes.sort_unstable();
    if let Some(pair) = prefixes.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(input.malformed(format!("prefix {} is there twice", pair[0].escape_ascii())));
    }
    Ok(Box::new(MultipleColumnPrefix { prefixes, hint: 0 }))
}

impl Evaluate for MultipleColumnPrefix {
    fn name(&self) -> &'static str {
        "MultipleColumnPrefixFilter"
    }
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(false)
    }
    fn is_row_local(&self) -> bool {
        true
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        if self.prefixes.is_empty() {
            return Ok(ReturnCode::Include);
        }
        let qualifier = cell.qualifier();
        let not_greater = self.prefixes.partition_point(|prefix| &prefix[..] <= qualifier);
        // Only the greatest of them is looked at: with prefixes "a" and "ab", "ac" seeks on, as in HBase.
        if not_greater > 0 && qualifier.starts_with(&self.prefixes[not_greater - 1]) {
            return Ok(ReturnCode::Include);
        }
        if not_greater == self.prefixes.len() {
            return Ok(ReturnCode::NextRow);
        }
        self.hint = not_greater;
        Ok(ReturnCode::SeekNextUsingHint)
    }
    fn next_hint(&mut self, cell: &CellRef<'_>) -> Option<Vec<u8>> {
        let prefix = self.prefixes.get(self.hint)?;
        Some(key::first_on_column(cell.row(), cell.family(), prefix))
    }
    fn gives_hints(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn any_of_the_prefixes_with_seeks_between_them() {
        let filter = |prefixes: &[&'static str]| {
            let sorted_prefixes = prefixes.iter().map(|p| (*p).into()).collect();
            filter_proto("MultipleColumnPrefixFilter", &pb::MultipleColumnPrefixFilter { sorted_prefixes })
        };
        let rows = "r1 f:a=1 f:b1=2 f:c=3 f:d=4 f:d1=5 f:e=6 g:b=7 | r2 f:e=8";
        check(&filter(&["d", "b"]), rows, "r1 f:b1=2 f:d=4 f:d1=5 g:b=7");
        check(&filter(&[]), rows, rows);
        codes(
            &filter(&["d", "b"]),
            "r1 f:a=1 f:b=1 f:c=1 f:e=1",
            "SeekNextUsingHint Include SeekNextUsingHint NextRow",
        );
        hint(&filter(&["d", "b"]), "r1 f:c=1", "r1 f:d");
        check(&filter(&["a", "ab"]), "r1 f:aa=1 f:abc=2 f:ac=3", "r1 f:aa=1 f:abc=2");
        refused(&filter(&["b", "b"]), "malformed MultipleColumnPrefixFilter: prefix b is there twice");
    }
}
