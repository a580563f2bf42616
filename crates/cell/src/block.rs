//! [`CellBlock`]: the cells of an answer on their way to the socket, some of them where they have always been.

use bytes::Bytes;
use std::sync::Arc;

/// Bytes of their own, and others that are lent and stand between them.
#[derive(Debug, Default, Clone)]
pub struct CellBlock {
    own: Vec<u8>,
    /// In their order.
    lent: Vec<Lent>,
    len: usize,
}

/// Who can lend parts of its memory.
pub trait Lend {
    fn bytes(&self) -> &[u8];
    /// The same, kept for as long as anyone has any of it.
    fn share(self: &Arc<Self>) -> Bytes;
}

impl Lend for Bytes {
    fn bytes(&self) -> &[u8] {
        self
    }
    fn share(self: &Arc<Bytes>) -> Bytes {
        Bytes::clone(self)
    }
}

/// What is lent.
#[derive(Debug, Clone)]
pub struct Lent {
    /// So many of the block's own bytes stand before it.
    pub at: usize,
    pub bytes: Bytes,
}

impl CellBlock {
    pub(crate) fn new(own: Vec<u8>, lent: Vec<Lent>) -> CellBlock {
        let len = own.len() + lent.iter().map(|lent| lent.bytes.len()).sum::<usize>();
        CellBlock { own, lent, len }
    }
    /// In bytes.
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Gives back room for own bytes, if more than half of it is not used.
    pub fn shrink(&mut self) {
        if self.own.capacity() / 2 > self.own.len() {
            self.own.shrink_to_fit();
        }
    }
    /// All of it in one piece; copied, if some of it is lent.
    pub fn into_bytes(self) -> Vec<u8> {
        if self.lent.is_empty() {
            return self.own;
        }
        let mut bytes = Vec::with_capacity(self.len);
        self.into_pieces().for_each(|piece| bytes.extend_from_slice(&piece));
        bytes
    }
    /// Its own bytes, if nothing is lent to it.
    pub fn into_own(self) -> Result<Vec<u8>, CellBlock> {
        if self.lent.is_empty() { Ok(self.own) } else { Err(self) }
    }
    /// Its pieces in their order; nothing is copied.
    pub fn into_pieces(self) -> impl Iterator<Item = Bytes> {
        let own = Bytes::from(self.own);
        let last = own.slice(self.lent.last().map_or(0, |lent| lent.at)..);
        let mut before = 0;
        let pieces = self.lent.into_iter().flat_map(move |Lent { at, bytes }| {
            let from = std::mem::replace(&mut before, at);
            [own.slice(from..at), bytes]
        });
        pieces.chain([last]).filter(|piece| !piece.is_empty())
    }
}

impl From<Vec<u8>> for CellBlock {
    fn from(own: Vec<u8>) -> CellBlock {
        CellBlock::new(own, Vec::new())
    }
}
