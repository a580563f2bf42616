//! `Scanner::pass_rows` and `Scanner::pass_judged` against the same rules, cell by cell.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use martite_cell::{CellRef, CellType, OwnedCell, ShortRows, key};
use martite_hfile::{
    Block, BlockRequest, BlockSource, FileSource, HFileError, JudgeRules, NEAR_CELLS, Reader, RefuseRows, RowJudge,
    Scanner, Verdict, WriterOptions,
};
use std::{cell::RefCell, collections::HashMap, sync::Arc};
use support::{Dice, drive, open, sort, write};

/// Keeps all blocks at hand that were asked for.
struct Kept<'a> {
    file: FileSource<'a>,
    blocks: RefCell<HashMap<u64, Arc<Block>>>,
}

impl BlockSource for Kept<'_> {
    fn get(&self, reader: &Reader, request: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        if let Some(block) = self.at_hand(request) {
            return Ok(Some(block));
        }
        let block = self.file.get(reader, request)?;
        self.blocks.borrow_mut().extend(block.iter().map(|block| (request.offset, block.clone())));
        Ok(block)
    }
    fn at_hand(&self, request: &BlockRequest) -> Option<Arc<Block>> {
        self.blocks.borrow().get(&request.offset).cloned()
    }
    fn may_block(&self) -> bool {
        true
    }
}

/// What the rows of a file look like.
#[derive(Debug, Clone, Copy)]
struct Shape {
    name: &'static str,
    row: fn(u64, &mut Dice) -> Vec<u8>,
    most_columns: u64,
    value_bytes: (u64, u64),
    /// Its rows lie side by side.
    kept: bool,
}

const fn shape(
    name: &'static str,
    row: fn(u64, &mut Dice) -> Vec<u8>,
    most_columns: u64,
    value_bytes: (u64, u64),
    kept: bool,
) -> Shape {
    Shape { name, row, most_columns, value_bytes, kept }
}

const SHAPES: [Shape; 8] = [
    shape("one large cell a row", |n, _| numbered(n), 1, (900, 1100), true),
    shape("a few large cells a row", |n, _| numbered(n), 20, (400, 500), true),
    shape("large and small cells", |n, _| numbered(n), 3, (300, 1500), true),
    shape("many small cells a row", |n, _| numbered(n), 4, (150, 250), true),
    shape(
        "rows too small to lie side by side",
        |n, _| format!("{n:03}-{}", "x".repeat(8)).into_bytes(),
        2,
        (100, 200),
        false,
    ),
    shape(
        "rows of many lengths, zeros in them, some that others begin with",
        |n, dice| [format!("{:02}", n / 5).as_bytes(), &vec![(n % 2) as u8; dice.roll(10) as usize]].concat(),
        2,
        (900, 1100),
        true,
    ),
    shape(
        "rows too long to lie side by side",
        |n, _| format!("{n:03}-{}", "x".repeat(30)).into_bytes(),
        1,
        (900, 1100),
        false,
    ),
    shape(
        "the longest that do, behind a long prefix",
        |n, _| format!("{}{n:015}", "p".repeat(26)).into_bytes(),
        1,
        (900, 1100),
        true,
    ),
];

fn numbered(number: u64) -> Vec<u8> {
    format!("row-{number:020}").into_bytes()
}

fn cells(shape: Shape, dice: &mut Dice) -> Vec<OwnedCell> {
    let mut cells = Vec::new();
    for number in 0..400 {
        let row = (shape.row)(number, dice);
        for column in 0..1 + dice.roll(shape.most_columns) {
            let key = key::flat_key(&row, b"f", &column.to_be_bytes(), 5, CellType::Put as u8);
            let value = vec![7; (shape.value_bytes.0 + dice.roll(shape.value_bytes.1 - shape.value_bytes.0)) as usize];
            cells.push(OwnedCell::new(&key, &value, &[], dice.roll(1 << 30)));
        }
    }
    sort(&mut cells);
    cells.dedup_by(|b, a| a.as_ref().key == b.as_ref().key);
    cells
}

/// Of each cell whether it is the last of its block; reads all of them.
fn lasts(cells: &[OwnedCell], scanner: &mut Scanner, src: &Kept<'_>) -> Vec<bool> {
    let mut lasts = Vec::new();
    drive(scanner, |s| s.seek_to_first(src));
    for _ in cells {
        lasts.push(scanner.is_last_in_block());
        drive(scanner, |s| s.next(src));
    }
    assert!(lasts.iter().filter(|last| **last).count() > 5);
    lasts
}

/// Refuses rows as it is told, one by one or many at once, and keeps what it was shown.
struct Answering<'a> {
    answers: &'a [bool],
    rows: Vec<Vec<u8>>,
    many_at_once: bool,
    /// So many were shown side by side.
    side_by_side: usize,
}

impl RefuseRows for Answering<'_> {
    fn refuses(&mut self, row: &[u8]) -> bool {
        self.rows.push(row.to_vec());
        self.answers[self.rows.len() - 1]
    }
    fn refuses_first_of(&mut self, rows: ShortRows<'_>) -> Option<usize> {
        if !self.many_at_once {
            return None;
        }
        let count = (0..rows.len()).take_while(|at| self.refuses(rows.whole().of(rows.row(*at)))).count();
        self.side_by_side += count;
        Some(count)
    }
}

/// Tells how many rows were shown side by side.
fn compare(shape: Shape, seed: u64) -> usize {
    let dice = &mut Dice::new(seed);
    let cells = cells(shape, dice);
    let (bytes, _) = write(&cells, WriterOptions { block_size: 10_000, ..WriterOptions::default() });
    let src = Kept { file: FileSource { file: &bytes }, blocks: RefCell::default() };
    let mut scanner = Scanner::new(open(&bytes), true);
    let lasts = lasts(&cells, &mut scanner, &src);
    let mut side_by_side = 0;
    for refused_of_ten in [0, 5, 9, 10] {
        drive(&mut scanner, |s| s.seek_to_first(&src));
        let mut at = 0;
        loop {
            let most = if dice.roll(4) == 0 { dice.roll(6) } else { 1000 } as usize;
            let mut wanted = Vec::new();
            // An answer for each row; those behind the last are refused.
            let answers: Vec<bool> = (0..500).map(|_| dice.roll(10) < refused_of_ten).collect();
            let (from, mut row, mut in_row, mut stopped) = (at, cells[at].as_ref().row(), 0, false);
            let is_over = |at: usize, rows: usize, in_row: usize| match shape.kept {
                true => rows == most,
                false => at - from == most || in_row == NEAR_CELLS,
            };
            while !is_over(at, wanted.len(), in_row) && !lasts[at] && !stopped {
                at += 1;
                in_row += 1;
                if cells[at].as_ref().row() != row {
                    row = cells[at].as_ref().row();
                    stopped = !answers[wanted.len()];
                    wanted.push(row.to_vec());
                    in_row = 0;
                }
            }
            // In the last row of a block it goes to the last cell.
            let end = (at..cells.len()).find(|at| lasts[*at]).unwrap();
            if shape.kept && most > 0 && !stopped && cells[end].as_ref().row() == row {
                at = end;
            }
            let count = if shape.kept { wanted.len().max(usize::from(at > from)) } else { at - from };
            let many_at_once = dice.roll(2) == 0;
            let mut refuser = Answering { answers: &answers, rows: Vec::new(), many_at_once, side_by_side: 0 };
            let passed = scanner.pass_rows(most, &mut refuser);
            let asked = refuser.rows;
            side_by_side += refuser.side_by_side;
            let what = format!("{}, seed {seed}, from {from}, {most} at most", shape.name);
            assert_eq!((asked, passed.cells, passed.stopped), (wanted, count, stopped), "{what}");
            assert!(scanner.peek().unwrap() == cells[at].as_ref(), "{what}");
            at += 1;
            drive(&mut scanner, |s| s.next(&src));
            if at == cells.len() {
                break;
            }
            assert!(scanner.peek().unwrap() == cells[at].as_ref(), "{what}");
        }
        assert!(scanner.peek().is_none());
    }
    side_by_side
}

#[test]
fn rows_are_passed_as_one_by_one() {
    for shape in SHAPES {
        let side_by_side: usize = (1..5).map(|seed| compare(shape, seed)).sum();
        assert_eq!(side_by_side > 100, shape.kept, "{}: {side_by_side}", shape.name);
    }
}

/// Refuses rows as it is told, and keeps what it was shown.
struct Told<'a> {
    answers: &'a [bool],
    rows: Vec<Vec<u8>>,
    cells: usize,
    /// Blocks that may follow.
    blocks: usize,
}

impl RowJudge for Told<'_> {
    fn begin(&mut self, row: &[u8]) -> bool {
        self.rows.push(row.to_vec());
        true
    }
    fn cell(&mut self, cell: &CellRef<'_>) -> Verdict {
        self.cells += 1;
        if ends_row(cell) { Verdict::EndRow } else { Verdict::Next }
    }
    fn refuses(&mut self) -> bool {
        self.answers[self.rows.len() - 1]
    }
    fn goes_on(&mut self) -> bool {
        self.blocks = self.blocks.saturating_sub(1);
        self.blocks > 0
    }
}

/// Behind the cell at a place, or it.
fn end_of_block(lasts: &[bool], at: usize) -> usize {
    at + lasts[at..].iter().position(|last| *last).unwrap() + 1
}

/// Nothing more of a row is to be shown.
fn ends_row(cell: &CellRef<'_>) -> bool {
    cell.value.len().is_multiple_of(5)
}

fn compare_judged(shape: Shape, seed: u64) {
    let dice = &mut Dice::new(seed);
    let cells = cells(shape, dice);
    let row_of = |at: usize| cells.get(at).map(|cell| cell.as_ref().row());
    let (bytes, _) = write(&cells, WriterOptions { block_size: 10_000, ..WriterOptions::default() });
    let src = Kept { file: FileSource { file: &bytes }, blocks: RefCell::default() };
    let mut scanner = Scanner::new(open(&bytes), true);
    let lasts = lasts(&cells, &mut scanner, &src);
    // A block that is not entered by a step does not know the next.
    let sought = lasts.iter().position(|last| *last).map_or(0, |last| last + 1);
    let mut crossed = 0;
    for refused_of_ten in [0, 5, 9, 10] {
        drive(&mut scanner, |s| s.seek_to_first(&src));
        let mut at = 0;
        while at < cells.len() {
            let most = if dice.roll(4) == 0 { 1 + dice.roll(6) } else { 1000 } as usize;
            let answers: Vec<bool> = (0..500).map(|_| dice.roll(10) < refused_of_ten).collect();
            let blocks = 1 + dice.roll(4) as usize;
            let mut judge = Told { answers: &answers, rows: Vec::new(), cells: 0, blocks };
            let rules = JudgeRules {
                oldest: 0,
                newest: u64::MAX,
                columns: None,
                other_times_pass: false,
                older_pass: false,
                most_cells: most,
            };
            let passed = scanner.pass_judged(rules, &mut judge, &src);

            let (from, mut blocks_left) = (at, blocks);
            let (mut rows, mut shown, mut count) = (Vec::new(), 0, 0);
            while count < most {
                let row = row_of(at);
                rows.extend(row.map(<[u8]>::to_vec));
                let end = at + cells[at..].iter().take_while(|cell| Some(cell.as_ref().row()) == row).count();
                let block_end = end_of_block(&lasts, at);
                let mut parts = Vec::new();
                parts.push(at..end.min(block_end));
                let knows_next = block_end != sought && block_end != cells.len();
                let mut is_left = block_end <= end && !knows_next;
                if block_end < end && knows_next {
                    // It goes on in the next block, and is left if it does not end before that does.
                    parts.push(block_end..end.min(end_of_block(&lasts, block_end)));
                    is_left = lasts[parts[1].end - 1];
                }
                let (mut shown_of_row, mut count_of_row, mut is_over) = (0, 0, false);
                for part in &parts {
                    let last = cells[part.clone()].iter().position(|cell| ends_row(&cell.as_ref()));
                    let looked_at = if is_over { 1 } else { last.map_or(part.len(), |last| last + 1) };
                    shown_of_row += if is_over { 0 } else { looked_at };
                    count_of_row += looked_at;
                    is_over |= last.is_some();
                }
                shown += shown_of_row;
                if is_left || !answers[rows.len() - 1] {
                    break;
                }
                // Those behind are not looked at where it is known where the next row begins.
                count += if shape.kept { count_of_row } else { end - at };
                at = end;
                if block_end <= at {
                    crossed += 1;
                    blocks_left = blocks_left.saturating_sub(1);
                    if blocks_left == 0 {
                        break;
                    }
                }
            }
            let what = format!("{}, seed {seed}, from {from}, {most} at most, {blocks} blocks", shape.name);
            assert_eq!((judge.rows, judge.cells, passed), (rows, shown, count), "{what}");
            assert!(scanner.peek().unwrap() == cells[at].as_ref(), "{what}");
            // The row that was not passed is left cell by cell.
            let row = row_of(at);
            while at < cells.len() && row_of(at) == row {
                at += 1;
                drive(&mut scanner, |s| s.next(&src));
            }
            assert!(scanner.peek() == cells.get(at).map(OwnedCell::as_ref), "{what}");
        }
    }
    assert!(crossed > 5, "{}", shape.name);
}

#[test]
fn rows_are_judged_as_one_by_one() {
    for shape in SHAPES {
        (1..5).for_each(|seed| compare_judged(shape, seed));
    }
}
