//! Bloom filters over rows, columns or row prefixes.

/// What a file's bloom filter holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BloomType {
    #[default]
    None,
    Row,
    RowCol,
    /// The first bytes of the row; shorter rows are not in the filter's promise.
    RowPrefix(usize),
}
