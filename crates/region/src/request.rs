//! What a write asks for ([`WriteRequest`]) and what it answers ([`Written`]).

use crate::{Durability, Pending, RegionError};
use bytes::Bytes;
use martite_cell::{CellBuf, TimeRange};
use martite_filter::{Comparator, CompareOp};
use martite_proto as pb;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MutationKind {
    Put,
    Delete,
    Increment,
    Append,
}

/// One mutation of one row.
#[derive(Debug)]
pub struct Mutation {
    pub kind: MutationKind,
    pub row: Bytes,
    /// The cells with their tags, all of `row`; the timestamp is `LATEST_TIMESTAMP` where the client set none. A Delete
    /// without cells deletes the whole row at `delete_row_ts`.
    pub cells: CellBuf,
    pub durability: Durability,
    /// Which old values an Increment or Append reads.
    pub time_range: TimeRange,
    /// Time to live of the cells, from the attribute `_ttl`.
    pub ttl_ms: Option<u64>,
    /// Whether an Increment or Append answers its new cells (attribute `_rr_`).
    pub return_results: bool,
    /// 0: none.
    pub nonce: u64,
    /// Timestamp of a Delete without cells; `LATEST_TIMESTAMP` for "now".
    pub delete_row_ts: u64,
    /// Clusters that the mutation has been through (attribute `_cs.id`): most, least significant half of each UUID.
    pub cluster_ids: Vec<(u64, u64)>,
}

impl Mutation {
    pub fn new(kind: MutationKind, row: impl Into<Bytes>, cells: CellBuf) -> Mutation {
        Mutation {
            kind,
            row: row.into(),
            cells,
            durability: Durability::UseDefault,
            time_range: TimeRange::ALL,
            ttl_ms: None,
            return_results: true,
            nonce: 0,
            delete_row_ts: martite_cell::LATEST_TIMESTAMP,
            cluster_ids: Vec::new(),
        }
    }
}

impl Mutation {
    /// Whether what it writes depends on what is there.
    pub(crate) fn is_delta(&self) -> bool {
        matches!(self.kind, MutationKind::Increment | MutationKind::Append)
    }
}

/// A condition of checkAndMutate.
#[derive(Debug)]
pub struct Condition {
    pub row: Bytes,
    pub time_range: TimeRange,
    pub check: Check,
}

#[derive(Debug)]
pub enum Check {
    /// The newest cell of a column against a value: **value `op` cell**.
    Value { family: Bytes, qualifier: Bytes, op: CompareOp, comparator: Comparator },
    /// Holds when a Get with the filter finds a cell.
    Filter(pb::Filter),
}

/// What is to be written.
#[derive(Debug)]
pub enum WriteBody {
    /// Puts and Deletes, each on its own.
    Batch(Vec<Mutation>),
    /// All or nothing, if the conditions (all of them) hold: RowMutations, checkAndMutate, a single Increment or Append,
    /// MutateRows.
    Atomic { mutations: Vec<Mutation>, conditions: Vec<Condition> },
}

/// A write with its progress: after `Need` or `WouldBlock` the same request is given again, and goes on.
#[derive(Debug)]
pub struct WriteRequest {
    pub body: WriteBody,
    pub nonce_group: u64,
    pub(crate) progress: Progress,
}

/// How far a batch has come.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Result of each mutation of a batch, as far as known.
    pub ops: Vec<Option<Result<(), RegionError>>>,
    /// First mutation that is not decided.
    pub next: usize,
    /// Newest sequence id that mini-batches of this request were given.
    pub seq: Option<u64>,
    /// Whether the mutations were checked and counted.
    pub checked: bool,
}

impl WriteRequest {
    /// Puts and Deletes, each on its own.
    pub fn batch(mutations: Vec<Mutation>) -> WriteRequest {
        WriteRequest { body: WriteBody::Batch(mutations), nonce_group: 0, progress: Progress::default() }
    }
    /// The mutations, in order.
    pub fn mutations(&self) -> &[Mutation] {
        match &self.body {
            WriteBody::Batch(mutations) | WriteBody::Atomic { mutations, .. } => mutations,
        }
    }
    /// All or nothing.
    pub fn atomic(mutations: Vec<Mutation>, condition: Option<Condition>, nonce_group: u64) -> WriteRequest {
        WriteRequest::conditional(mutations, condition.into_iter().collect(), nonce_group)
    }
    /// All or nothing, under several conditions (MutateRows).
    pub fn conditional(mutations: Vec<Mutation>, conditions: Vec<Condition>, nonce_group: u64) -> WriteRequest {
        WriteRequest { body: WriteBody::Atomic { mutations, conditions }, nonce_group, progress: Progress::default() }
    }
}

/// The answer of a write. Nothing may be told to the client before `pending` is done.
#[derive(Debug)]
pub struct Written {
    /// Of a batch: each mutation's own result. Empty for an atomic write.
    pub ops: Vec<Result<(), RegionError>>,
    /// Of an atomic write: whether its conditions held.
    pub processed: bool,
    /// New cells of Increments and Appends that return results; None if there are none of these.
    pub result: Option<CellBuf>,
    pub pending: Pending,
}

impl WriteRequest {
    /// Number of mutations.
    pub fn len(&self) -> usize {
        self.mutations().len()
    }
    pub fn is_empty(&self) -> bool {
        self.mutations().is_empty()
    }
}
