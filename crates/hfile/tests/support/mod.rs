//! Cells, files and block sources for the tests of this crate.
#![allow(dead_code)]

use martite_cell::{CellRef, OwnedCell, key::flat_key, tags};
use martite_hfile::{
    Block, BlockRequest, BlockSource, FileSource, Finished, HFileError, Reader, Scanner, Step, StoreMeta, Writer,
    WriterOptions,
};
use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// A small generator, so that a failure repeats.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    pub fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % below
    }
}

/// Sorted cells of one family: rows with several columns, versions, deletes, tags, equal keys.
pub fn cells(count: usize, seed: u64, with_tags: bool) -> Vec<OwnedCell> {
    let mut dice = Dice::new(seed);
    let mut cells = Vec::new();
    for _ in 0..count {
        let row = format!("row-{:0w$}", dice.roll(count as u64), w = 1 + dice.roll(9) as usize);
        let qualifier = ["", "a", "ab", "b", "name", "a long qualifier of a column"][dice.roll(6) as usize];
        let code = if qualifier.is_empty() {
            [4, 14, 10][dice.roll(3) as usize]
        } else {
            [4, 4, 4, 8, 12][dice.roll(5) as usize]
        };
        let ts = 1_700_000_000_000 + dice.roll(1000) * dice.roll(1_000_000);
        let value: Vec<u8> = (0..dice.roll(60)).map(|i| (i * 7) as u8).collect();
        let mut section = Vec::new();
        if with_tags && dice.roll(2) == 0 {
            tags::append(&mut section, tags::TTL, &dice.roll(300).to_be_bytes());
        }
        let key = flat_key(row.as_bytes(), b"fam", qualifier.as_bytes(), ts, code);
        cells.push(OwnedCell::new(&key, &value, &section, dice.roll(100_000)));
        if dice.roll(20) == 0 {
            cells.push(OwnedCell::new(&key, b"again", &[], dice.roll(100)));
        }
    }
    sort(&mut cells);
    cells
}

pub fn sort(cells: &mut [OwnedCell]) {
    cells.sort_by(|a, b| martite_cell::Order::Default.cells(&a.as_ref(), &b.as_ref()));
}

pub fn write(cells: &[OwnedCell], options: WriterOptions) -> (Vec<u8>, Finished) {
    let mut writer = Writer::new(Vec::new(), options).unwrap();
    for cell in cells {
        writer.append(&cell.as_ref()).unwrap();
    }
    let meta = StoreMeta { max_seq_id: Some(77), ..StoreMeta::default() };
    let (bytes, finished) = writer.finish(meta).unwrap();
    assert_eq!(finished.file_size as usize, bytes.len());
    (bytes, finished)
}

pub fn open(bytes: &Vec<u8>) -> Arc<Reader> {
    Arc::new(Reader::open(1, "sample", bytes).unwrap())
}

/// Every cell of a file, front to back.
pub fn read_all(reader: &Arc<Reader>, src: &dyn BlockSource) -> Result<Vec<OwnedCell>, HFileError> {
    let mut scanner = Scanner::new(reader.clone(), false);
    let mut cells = Vec::new();
    scanner.seek_to_first(src)?;
    while let Some(cell) = scanner.peek() {
        cells.push(cell.to_owned_cell());
        scanner.next(src)?;
    }
    Ok(cells)
}

pub fn same(a: Option<CellRef<'_>>, b: Option<CellRef<'_>>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => (a.key, a.value, a.tags, a.seq_id) == (b.key, b.value, b.tags, b.seq_id),
        _ => false,
    }
}

/// A source that never waits: a block is there from the second time on that it is asked for.
pub struct Cold<'a> {
    pub file: FileSource<'a>,
    asked: RefCell<HashSet<u64>>,
    blocks: RefCell<HashMap<u64, Arc<Block>>>,
    pub misses: Cell<u32>,
}

impl<'a> Cold<'a> {
    pub fn new(bytes: &'a Vec<u8>) -> Cold<'a> {
        let (asked, blocks) = Default::default();
        Cold { file: FileSource { file: bytes }, asked, blocks, misses: Cell::new(0) }
    }
    /// Forgets all blocks.
    pub fn chill(&self) {
        self.asked.borrow_mut().clear();
        self.blocks.borrow_mut().clear();
    }
}

impl BlockSource for Cold<'_> {
    fn get(&self, reader: &Reader, req: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        if self.asked.borrow_mut().insert(req.offset) {
            self.misses.set(self.misses.get() + 1);
            return Ok(None);
        }
        if let Some(block) = self.blocks.borrow().get(&req.offset) {
            return Ok(Some(block.clone()));
        }
        let block = self.file.get(reader, req)?;
        if let Some(block) = &block {
            self.blocks.borrow_mut().insert(req.offset, block.clone());
        }
        Ok(block)
    }
    fn may_block(&self) -> bool {
        false
    }
}

/// Repeats a step until nothing is missing; checks that a miss leaves the scanner where it was.
pub fn drive<T>(scanner: &mut Scanner, mut step: impl FnMut(&mut Scanner) -> Result<Step<T>, HFileError>) -> T {
    loop {
        let before = scanner.peek().map(|c| c.to_owned_cell());
        match step(scanner).unwrap() {
            Step::Ready(value) => return value,
            Step::Need(_) => assert!(same(scanner.peek(), before.as_ref().map(|c| c.as_ref()))),
        }
    }
}
