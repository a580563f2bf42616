//! Damaged files: an error that names the file, or the same cells; never a panic, never other cells.

#![allow(clippy::unwrap_used)]

mod support;

use martite_cell::OwnedCell;
use martite_hfile::{BloomType, ChecksumType, Compression, Encoding, FileSource, HFileError, Reader, WriterOptions};
use std::sync::Arc;
use support::{cells, read_all, write};

fn options() -> WriterOptions {
    WriterOptions {
        block_size: 300,
        index_block_size: 150,
        index_min_entries: 2,
        bloom_block_size: 128,
        include_tags: true,
        ..WriterOptions::default()
    }
}

/// Everything that a file answers: its cells, and its filter's answers for rows that it has.
fn read(bytes: &Vec<u8>) -> Result<Vec<OwnedCell>, HFileError> {
    let reader = Arc::new(Reader::open(1, "damaged", bytes)?);
    let src = FileSource { file: bytes };
    let cells = read_all(&reader, &src)?;
    for cell in cells.iter().map(|c| c.as_ref()) {
        for answer in
            [reader.may_contain_row(cell.row(), &src)?, reader.may_contain_row_col(cell.row(), cell.qualifier(), &src)?]
        {
            assert_eq!(answer.ready(), Some(true), "{cell:?}");
        }
        reader.may_contain_delete_family(cell.row(), &src)?;
    }
    reader.mid_key(&src)?;
    Ok(cells)
}

#[test]
fn every_flipped_byte_is_noticed_or_harmless() {
    let cells = cells(35, 20, true);
    for (compression, encoding, bloom) in [
        (Compression::None, Encoding::None, BloomType::Row),
        (Compression::Snappy, Encoding::FastDiff, BloomType::RowCol),
        (Compression::Gz, Encoding::Diff, BloomType::RowPrefix(5)),
        (Compression::Zstd, Encoding::Prefix, BloomType::Row),
        (Compression::Lz4, Encoding::RowIndexV1, BloomType::None),
    ] {
        let (bytes, _) =
            write(&cells, WriterOptions { compression, encoding, bloom, compress_tags: true, ..options() });
        assert!(read(&bytes).unwrap() == cells);
        let trailer = bytes.len() - 4096;
        for at in 0..bytes.len() {
            // The zeros at the end of the trailer say nothing.
            if (trailer + 250..bytes.len() - 4).contains(&at) {
                continue;
            }
            for flip in [1, 2, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                match read(&damaged) {
                    Ok(back) => {
                        assert!(back == cells, "byte {at} ^ {flip} of {} changes cells", bytes.len());
                        // In a block only one flip can stay unnoticed: the one that turns its checksum off.
                        assert!(at >= trailer || bytes[at] == 2 && flip == 2, "byte {at} ^ {flip}");
                    }
                    Err(error) => assert!(error.to_string().starts_with("damaged"), "{error}"),
                }
            }
        }
    }
}

#[test]
fn without_checksums_damage_may_change_cells_but_not_crash() {
    let cells = cells(40, 21, true);
    for encoding in Encoding::ALL {
        for compression in [Compression::None, Compression::Snappy, Compression::Lz4, Compression::Zstd] {
            let checksum = ChecksumType::Null;
            let (bytes, _) = write(&cells, WriterOptions { compression, encoding, checksum, ..options() });
            for at in 0..bytes.len() - 4096 {
                for flip in [1, 0xff] {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= flip;
                    if let Ok(reader) = Reader::open(1, "damaged", &damaged) {
                        let _ = read_all(&Arc::new(reader), &FileSource { file: &damaged });
                    }
                }
            }
        }
    }
}

#[test]
fn every_truncation_is_noticed() {
    let (bytes, _) = write(&cells(60, 22, true), options());
    for len in 0..bytes.len() {
        let torn = bytes[..len].to_vec();
        let error = Reader::open(1, "torn", &torn).map(drop).expect_err("opened");
        assert!(error.to_string().starts_with("torn"), "{error}");
    }
}

#[test]
fn errors_name_file_offset_and_finding() {
    let (mut bytes, _) = write(&cells(60, 23, false), options());
    bytes[40] ^= 1;
    let error = read(&bytes).unwrap_err().to_string();
    assert!(error.starts_with("damaged is corrupt at offset 0: Crc32c of "), "{error}");
    let error = Reader::open(1, "x", &vec![0; 100]).map(drop).unwrap_err().to_string();
    assert_eq!(error, "x is corrupt at offset 0: 100 bytes are too few for an HFile");
}
