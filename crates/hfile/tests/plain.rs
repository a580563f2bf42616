//! `Scanner::take_plain` against the same rules, cell by cell.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use bytes::Bytes;
use martite_cell::order::compare_without_row;
use martite_cell::{CellBuf, CellRef, CellType, OwnedCell, key};
use martite_hfile::{FileSource, NEAR_CELLS, PlainEnd, PlainRules, Scanner, WriterOptions};
use support::{Dice, drive, open, sort, write};

/// Rows shorter and longer than what is compared in words; a few markers, tags, further versions and large sequence ids.
fn cells(seed: u64, with_tags: bool) -> Vec<OwnedCell> {
    let mut dice = Dice::new(seed);
    let mut cells = Vec::new();
    for number in 0..120u64 {
        let row = format!("{}{number:03}", "r".repeat(dice.roll(50) as usize));
        for column in 0..dice.roll(9) {
            let qualifier =
                ["q", "column-with-a-long-name-", ""][dice.roll(3) as usize].to_owned() + &column.to_string();
            for _ in 0..[1, 1, 1, 1, 1, 1, 2, 4][dice.roll(8) as usize] {
                let code = if dice.roll(25) == 0 { CellType::DeleteColumn } else { CellType::Put };
                let key = key::flat_key(row.as_bytes(), b"f", qualifier.as_bytes(), 90 + dice.roll(20), code as u8);
                let tags: &[u8] = if with_tags && dice.roll(25) == 0 { &[0, 2, 7, 7] } else { &[] };
                let seq_id = [0, dice.roll(100), dice.roll(1 << 40)][dice.roll(3) as usize];
                cells.push(OwnedCell::new(&key, &vec![7; dice.roll(60) as usize], tags, seq_id));
            }
        }
    }
    sort(&mut cells);
    cells.dedup_by(|b, a| a.as_ref().key == b.as_ref().key);
    cells
}

/// What a read of cells that begin at the first of `cells` does, by the words of [`PlainRules`].
struct Expected {
    taken: Vec<OwnedCell>,
    passed: usize,
    passed_last: bool,
    columns_done: usize,
    end: PlainEnd,
}

fn expected(cells: &[OwnedCell], rules: &PlainRules<'_>, in_block: usize) -> Expected {
    let mut e = Expected { taken: Vec::new(), passed: 0, passed_last: false, columns_done: 0, end: PlainEnd::Block };
    let (mut column, mut older, mut bytes, mut unwanted, mut other_times) = (rules.column, 0, 0, 0, 0);
    for (at, cell) in cells.iter().enumerate() {
        let cell = cell.as_ref();
        let is_older = column == Some(cell.qualifier());
        let in_time = (rules.oldest..=rules.newest).contains(&cell.timestamp());
        let plain = cell.type_code() == CellType::Put as u8
            && cell.tags.is_empty()
            && cell.seq_id <= rules.read_point
            && (in_time || rules.other_times_pass);
        if !cell.key.starts_with(rules.row_prefix) {
            e.end = PlainEnd::Row;
        } else if !plain {
            e.end = PlainEnd::Other;
        } else if rules.bound.is_some_and(|bound| compare_without_row(cell.key, bound).is_gt()) {
            e.end = PlainEnd::Bound;
        } else if rules.bound == Some(cell.key) || (in_time && is_older && rules.most_older == 0) {
            e.end = PlainEnd::Other;
        } else if !in_time && other_times == NEAR_CELLS || in_time && is_older && older == rules.most_older {
            e.end = PlainEnd::Far;
        } else {
            let named = rules.columns.filter(|_| in_time && !is_older).map(|columns| {
                e.columns_done = columns.iter().filter(|column| column[..] <= *cell.qualifier()).count();
                columns.iter().any(|column| column == cell.qualifier())
            });
            if !in_time {
                (e.passed, other_times) = (e.passed + 1, other_times + 1);
            } else if is_older {
                (e.passed, older) = (e.passed + 1, older + 1);
            } else if named == Some(false) {
                unwanted += 1;
                if unwanted > NEAR_CELLS {
                    e.end = PlainEnd::Far;
                    return e;
                }
                e.passed += 1;
            } else {
                unwanted = 0;
                e.taken.push(cells[at].clone());
                (column, older) = (Some(cell.qualifier()), 0);
                bytes += 4 + cell.key_value_len();
            }
            e.passed_last = !in_time || is_older || named == Some(false);
            if at as u64 + 1 == rules.most_cells || bytes >= rules.bytes_end {
                e.end = PlainEnd::Limit;
            } else if !rules.goes_on
                && rules.most_older > 0
                && rules.columns.is_some_and(|columns| columns.len() == e.columns_done)
            {
                e.end = PlainEnd::Columns;
            } else if at + 1 < in_block {
                continue;
            }
        }
        return e;
    }
    unreachable!("the block ends before the cells do")
}

/// Some qualifiers of cells that there are, and one that there is not.
fn columns(dice: &mut Dice, cells: &[OwnedCell]) -> Vec<Bytes> {
    let any = |dice: &mut Dice| cells[dice.roll(cells.len() as u64) as usize].as_ref().qualifier().to_vec();
    let mut columns: Vec<Bytes> = (0..1 + dice.roll(6)).map(|_| any(dice).into()).collect();
    if dice.roll(2) == 0 {
        columns.push([&any(dice)[..], b"-"].concat().into());
    }
    columns.sort();
    columns.dedup();
    columns
}

fn compare(seed: u64, with_tags: bool) {
    let cells = cells(seed, with_tags);
    let (bytes, _) =
        write(&cells, WriterOptions { block_size: 700, include_tags: with_tags, ..WriterOptions::default() });
    let src = FileSource { file: &bytes };
    let mut scanner = Scanner::new(open(&bytes), true);
    let mut dice = Dice::new(seed + 1);
    let (mut ends, mut passed) = ([0; 8], 0);
    for at in 0..cells.len() {
        let first = cells[at].as_ref();
        // As far as the block goes.
        drive(&mut scanner, |s| s.seek(first.key, &src));
        let mut in_block = 1;
        while !scanner.is_last_in_block() {
            drive(&mut scanner, |s| s.next(&src));
            in_block += 1;
        }
        drive(&mut scanner, |s| s.seek(first.key, &src));
        let row_prefix = [&(first.row().len() as u16).to_be_bytes()[..], first.row()].concat();
        let later = cells[(at + dice.roll(6) as usize).min(cells.len() - 1)].as_ref();
        let bounded = later.row() == first.row() && dice.roll(3) == 0;
        // Mostly between two cells.
        let mut bound_key = later.key.to_vec();
        let type_at = bound_key.len() - 1;
        bound_key[type_at] += (dice.roll(4) > 0) as u8;
        let before = at.checked_sub(1).map(|at| cells[at].as_ref()).filter(|before| before.row() == first.row());
        let some = |dice: &mut Dice, usual: u64, below: u64| if dice.roll(8) == 0 { dice.roll(below) } else { usual };
        let named = (dice.roll(2) == 0).then(|| columns(&mut dice, &cells));
        let rules = PlainRules {
            row_prefix: &row_prefix,
            oldest: some(&mut dice, 0, 100),
            newest: some(&mut dice, u64::MAX, 120),
            other_times_pass: dice.roll(2) == 0,
            read_point: some(&mut dice, u64::MAX, 90),
            bound: bounded.then_some(&bound_key[..]),
            column: before.filter(|_| dice.roll(2) == 0).map(|before| before.qualifier()),
            columns: named.as_deref(),
            most_older: dice.roll(4) as u32,
            most_cells: some(&mut dice, 1000, 4).max(1),
            bytes_end: some(&mut dice, 100_000, 400) as usize,
            goes_on: dice.roll(2) == 0,
        };
        let e = expected(&cells[at..], &rules, in_block);
        let mut out = CellBuf::new(false);
        let found = scanner.take_plain(&rules, &mut out);
        let told = (found.cells as usize, found.passed as usize, found.passed_last, found.columns_done, found.end);
        assert_eq!(told, (e.taken.len(), e.passed, e.passed_last, e.columns_done, e.end), "{at}: {first:?}");
        let last = found.last.map(|cell| cell.key().to_vec());
        assert_eq!(last.as_deref(), e.taken.last().map(|cell| cell.as_ref().key), "{at}");
        let kept = |cell: &CellRef<'_>| (cell.key.to_vec(), cell.value.to_vec());
        let wanted: Vec<_> = e.taken.iter().map(|cell| kept(&cell.as_ref())).collect();
        assert_eq!(out.iter().map(|cell| kept(&cell)).collect::<Vec<_>>(), wanted, "{at}");
        let is_at_last = matches!(e.end, PlainEnd::Limit | PlainEnd::Block | PlainEnd::Columns);
        let stands_at = at + e.taken.len() + e.passed - usize::from(is_at_last);
        assert!(scanner.peek().unwrap() == cells[stands_at].as_ref(), "{at}: {:?}", e.end);
        passed += e.passed;
        ends[e.end as usize] += 1;
    }
    // Nothing is shown here.
    let mut met = ends.iter().enumerate().filter(|(end, _)| *end != PlainEnd::Shown as usize);
    assert!(met.all(|(_, count)| *count > 5) && passed > 5, "{ends:?} {passed}");
}

#[test]
fn plain_cells_are_taken_as_one_by_one() {
    (1..7).for_each(|seed| compare(seed, seed % 2 == 1));
}

#[test]
fn large_cells_are_lent_by_their_block_which_stays() {
    let cell = |column: u8, len| {
        OwnedCell::new(&key::flat_key(b"row", b"f", &[column], 1, CellType::Put as u8), &vec![column; len], &[], 9)
    };
    let cells: Vec<_> = (0..9).map(|column| cell(column, if column % 2 == 0 { 100 } else { 40_000 })).collect();
    // Two blocks, the first one of five cells.
    let (bytes, _) = write(&cells, WriterOptions { block_size: 80_000, ..WriterOptions::default() });
    let src = FileSource { file: &bytes };
    let mut scanner = Scanner::new(open(&bytes), true);
    let rules = PlainRules {
        row_prefix: b"\0\x03row",
        oldest: 0,
        newest: u64::MAX,
        other_times_pass: false,
        read_point: u64::MAX,
        bound: None,
        column: None,
        columns: None,
        most_older: 0,
        most_cells: 1000,
        bytes_end: usize::MAX,
        goes_on: true,
    };
    let mut take = |out: &mut CellBuf| {
        drive(&mut scanner, |s| s.seek(cells[0].as_ref().key, &src));
        scanner.take_plain(&rules, out).cells as usize
    };
    let [mut lent, mut copied] = [CellBuf::new(false).borrowing(0), CellBuf::new(false)];
    let taken = take(&mut lent);
    assert_eq!((taken, take(&mut copied)), (4, 4));
    assert!(lent.own_bytes() < 500 && lent.size_bytes() == copied.size_bytes());
    drop((scanner, bytes));
    assert!(lent.iter().eq(cells[..taken].iter().map(OwnedCell::as_ref).map(|cell| CellRef { seq_id: 0, ..cell })));
    assert!(lent.into_bytes() == copied.into_bytes());
}
