//! What ends a batch of a scan, where its Results go, and how it ended.

use bytes::Bytes;
use martite_cell::CellBuf;

/// What ends one batch. Zero means "no limit" for every number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScanLimits {
    /// Results (`number_of_rows` of the request).
    pub results: u64,
    /// Cells of one Result (`batch_size` of the scan).
    pub batch: u32,
    /// Bytes of cells appended by this call and those before it on the same [`ScanOutput`].
    pub size_bytes: u64,
    /// Bytes of blocks scanned.
    pub block_bytes: u64,
    /// Complete rows that the client still wants (`limit_of_rows`).
    pub rows: u32,
    /// Size and time limits may end a batch inside a row (`client_handles_partials`).
    pub allow_partial: bool,
    /// Slice: after so many cells [`ScanEnd::Paused`] is answered; call again with the same output to go on.
    pub pause_after_cells: u64,
}

/// One Result: the next `cells` cells of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultMark {
    pub cells: usize,
    /// More cells of this row may follow in the next Result.
    pub partial: bool,
}

/// Counters of a scan (`scan_metrics` of the response).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScanCounters {
    pub rows_scanned: u64,
    pub rows_filtered: u64,
    pub cells_scanned: u64,
    /// Bytes of the blocks that were read, from cache or disk.
    pub block_bytes: u64,
    pub blocks: u64,
}

/// Where a batch goes. One output serves all calls (after `Need` or `Paused`) that make one response.
#[derive(Debug)]
pub struct ScanOutput {
    pub cells: CellBuf,
    pub results: Vec<ResultMark>,
    pub counters: ScanCounters,
}

impl ScanOutput {
    /// Tags are kept only when `with_tags`.
    pub fn new(with_tags: bool) -> ScanOutput {
        ScanOutput { cells: CellBuf::new(with_tags), results: Vec::new(), counters: ScanCounters::default() }
    }
}

/// Why a batch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanEnd {
    /// No more rows in the region (or the filter is done: see [`ScanState::filter_done`]).
    Exhausted,
    /// `ScanLimits::results` reached.
    Results,
    /// `ScanLimits::rows` reached: the whole scan is over.
    Rows,
    /// `size_bytes` or `block_bytes` reached.
    Size,
    /// The deadline passed.
    Time,
    /// `pause_after_cells` reached: not an end; call again.
    Paused,
}

/// How a batch ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanState {
    pub end: ScanEnd,
    pub more_in_region: bool,
    /// The filter wants nothing any more: no other region needs to be asked.
    pub filter_done: bool,
    /// Row last looked at, for the cursor of a heartbeat.
    pub cursor: Option<Bytes>,
}
