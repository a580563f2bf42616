//! Cells in order, columns passed over, memory counted, many threads at once.

use super::super::arena::{BIG_PIECE, MIN_CHUNK, bytes_of_chunk};
use super::*;
use martite_cell::{OwnedCell, key};

fn cell(row: u32, ts: u64, seq_id: u64, value: &[u8]) -> OwnedCell {
    let mut cell = OwnedCell::put(format!("row{row:05}").as_bytes(), b"f", b"q", ts, value);
    cell.seq_id = seq_id;
    cell
}

fn all(list: &Arc<SkipList>) -> Vec<OwnedCell> {
    let mut cursor = Cursor::new(list.clone());
    cursor.seek_to_first();
    let mut cells = Vec::new();
    while let Some(c) = cursor.peek() {
        cells.push(c.to_owned_cell());
        cursor.next();
    }
    cells
}

#[test]
fn cells_come_back_in_order_whole() {
    let list = Arc::new(SkipList::new(Order::Default));
    let rows = if cfg!(miri) { 40 } else { 2_000 };
    let mut expected = Vec::new();
    for i in 0..rows {
        let row = (i * 7919) % rows;
        let c = cell(row, u64::from(i % 3), u64::from(i), &vec![i as u8; (i % 90) as usize]);
        list.insert(&c.as_ref());
        expected.push(c);
    }
    expected.sort_by(|a, b| Order::Default.cells(&a.as_ref(), &b.as_ref()));
    assert_eq!(all(&list), expected);
    assert_eq!(list.len(), rows as usize);
}

#[test]
fn newest_sequence_id_first_and_of_equals_only_the_last_added() {
    let list = Arc::new(SkipList::new(Order::Default));
    for (seq, value) in [(5, &b"old"[..]), (9, b"new"), (5, b"again")] {
        list.insert(&cell(1, 1, seq, value).as_ref());
    }
    let values: Vec<_> = all(&list).iter().map(|c| c.as_ref().value.to_vec()).collect();
    assert_eq!(values, [&b"new"[..], b"again"]);
}

#[test]
fn seeks_land_on_both_sides_of_a_key() {
    let list = Arc::new(SkipList::new(Order::Default));
    let mut cursor = Cursor::new(list.clone());
    cursor.seek_to_last();
    assert!(cursor.peek().is_none());
    assert!(!cursor.seek_before(&key::first_on_row(b"row00000")));
    for row in [10, 20, 30] {
        list.insert(&cell(row, 1, 1, b"v").as_ref());
    }
    cursor.seek(&key::first_on_row(b"row00020"));
    assert_eq!(cursor.peek().map(|c| c.row().to_vec()), Some(b"row00020".to_vec()));
    assert!(cursor.seek_before(&key::first_on_row(b"row00020")));
    assert_eq!(cursor.peek().map(|c| c.row().to_vec()), Some(b"row00010".to_vec()));
    cursor.seek(&key::first_on_row(b"row00031"));
    assert!(cursor.peek().is_none());
    assert!(!cursor.seek_before(&key::first_on_row(b"row00010")));
    cursor.seek_to_last();
    assert_eq!(cursor.peek().map(|c| c.row().to_vec()), Some(b"row00030".to_vec()));
}

#[test]
fn rows_are_found_as_by_a_search() {
    let list = Arc::new(SkipList::new(Order::Default));
    let rows = if cfg!(miri) { 30 } else { 700 };
    // Some rows have one cell, some hundreds of versions.
    for i in 0..rows * 3 {
        let row = (i * 7919) % rows;
        for version in 0..if row % 50 == 7 { 100 } else { 1 } {
            list.insert(&cell(row * 2, version, u64::from(i), b"v").as_ref());
        }
    }
    let (mut found, mut searched) = (Cursor::new(list.clone()), Cursor::new(list.clone()));
    for row in 0..rows * 2 {
        let row = format!("row{row:05}").into_bytes();
        searched.seek(&key::first_on_row(&row));
        let there = searched.peek().is_some_and(|c| c.row() == row);
        assert_eq!(found.seek_to_row(&row), there, "{row:?}");
        assert!(!there || found.node == searched.node);
    }
}

/// Of each column the first cell; as a run that takes columns sees them.
fn newest(list: &Arc<SkipList>) -> Vec<OwnedCell> {
    let mut cursor = Cursor::new(list.clone());
    cursor.seek_to_first();
    let mut cells = Vec::new();
    cursor.run(|cell| {
        cells.push(cell.as_cell().to_owned_cell());
        Visit::TakeColumn
    });
    cells
}

fn assert_columns_are_passed(list: &Arc<SkipList>) {
    let mut expected = all(list);
    expected.dedup_by(|b, a| a.as_ref().row() == b.as_ref().row() && a.as_ref().qualifier() == b.as_ref().qualifier());
    assert_eq!(newest(list), expected);
}

#[test]
fn further_versions_of_a_column_are_passed_over() {
    let list = Arc::new(SkipList::new(Order::Default));
    let versions = if cfg!(miri) { 50 } else { 300 };
    let put = |row: u32, qualifier: &str, timestamp: u64| {
        let row = format!("row{row}");
        let mut cell = OwnedCell::put(row.as_bytes(), b"f", qualifier.as_bytes(), timestamp, b"v");
        cell.seq_id = timestamp;
        list.insert(&cell.as_ref());
    };
    // Newest first, oldest first, and in between.
    for i in 0..versions {
        put(1, "a", i);
        put(1, "b", versions - i);
        put(1, "c", i * 7919 % versions);
        put(2, "", i);
        if i % 40 == 0 {
            put(1, &format!("a{i}"), i);
            assert_columns_are_passed(&list);
        }
    }
    for _ in 0..2 {
        assert_columns_are_passed(&list);
    }
    // What comes behind the oldest is seen, too, and new columns between.
    for i in 0..10 {
        put(1, "a", 0);
        put(1, "bb", i);
        put(1, "b", versions + i);
        assert_columns_are_passed(&list);
    }
}

#[test]
fn columns_are_passed_over_while_versions_come() {
    let list = Arc::new(SkipList::new(Order::Default));
    let (threads, each) = if cfg!(miri) { (2, 30) } else { (3, 4_000) };
    let columns = ["a", "b", "c"];
    for qualifier in columns {
        list.insert(&OwnedCell::put(b"row", b"f", qualifier.as_bytes(), u64::MAX >> 2, b"v").as_ref());
    }
    std::thread::scope(|scope| {
        for t in 0..threads {
            let list = &list;
            scope.spawn(move || {
                for i in 0..each {
                    let timestamp = if i % 2 == 0 { i } else { each - i };
                    let qualifier = columns[(i as usize + t) % columns.len()];
                    let mut cell = OwnedCell::put(b"row", b"f", qualifier.as_bytes(), timestamp, b"v");
                    cell.seq_id = i;
                    list.insert(&cell.as_ref());
                }
            });
        }
        let list = &list;
        scope.spawn(move || {
            while list.len() < threads * each as usize {
                let seen = newest(list);
                let qualifiers: Vec<_> = seen.iter().map(|cell| cell.as_ref().qualifier().to_vec()).collect();
                assert_eq!(qualifiers, columns.map(|c| c.as_bytes().to_vec()));
            }
        });
    });
    assert_columns_are_passed(&list);
}

#[test]
fn one_inserter_puts_cells_where_many_do() {
    let lists = [Arc::new(SkipList::new(Order::Default)), Arc::new(SkipList::new(Order::Default))];
    let mut one = Inserter::new(&lists[0]);
    let rows = if cfg!(miri) { 20 } else { 400 };
    for i in 0..rows * 5 {
        // Up and down, near and far, rows that are there and others.
        let row = if i % 7 < 4 { i / 7 } else { (i * 7919) % rows };
        let cell = cell(row, u64::from(i % 11), u64::from(i), &i.to_le_bytes());
        one.insert(&cell.as_ref());
        lists[1].insert(&cell.as_ref());
    }
    assert_eq!(all(&lists[0]), all(&lists[1]));
    let mut cursor = Cursor::new(lists[0].clone());
    for c in all(&lists[1]) {
        assert!(cursor.seek_to_row(c.as_ref().row()));
        assert!(cursor.peek().is_some_and(|first| first.row() == c.as_ref().row()));
        assert!(!cursor.peek().is_some_and(|first| Order::Default.cells(&first, &c.as_ref()).is_gt()));
    }
}

#[test]
fn memory_is_counted_to_the_byte() {
    let list = Arc::new(SkipList::new(Order::Default));
    assert_eq!(list.allocated_bytes(), 0);
    let small = cell(1, 1, 1, b"v");
    list.insert(&small.as_ref());
    let index = list.rows.allocated_bytes();
    assert!(index > 0);
    assert_eq!(list.used_bytes() - index, node_size(&small.as_ref(), height_of(0)) as u64);
    assert_eq!(list.allocated_bytes() - index, bytes_of_chunk(MIN_CHUNK));
    let big = cell(2, 1, 1, &vec![7; BIG_PIECE + 1]);
    list.insert(&big.as_ref());
    let big_bytes = bytes_of_chunk(node_size(&big.as_ref(), height_of(1)));
    let index = list.rows.allocated_bytes();
    assert_eq!(list.allocated_bytes() - index, bytes_of_chunk(MIN_CHUNK) + big_bytes);
    assert_eq!(all(&list)[1], big);
}

#[test]
fn threads_insert_together_while_one_reads() {
    let list = Arc::new(SkipList::new(Order::Default));
    let (threads, each) = if cfg!(miri) { (3, 20) } else { (4, 3_000) };
    std::thread::scope(|scope| {
        for t in 0..threads {
            let list = &list;
            scope.spawn(move || {
                for i in 0..each {
                    list.insert(
                        &cell((i * 31 + t * 17) % 500, u64::from(i % 7), u64::from(t * each + i), b"v").as_ref(),
                    );
                }
            });
        }
        let list = &list;
        scope.spawn(move || {
            while list.len() < (threads * each / 2) as usize {
                let seen = all(list);
                assert!(seen.is_sorted_by(|a, b| Order::Default.cells(&a.as_ref(), &b.as_ref()).is_le()));
            }
        });
    });
    let cells = all(&list);
    let mut cursor = Cursor::new(list.clone());
    for at in 0..cells.len() {
        let (row, before) = (cells[at].as_ref().row().to_vec(), at.checked_sub(1).map(|i| cells[i].as_ref()));
        if before.is_none_or(|before| before.row() != row) {
            assert!(cursor.seek_to_row(&row));
            assert_eq!(cursor.peek().map(|c| c.to_owned_cell()).as_ref(), Some(&cells[at]));
        }
    }
    assert_eq!(cells.len(), (threads * each) as usize);
    assert!(cells.is_sorted_by(|a, b| Order::Default.cells(&a.as_ref(), &b.as_ref()).is_lt()));
}
