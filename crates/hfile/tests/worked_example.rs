//! The bytes that docs/formats/hfile.md explains one by one.

#![allow(clippy::unwrap_used)]

mod support;

use martite_cell::{OwnedCell, key::flat_key};
use martite_hfile::WriterOptions;

/// One cell: row "r", column "f:q", timestamp 1, Put, value "v", sequence id 5.
fn file() -> Vec<u8> {
    let cell = OwnedCell::new(&flat_key(b"r", b"f", b"q", 1, 4), b"v", &[], 5);
    support::write(&[cell], WriterOptions::default()).0
}

#[test]
fn the_blocks_are_where_the_page_says() {
    let bytes = file();
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < bytes.len() - 4096 {
        let after_header = u32::from_be_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
        blocks.push((at, String::from_utf8_lossy(&bytes[at..at + 8]).into_owned()));
        at += 33 + after_header;
    }
    let blocks: Vec<_> = blocks.iter().map(|(at, magic)| (*at, magic.as_str())).collect();
    assert_eq!(
        blocks,
        [(0, "DATABLK*"), (62, "BLMFBLK2"), (101, "IDXROOT2"), (166, "IDXROOT2"), (203, "FILEINF2"), (757, "BLMFMET2"),]
    );
}

#[test]
fn the_data_block_and_the_root_index_byte_by_byte() {
    let page = "
        44 41 54 41 42 4c 4b 2a 00 00 00 1d 00 00 00 19
        ff ff ff ff ff ff ff ff 02 00 00 40 00 00 00 00
        3a 00 00 00 0f 00 00 00 01 00 01 72 01 66 71 00
        00 00 00 00 00 00 01 04 76 05 50 ac 0d d5";
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ");
    assert_eq!(hex(&file()[..62]), page.split_whitespace().collect::<Vec<_>>().join(" "));
    let root = "
        49 44 58 52 4f 4f 54 32 00 00 00 20 00 00 00 1c
        ff ff ff ff ff ff ff ff 02 00 00 40 00 00 00 00
        3d 00 00 00 00 00 00 00 00 00 00 00 3e 0f 00 01
        72 01 66 71 00 00 00 00 00 00 00 01 04 cb d9 f3
        6d";
    assert_eq!(hex(&file()[101..166]), root.split_whitespace().collect::<Vec<_>>().join(" "));
}
