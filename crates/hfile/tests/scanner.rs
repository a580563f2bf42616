//! The scanner against a sorted list, over sources that have every block and sources that have none at first.

#![allow(clippy::unwrap_used)]

mod support;

use martite_cell::{Order, OwnedCell, key};
use martite_hfile::{BlockKindHint, BlockSource, Compression, Encoding, FileSource, Scanner, Step, WriterOptions};
use support::{Cold, Dice, cells, drive, open, same, write};

fn options(encoding: Encoding) -> WriterOptions {
    WriterOptions { encoding, block_size: 400, index_block_size: 200, index_min_entries: 2, ..WriterOptions::default() }
}

/// Keys to look for: of cells, between them, before and after all.
fn some_key(cells: &[OwnedCell], dice: &mut Dice) -> Vec<u8> {
    let cell = cells[dice.roll(cells.len() as u64) as usize].as_ref();
    match dice.roll(7) {
        0 => key::first_on_row(cell.row()),
        1 => key::last_on_row(cell.row()),
        2 => key::first_on_column(cell.row(), cell.family(), cell.qualifier()),
        3 => key::last_on_column(cell.row(), cell.family(), b"aa"),
        4 => key::first_on_row(&[cell.row(), b"\0"].concat()),
        5 => key::first_on_row([&b""[..], b"row", b"zzz"][dice.roll(3) as usize]),
        _ => cell.key.to_vec(),
    }
}

/// Where a sorted list would go.
struct Model<'a> {
    cells: &'a [OwnedCell],
    /// -1 before the first cell.
    at: isize,
}

impl Model<'_> {
    fn less(&self, key: &[u8]) -> usize {
        self.cells.partition_point(|c| Order::Default.keys(c.as_ref().key, key).is_lt())
    }
    fn peek(&self) -> Option<martite_cell::CellRef<'_>> {
        self.cells.get(usize::try_from(self.at).ok()?).map(|c| c.as_ref())
    }
}

fn compare(cells: &[OwnedCell], encoding: Encoding, cold: bool, seed: u64) {
    let (bytes, _) = write(cells, options(encoding));
    let reader = open(&bytes);
    assert!(cells.len() < 100 || reader.index_levels() >= 3);
    let (warm_src, cold_src) = (FileSource { file: &bytes }, Cold::new(&bytes));
    let src: &dyn BlockSource = if cold { &cold_src } else { &warm_src };
    let mut scanner = Scanner::new(reader, true);
    let mut model = Model { cells, at: -1 };
    let mut dice = Dice::new(seed);
    for i in 0..3000 {
        if dice.roll(50) == 0 {
            cold_src.chill();
        }
        let key = some_key(cells, &mut dice);
        let what = match dice.roll(9) {
            0 => {
                drive(&mut scanner, |s| s.seek(&key, src));
                model.at = model.less(&key) as isize;
                "seek"
            }
            1 | 2 if model.at >= 0 => {
                drive(&mut scanner, |s| s.reseek(&key, src));
                model.at = model.at.max(model.less(&key) as isize);
                "reseek"
            }
            3 => {
                let found = drive(&mut scanner, |s| s.seek_before(&key, src));
                model.at = model.less(&key) as isize - 1;
                assert_eq!(found, model.at >= 0);
                "seek_before"
            }
            4 if dice.roll(5) == 0 => {
                drive(&mut scanner, |s| s.seek_to_first(src));
                model.at = 0;
                "seek_to_first"
            }
            _ => {
                drive(&mut scanner, |s| s.next(src));
                if model.at >= 0 {
                    model.at = (model.at + 1).min(cells.len() as isize);
                }
                "next"
            }
        };
        assert!(
            same(scanner.peek(), model.peek()),
            "step {i}, {what} in {encoding:?}: {:?} instead of {:?}",
            scanner.peek(),
            model.peek()
        );
        if let (Some(next), Some(cell)) = (scanner.next_index_key(), scanner.peek()) {
            assert!(Order::Default.keys(cell.key, next).is_lt());
        }
    }
    assert!(!cold || cells.len() < 100 || cold_src.misses.get() > 100);
}

#[test]
fn a_scanner_goes_where_a_sorted_list_goes() {
    for encoding in Encoding::ALL {
        compare(&cells(1500, 6, false), encoding, false, 7);
        compare(&cells(1500, 8, false), encoding, true, 9);
        compare(&cells(3, 10, false), encoding, true, 11);
    }
}

#[test]
fn an_empty_file_has_no_position() {
    let (bytes, _) = write(&[], options(Encoding::None));
    let mut scanner = Scanner::new(open(&bytes), true);
    let src = FileSource { file: &bytes };
    let key = key::first_on_row(b"r");
    assert_eq!(scanner.seek_to_first(&src).unwrap(), Step::Ready(()));
    assert_eq!(scanner.seek(&key, &src).unwrap(), Step::Ready(()));
    assert_eq!(scanner.reseek(&key, &src).unwrap(), Step::Ready(()));
    assert_eq!(scanner.seek_before(&key, &src).unwrap(), Step::Ready(false));
    assert_eq!(scanner.next(&src).unwrap(), Step::Ready(()));
    assert!(scanner.peek().is_none() && scanner.next_index_key().is_none());
}

#[test]
fn a_request_names_exactly_one_block() {
    let (bytes, _) =
        write(&cells(1500, 12, false), WriterOptions { compression: Compression::Lz4, ..options(Encoding::None) });
    let reader = open(&bytes);
    let src = Cold::new(&bytes);
    for cache in [true, false] {
        src.chill();
        let mut scanner = Scanner::new(reader.clone(), cache);
        let mut kinds = Vec::new();
        while let Step::Need(request) = scanner.seek(&key::first_on_row(b"row-5"), &src).unwrap() {
            assert_eq!(request.file, 1);
            let block = &bytes[request.offset as usize..][..request.len as usize];
            reader.decode_block(request.offset, block).unwrap();
            kinds.push((request.kind, request.cache));
        }
        let (data, index) = kinds.split_last().unwrap();
        assert_eq!(*data, (BlockKindHint::Data, cache));
        assert_eq!(index.len() as u32, reader.index_levels() - 1);
        assert!(index.iter().all(|k| *k == (BlockKindHint::Index, true)));
    }
}

#[test]
fn the_row_before_is_found_inside_a_block() {
    let cells = cells(600, 5, false);
    let (bytes, _) = write(&cells, WriterOptions { block_size: 1500, ..WriterOptions::default() });
    let src = FileSource { file: &bytes };
    let mut scanner = Scanner::new(open(&bytes), true);
    let row_of = |at: usize| cells[at].as_ref().row().to_vec();
    let mut found = 0;
    for at in 0..cells.len() {
        // A scan that goes back from a row stands in it, or in one behind it where its cells ended.
        for back_from in [at, at.saturating_sub(1), at.saturating_sub(3)] {
            drive(&mut scanner, |s| s.seek(cells[at].as_ref().key, &src));
            let (stood_at, row) = (scanner.peek().unwrap().to_owned_cell(), row_of(back_from));
            let before = (0..at).rev().find(|at| row_of(*at) < row).map(|last| {
                let first = (0..=last).rev().find(|first| *first == 0 || row_of(first - 1) < row_of(last));
                first.unwrap()
            });
            if scanner.to_row_before(&row) {
                assert_eq!(scanner.peek().unwrap(), cells[before.unwrap()].as_ref(), "{at} {back_from}");
                found += 1;
            } else {
                assert_eq!(scanner.peek().unwrap(), stood_at.as_ref(), "{at} {back_from}");
            }
        }
    }
    // In each block but for the first rows of it.
    assert!(found > 2 * cells.len(), "{found} of {}", 3 * cells.len());
}
