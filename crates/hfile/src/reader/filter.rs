//! Questions to the file's bloom filters: "no" is certain, "yes" is not.

use super::Reader;
use crate::{
    Block, BlockKindHint, BlockSource, BlockType, BloomType, HFileError, Step,
    bloom::{Bloom, row_col_key},
    source::ready,
};
use martite_cell::{Order, key};
use std::cmp::Ordering;

impl Reader {
    /// False only if the file has no cell of `row`. A ROWCOL filter cannot tell.
    pub fn may_contain_row(&self, row: &[u8], src: &dyn BlockSource) -> Result<Step<bool>, HFileError> {
        if self.entries() == 0 {
            return Ok(Step::Ready(false));
        }
        match (&self.bloom, self.bloom_type) {
            (Some(bloom), BloomType::Row) => self.general_contains(bloom, row, src),
            (Some(bloom), BloomType::RowPrefix(len)) => self.general_contains(bloom, &row[..len.min(row.len())], src),
            _ => Ok(Step::Ready(true)),
        }
    }

    /// False only if the file has neither a cell of the column nor a family-wide delete of the row. Without a ROWCOL
    /// filter the answer is that for the row.
    pub fn may_contain_row_col(
        &self,
        row: &[u8],
        qualifier: &[u8],
        src: &dyn BlockSource,
    ) -> Result<Step<bool>, HFileError> {
        let (Some(bloom), BloomType::RowCol) = (&self.bloom, self.bloom_type) else {
            return self.may_contain_row(row, src);
        };
        if self.entries() == 0 {
            return Ok(Step::Ready(false));
        }
        let (column, empty_column) = (row_col_key(row, qualifier), row_col_key(row, &[]));
        // Family-wide deletes have no qualifier: they are in the filter as the row's empty column, which sorts first.
        if let Some(last) = &self.last_bloom_key
            && Order::Default.keys(&empty_column, last) == Ordering::Greater
        {
            return Ok(Step::Ready(false));
        }
        if ready!(self.chunk_contains(bloom, &column, src)?) {
            return Ok(Step::Ready(true));
        }
        if self.delete_family_count() == Some(0) {
            return Ok(Step::Ready(false));
        }
        self.chunk_contains(bloom, &empty_column, src)
    }

    /// False only if the file has no DeleteFamily or DeleteFamilyVersion of `row`.
    pub fn may_contain_delete_family(&self, row: &[u8], src: &dyn BlockSource) -> Result<Step<bool>, HFileError> {
        if self.entries() == 0 || self.delete_family_count() == Some(0) {
            return Ok(Step::Ready(false));
        }
        match &self.delete_bloom {
            Some(bloom) => self.chunk_contains(bloom, row, src),
            None => Ok(Step::Ready(true)),
        }
    }

    /// For a scan of the rows `start..stop`: false only if they share a prefix that a ROWPREFIX filter excludes.
    pub fn may_contain_prefix_of(
        &self,
        start: &[u8],
        stop: &[u8],
        src: &dyn BlockSource,
    ) -> Result<Step<bool>, HFileError> {
        if self.entries() == 0 {
            return Ok(Step::Ready(false));
        }
        match (&self.bloom, self.bloom_type) {
            (Some(bloom), BloomType::RowPrefix(len)) => match (start.get(..len), stop.get(..len)) {
                (Some(prefix), Some(of_stop)) if prefix == of_stop => self.general_contains(bloom, prefix, src),
                _ => Ok(Step::Ready(true)),
            },
            _ => Ok(Step::Ready(true)),
        }
    }

    /// A lookup in a filter of rows or row prefixes, whose last key the file info tells.
    fn general_contains(&self, bloom: &Bloom, key: &[u8], src: &dyn BlockSource) -> Result<Step<bool>, HFileError> {
        if self.last_bloom_key.as_ref().is_some_and(|last| key > &last[..]) {
            return Ok(Step::Ready(false));
        }
        self.chunk_contains(bloom, key, src)
    }

    fn chunk_contains(&self, bloom: &Bloom, key: &[u8], src: &dyn BlockSource) -> Result<Step<bool>, HFileError> {
        debug_assert!(!bloom.flat_keys() || key::check(key).is_ok());
        let Some(place) = bloom.chunk(key) else { return Ok(Step::Ready(false)) };
        let contains = |chunk: &Block| bloom.contains(chunk.payload(), key);
        self.look_at(place, BlockType::BloomChunk, BlockKindHint::Bloom, src, contains)
    }
}
