//! What is written comes back, under every option.

#![allow(clippy::unwrap_used)]

mod support;

use martite_cell::{CellType, Order, OwnedCell, key::flat_key};
use martite_hfile::{
    Block, BlockKindHint, BlockRequest, BlockSource, BlockType, BloomType, ChecksumType, Compression, Encoding,
    FileSource, HFileError, Reader, Scanner, Step, StoreMeta, Writer, WriterOptions, format, format::info,
};
use std::sync::Arc;
use support::{cells, open, read_all, write};

/// Small enough for several levels of index.
fn small() -> WriterOptions {
    WriterOptions {
        name: "sample".to_owned(),
        block_size: 512,
        index_block_size: 256,
        index_min_entries: 4,
        bloom_block_size: 256,
        include_tags: true,
        ..WriterOptions::default()
    }
}

fn check(cells: &[OwnedCell], options: WriterOptions) {
    let what = format!("{options:?}");
    let (bytes, finished) = write(cells, options.clone());
    let reader = open(&bytes);
    let src = FileSource { file: &bytes };
    assert!(read_all(&reader, &src).unwrap() == cells, "{what}");
    assert_eq!((reader.entries(), finished.entries), (cells.len() as u64, cells.len() as u64), "{what}");
    assert_eq!(reader.last_key(), cells.last().map(|c| c.as_ref().key), "{what}");
    assert_eq!(finished.last_key.as_deref(), reader.last_key());
    let first = cells.first().map(|c| c.as_ref().key.to_vec());
    assert_eq!(reader.first_key(&src).unwrap().ready().unwrap(), first, "{what}");
    assert_eq!(finished.first_key, first);
    assert_eq!((reader.time_range(), reader.max_seq_id()), (finished.time_range, Some(77)));
    assert_eq!(reader.compression(), options.compression);
    assert_eq!(reader.encoding(), options.encoding);
    assert_eq!(reader.delete_family_count(), Some(finished.delete_family_count));
    assert_eq!(reader.total_uncompressed_bytes(), finished.total_uncompressed_bytes);
}

#[test]
fn every_compression_and_encoding() {
    let cells = cells(700, 1, true);
    for compression in [Compression::None, Compression::Gz, Compression::Snappy, Compression::Lz4, Compression::Zstd] {
        for encoding in Encoding::ALL {
            for compress_tags in [false, true] {
                check(&cells, WriterOptions { compression, encoding, compress_tags, ..small() });
            }
        }
    }
}

/// Data blocks from their payloads, as a cache on disk keeps them.
struct Restored<'a> {
    file: FileSource<'a>,
    restored: std::cell::Cell<usize>,
}

impl BlockSource for Restored<'_> {
    fn get(&self, reader: &Reader, request: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        let Some(block) = self.file.get(reader, request)?.filter(|b| b.kind == BlockType::Data) else {
            return self.file.get(reader, request);
        };
        self.restored.set(self.restored.get() + 1);
        let bytes = [b"header", block.payload()].concat();
        let restored = reader.restore_data_block(block.offset, block.on_disk_size, bytes, 6)?;
        assert_eq!((restored.payload(), restored.kind), (block.payload(), block.kind));
        assert_eq!((restored.offset, restored.on_disk_size), (request.offset, request.len));
        Ok(Some(Arc::new(restored)))
    }
    fn may_block(&self) -> bool {
        true
    }
}

#[test]
fn blocks_come_back_from_their_payloads() {
    let cells = cells(700, 5, true);
    for compression in [Compression::None, Compression::Zstd] {
        for encoding in Encoding::ALL {
            let (bytes, _) = write(&cells, WriterOptions { compression, encoding, ..small() });
            let reader = open(&bytes);
            let src = Restored { file: FileSource { file: &bytes }, restored: 0.into() };
            assert!(read_all(&reader, &src).unwrap() == cells, "{compression:?} {encoding:?}");
            assert!(src.restored.get() > 10);
            let mut scanner = Scanner::new(reader.clone(), false);
            for cell in cells.iter().step_by(7) {
                assert_eq!(scanner.seek(cell.as_ref().key, &src).unwrap(), Step::Ready(()));
                assert_eq!(scanner.peek().unwrap().key, cell.as_ref().key);
            }
        }
    }
}

#[test]
fn a_payload_that_is_none_is_refused() {
    let (bytes, _) = write(&cells(50, 6, true), small());
    let reader = open(&bytes);
    let request =
        BlockRequest { file: 1, offset: 0, len: on_disk_size(&bytes), kind: BlockKindHint::Data, cache: true };
    let block = FileSource { file: &bytes }.get(&reader, &request).unwrap().unwrap();
    let payload = block.payload();
    assert!(reader.restore_data_block(0, request.len, payload.to_vec(), 0).is_ok());
    for (bad, start) in [(payload[..payload.len() - 1].to_vec(), 0), (payload.to_vec(), 1), (vec![], 1)] {
        let error = reader.restore_data_block(0, request.len, bad, start).unwrap_err();
        assert!(matches!(&error, HFileError::Corrupt { offset: 0, .. }), "{error}");
    }
}

/// Of the first block.
fn on_disk_size(bytes: &[u8]) -> u32 {
    format::HEADER_BYTES as u32 + u32::from_be_bytes(bytes[8..12].try_into().unwrap())
}

#[test]
fn every_checksum_with_small_and_large_chunks() {
    let cells = cells(300, 2, true);
    for checksum in [ChecksumType::Null, ChecksumType::Crc32, ChecksumType::Crc32c] {
        for bytes_per_checksum in [33, 100, 16 << 10, u32::MAX] {
            check(&cells, WriterOptions { checksum, bytes_per_checksum, ..small() });
        }
    }
}

#[test]
fn with_and_without_tags_and_sequence_ids() {
    for (include_tags, include_mvcc) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut cells = cells(300, 3, include_tags);
        if !include_mvcc {
            cells.iter_mut().for_each(|c| c.seq_id = 0);
        }
        for encoding in Encoding::ALL {
            check(&cells, WriterOptions { encoding, include_tags, include_mvcc, ..small() });
        }
    }
}

#[test]
fn from_no_cells_to_one_large_one() {
    for encoding in Encoding::ALL {
        for compression in
            [Compression::None, Compression::Gz, Compression::Snappy, Compression::Lz4, Compression::Zstd]
        {
            let options = WriterOptions { encoding, compression, ..small() };
            check(&[], options.clone());
            check(&[OwnedCell::put(b"", b"", b"", 0, b"")], options.clone());
            check(&[OwnedCell::put(b"r", b"f", b"q", 1, &vec![7; 3 << 20])], options);
        }
    }
}

#[test]
fn index_levels_grow_with_the_file() {
    let mut levels = Vec::new();
    for count in [10, 100, 2000, 20_000] {
        let cells = cells(count, 4, false);
        check(&cells, small());
        let (bytes, _) = write(&cells, small());
        let reader = open(&bytes);
        levels.push(reader.index_levels());
        let src = FileSource { file: &bytes };
        let middle = reader.mid_key(&src).unwrap().unwrap();
        let before = cells.iter().filter(|c| Order::Default.keys(c.as_ref().key, &middle).is_lt()).count();
        let share = before as f64 / cells.len() as f64;
        assert!(count < 100 || (0.4..0.6).contains(&share), "{share} of the cells are before the mid key of {count}");
    }
    assert!(levels.is_sorted() && levels[0] == 1 && levels[3] >= 4, "{levels:?}");
}

#[test]
fn rows_of_meta_keep_their_own_order() {
    let mut rows = ["t,,1", "t,a,1", "t,a,b,1", "t ,,1", "t,zz,9", "t1,,1", "t,\x01,5"].map(String::from).to_vec();
    rows.sort_by(|a, b| Order::Meta.rows(a.as_bytes(), b.as_bytes()));
    let cells: Vec<_> = rows.iter().map(|r| OwnedCell::put(r.as_bytes(), b"info", b"server", 1, &[1; 100])).collect();
    check(&cells, WriterOptions { order: Order::Meta, block_size: 100, ..small() });
    assert_eq!(open(&write(&cells, WriterOptions { order: Order::Meta, ..small() }).0).order(), Order::Meta);
}

#[test]
fn file_info_and_meta_blocks_are_kept() {
    let mut writer = Writer::new(Vec::new(), WriterOptions { create_time_ms: 123, ..small() }).unwrap();
    writer.append(&OwnedCell::put(b"r", b"f", b"q", 5, b"v").as_ref()).unwrap();
    writer.append_file_info(info::BULKLOAD_TIMESTAMP, &9u64.to_be_bytes());
    writer.append_file_info(b"mine", b"\0\x01");
    writer.append_meta_block(b"second", b"2");
    writer.append_meta_block(b"first", b"one");
    let meta = StoreMeta {
        max_seq_id: Some(5),
        major_compaction: true,
        exclude_from_minor_compaction: true,
        compacted_inputs: vec!["aa".to_owned(), "bb".to_owned()],
    };
    let (bytes, finished) = writer.finish(meta).unwrap();
    let reader = open(&bytes);
    let src = FileSource { file: &bytes };
    assert_eq!((reader.bulk_load_time_ms(), reader.file_info().get(b"mine")), (Some(9), Some(&b"\0\x01"[..])));
    assert_eq!((reader.max_seq_id(), reader.create_time_ms(), reader.earliest_put_ms()), (Some(5), Some(123), Some(5)));
    assert!(reader.is_major_compaction() && reader.excluded_from_minor_compaction());
    assert_eq!(reader.compacted_inputs(), ["aa", "bb"]);
    assert_eq!(reader.meta_block_names().collect::<Vec<_>>(), [&b"first"[..], b"second"]);
    let first = reader.meta_block(b"first", &src).unwrap().ready().unwrap().unwrap();
    assert_eq!(first.payload(), b"one");
    assert!(reader.meta_block(b"fir", &src).unwrap().ready().unwrap().is_none());
    assert_eq!(finished.time_range, Some((5, 5)));
}

#[test]
fn a_delete_of_a_column_or_family_reaches_back_to_the_beginning_of_time() {
    for (code, min) in [(CellType::DeleteFamily, 0), (CellType::DeleteColumn, 0), (CellType::DeleteFamilyVersion, 9)] {
        let cell = OwnedCell::new(&flat_key(b"r", b"f", b"", 9, code as u8), b"", &[], 0);
        assert_eq!(write(&[cell], small()).1.time_range, Some((min, 9)), "{code:?}");
    }
}

#[test]
fn cells_that_do_not_fit_are_refused() {
    let refuse = |cells: &[OwnedCell], options: WriterOptions| -> String {
        let mut writer = Writer::new(Vec::new(), options).unwrap();
        let mut last = Ok(());
        for cell in cells {
            assert!(last.is_ok());
            last = writer.append(&cell.as_ref());
        }
        match last.unwrap_err() {
            HFileError::BadCell { reason, .. } => reason,
            other => panic!("{other}"),
        }
    };
    let put = |row: &[u8]| OwnedCell::put(row, b"f", b"q", 1, b"");
    assert!(refuse(&[put(b"b"), put(b"a")], small()).starts_with("it sorts before the cell appended last: a/f:q/1"));
    let tagged = OwnedCell::new(put(b"a").as_ref().key, b"", &[0, 2, 1, 1], 0);
    assert!(refuse(&[tagged], WriterOptions { include_tags: false, ..small() }).starts_with("it has tags"));
    assert!(refuse(&[OwnedCell::new(b"short", b"", &[], 0)], small()).contains("truncated cell"));
    let error = Writer::new(Vec::new(), WriterOptions { compression: Compression::Lzo, ..small() }).err().unwrap();
    assert_eq!(error.to_string(), "sample: compression LZO is not supported");
}

#[test]
fn bloom_filters_miss_nothing_and_find_little_else() {
    let cells = cells(4000, 5, false);
    let all = [BloomType::None, BloomType::Row, BloomType::RowCol, BloomType::RowPrefix(7)];
    for bloom in all {
        for compression in [Compression::None, Compression::Gz] {
            let (bytes, _) = write(&cells, WriterOptions { bloom, compression, bloom_block_size: 512, ..small() });
            let reader = open(&bytes);
            assert_eq!(reader.bloom_type(), bloom);
            check_bloom(&cells, &reader, &bytes);
        }
    }
}

fn check_bloom(cells: &[OwnedCell], reader: &Reader, bytes: &Vec<u8>) {
    let src = FileSource { file: bytes };
    let bloom = reader.bloom_type();
    for cell in cells.iter().map(|c| c.as_ref()) {
        assert!(reader.may_contain_row(cell.row(), &src).unwrap().ready().unwrap(), "{bloom:?} {cell:?}");
        assert!(reader.may_contain_row_col(cell.row(), cell.qualifier(), &src).unwrap().ready().unwrap());
        if cell.type_code() == 14 || cell.type_code() == 10 {
            assert!(reader.may_contain_delete_family(cell.row(), &src).unwrap().ready().unwrap());
            assert!(reader.may_contain_row_col(cell.row(), b"any", &src).unwrap().ready().unwrap());
        }
        let stop = [cell.row(), b"\xff"].concat();
        assert!(reader.may_contain_prefix_of(cell.row(), &stop, &src).unwrap().ready().unwrap());
    }
    let others = 4000;
    let rate = |ask: &dyn Fn(&str) -> bool| {
        (0..others).filter(|i| ask(&format!("row-{:03}x{i}", (i * 7) % 1000))).count() as f64 / others as f64
    };
    let row = rate(&|row| reader.may_contain_row(row.as_bytes(), &src).unwrap().ready().unwrap());
    let column = rate(&|row| reader.may_contain_row_col(row.as_bytes(), b"a", &src).unwrap().ready().unwrap());
    let deleted = rate(&|row| reader.may_contain_delete_family(row.as_bytes(), &src).unwrap().ready().unwrap());
    match bloom {
        BloomType::Row => assert!(row < 0.02 && column < 0.02 && deleted < 0.02, "{row} {column} {deleted}"),
        BloomType::RowCol => assert!(row == 1.0 && column < 0.02 && deleted == 1.0, "{row} {column} {deleted}"),
        // The prefix "row-123" is there or not, whatever follows; the filter adds its 1 %.
        BloomType::RowPrefix(_) => assert!(row < 1.0 && deleted < 0.02, "{row} {deleted}"),
        BloomType::None => assert!(row == 1.0 && column == 1.0 && deleted < 0.02, "{row} {column} {deleted}"),
    }
}
