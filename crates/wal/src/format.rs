//! The bytes of HBase's protobuf WAL; a page with a worked example is `docs/formats/wal.md`.
//!
//! ```text
//! file    | "PWAL" | varint length | WALHeader | entry … | trailer |
//! entry   | varint length | WALKey | cell × following_kv_count |     cell = u32 length, KeyValue with tags
//! trailer | WALTrailer (empty) | u32 its length | "LAWP" |           absent if the writer did not close the file
//! ```
//!
//! What HBase ignores and we add: fields 1000 of the header, a salt, and 1001, the CRC-32C of the header's bytes before it.
//! They say that every key ends with a checksum attribute:
//!
//! ```text
//! 62 17                       field 12, extended attribute, 23 bytes
//!    0a 0e "martite.crc32c"   its key
//!    12 05 cc cc cc cc ff     its value: CRC-32C, flags
//! ```
//!
//! The CRC-32C covers the salt (4 bytes, big-endian), the key without these 25 bytes, the cells, and the flags. Flag 1
//! says that everything before the entry was durable when the entry was written. It tells a torn tail from bit rot:
//! if a sound entry with flag 1 follows a damaged one, the damage was not there when the file was synced.
//!
//! Source: HBase 2.6 `AbstractProtobufLogWriter`, `AbstractProtobufWALReader`, `WALKeyImpl`, `WALCellCodec`.

use crate::entry::{Entry, Scope};
use crate::error::WalError;
use crc_fast::{CrcAlgorithm, Digest};
use martite_proto as pb;
use prost::Message;

/// First bytes of a file.
pub const MAGIC: &[u8; 4] = b"PWAL";
/// Last bytes of a file that was closed.
pub const TRAILER_MAGIC: &[u8; 4] = b"LAWP";
/// The whole trailer: an empty message, its length, the magic.
pub const TRAILER: &[u8; 8] = b"\0\0\0\0LAWP";
/// The writer that HBase's readers accept.
pub const WRITER_CLASS: &str = "ProtobufLogWriter";
/// How the cells are written.
pub const CELL_CODEC_CLASS: &str = "org.apache.hadoop.hbase.regionserver.wal.WALCellCodec";
/// The attribute that holds the checksum.
pub const CHECKSUM_ATTRIBUTE: &str = "martite.crc32c";
/// Everything before this entry was durable when it was written.
pub const FLAG_SYNCED_BEFORE: u8 = 1;
/// Family of the markers that regions write for themselves.
pub const METAFAMILY: &[u8] = b"METAFAMILY";

/// The checksum attribute up to its value.
pub(crate) const CHECKSUM_HEAD: &[u8; 20] = b"\x62\x17\x0a\x0emartite.crc32c\x12\x05";
/// The whole checksum attribute.
pub(crate) const CHECKSUM_LEN: usize = CHECKSUM_HEAD.len() + 5;

/// The part of the header that is ours.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ChecksumHeader {
    #[prost(fixed32, optional, tag = "1000")]
    pub salt: Option<u32>,
    #[prost(fixed32, optional, tag = "1001")]
    pub check: Option<u32>,
}

/// Bytes of field 1001.
const CHECK_LEN: usize = 6;

impl ChecksumHeader {
    /// The salt of a header; an error if it is ours and damaged.
    pub fn checked_salt(header: &[u8]) -> Result<Option<u32>, &'static str> {
        let ours = ChecksumHeader::decode(header).map_err(|_| "the header is no message")?;
        match (ours.salt, ours.check) {
            (None, None) => Ok(None),
            (Some(salt), Some(check)) if header.len() > CHECK_LEN => {
                let good = crc32c(&header[..header.len() - CHECK_LEN]) == check;
                if good { Ok(Some(salt)) } else { Err("the header has a wrong checksum") }
            }
            _ => Err("the header is damaged"),
        }
    }
}

/// Magic and header of a file whose entries carry checksums under `salt`.
pub fn file_header(salt: u32) -> Vec<u8> {
    let header = pb::WalHeader {
        has_compression: Some(false),
        has_tag_compression: Some(false),
        has_value_compression: Some(false),
        writer_cls_name: Some(WRITER_CLASS.into()),
        cell_codec_cls_name: Some(CELL_CODEC_CLASS.into()),
        ..pb::WalHeader::default()
    };
    let mut message = header.encode_to_vec();
    message.extend(ChecksumHeader { salt: Some(salt), check: None }.encode_to_vec());
    let check = crc32c(&message);
    message.extend(ChecksumHeader { salt: None, check: Some(check) }.encode_to_vec());
    let mut out = MAGIC.to_vec();
    put_varint(&mut out, message.len() as u64);
    out.extend(message);
    out
}

/// Makes the first part of a log's file names from a server name: `host,port,startcode`, URL-encoded.
///
/// ```
/// assert_eq!(martite_wal::format::file_prefix("h1.example,16020,1700000000000"), "h1.example%2C16020%2C1700000000000");
/// ```
pub fn file_prefix(server_name: &str) -> String {
    let mut out = String::with_capacity(server_name.len() + 8);
    for byte in server_name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => out.push(byte as char),
            // What Java's URLEncoder does.
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

pub(crate) fn put_varint(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// A varint and its length; `None` if the bytes end first or it is longer than a `u64`.
pub(crate) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut n = 0u64;
    for (i, byte) in bytes.iter().take(10).enumerate() {
        if i == 9 && *byte > 1 {
            return None;
        }
        n |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Some((n, i + 1));
        }
    }
    None
}

fn put_bytes(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn put_number(out: &mut Vec<u8>, tag: u8, n: u64) {
    out.push(tag);
    put_varint(out, n);
}

/// Where the checksum of an encoded entry is, and its state before the flags: enough to write it again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checksum {
    /// Offset of the value from the start of the entry.
    pub at: usize,
    state: u64,
}

impl Checksum {
    fn start(salt: u32) -> Digest {
        let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
        digest.update(&salt.to_be_bytes());
        digest
    }
    pub fn value(&self, flags: u8) -> [u8; 5] {
        let mut digest = Digest::new_with_init_state(CrcAlgorithm::Crc32Iscsi, self.state);
        digest.update(&[flags]);
        let [a, b, c, d] = (digest.finalize() as u32).to_be_bytes();
        [a, b, c, d, flags]
    }
    /// The checksum of a key without its attribute, and of cells.
    pub fn of(salt: u32, at: usize, key: &[u8], cells: &[u8]) -> Checksum {
        let mut digest = Checksum::start(salt);
        digest.update(key);
        digest.update(cells);
        Checksum { at, state: digest.get_state() }
    }
}

/// The checksum of arbitrary bytes, for salts.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    crc_fast::checksum(CrcAlgorithm::Crc32Iscsi, bytes) as u32
}

/// Appends an entry, with flags 0.
pub(crate) fn append_entry(out: &mut Vec<u8>, salt: u32, entry: &Entry<'_>) -> Result<Checksum, WalError> {
    if entry.region.is_empty() || entry.table.is_empty() {
        return Err(WalError::BadEntry("an entry needs a region and a table".into()));
    }
    if entry.cells.len() > MAX_CELLS_BYTES {
        return Err(WalError::BadEntry(format!("{} bytes of cells, at most {MAX_CELLS_BYTES}", entry.cells.len())));
    }
    let start = out.len();
    // Keys are longer than 127 bytes, as a rule: leave two bytes for the length and move if it was a different one.
    out.extend_from_slice(&[0, 0]);
    let key_at = out.len();
    append_key(out, entry);
    let covered = key_at..out.len();
    let checksum = Checksum::of(salt, 0, &out[covered], &entry.cells);
    out.extend_from_slice(CHECKSUM_HEAD);
    let value_at = out.len();
    out.extend_from_slice(&checksum.value(0));
    let key_len = out.len() - key_at;
    let length_len = if (0x80..0x4000).contains(&key_len) {
        out[start..key_at].copy_from_slice(&[key_len as u8 | 0x80, (key_len >> 7) as u8]);
        2
    } else {
        let mut length = Vec::with_capacity(5);
        put_varint(&mut length, key_len as u64);
        let len = length.len();
        out.splice(start..key_at, length);
        len
    };
    out.extend_from_slice(&entry.cells);
    Ok(Checksum { at: value_at + length_len - 2 - start, ..checksum })
}

/// One edit's cells must fit into what HBase reads into one array.
const MAX_CELLS_BYTES: usize = 1 << 30;

/// The fields in the order of their numbers, as protobuf's Java writer has them, present under HBase's conditions.
fn append_key(out: &mut Vec<u8>, entry: &Entry<'_>) {
    put_bytes(out, 0x0a, &entry.region);
    put_bytes(out, 0x12, &entry.table);
    put_number(out, 0x18, entry.seq);
    put_number(out, 0x20, entry.write_time_ms);
    for (family, scope) in entry.scopes.iter() {
        let mut message = Vec::with_capacity(family.len() + 6);
        put_bytes(&mut message, 0x0a, family);
        put_number(&mut message, 0x10, *scope as u64);
        put_bytes(out, 0x32, &message);
    }
    put_number(out, 0x38, entry.cell_count.into());
    for (most, least) in entry.cluster_ids.iter() {
        let mut message = Vec::with_capacity(22);
        put_number(&mut message, 0x08, *least);
        put_number(&mut message, 0x10, *most);
        put_bytes(out, 0x42, &message);
    }
    for (tag, n) in [(0x48, entry.nonce_group), (0x50, entry.nonce), (0x58, entry.orig_seq)] {
        if n != 0 {
            put_number(out, tag, n);
        }
    }
    for (key, value) in entry.attributes.iter() {
        let mut message = Vec::with_capacity(key.len() + value.len() + 8);
        put_bytes(&mut message, 0x0a, key.as_bytes());
        put_bytes(&mut message, 0x12, value);
        put_bytes(out, 0x62, &message);
    }
}

pub(crate) fn scope(n: i32) -> Option<Scope> {
    Some(match n {
        0 => Scope::Local,
        1 => Scope::Global,
        2 => Scope::Serial,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use martite_cell::{CellBuf, OwnedCell};

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn varints_are_read_as_they_are_written() {
        for n in [0, 1, 127, 128, 300, u32::MAX as u64, u64::MAX] {
            let mut out = Vec::new();
            put_varint(&mut out, n);
            assert_eq!(varint(&out), Some((n, out.len())));
            assert_eq!(varint(&out[..out.len() - 1]), None);
        }
        assert_eq!(varint(&[0xff; 10]), None);
    }

    #[test]
    fn the_header_is_hbases_with_a_salt() {
        let header = file_header(0x0102_0304);
        assert_eq!(&header[..5], b"PWAL\x5c");
        assert_eq!(header.len(), 5 + 0x5c);
        let message = pb::WalHeader::decode(&header[5..]).unwrap();
        assert_eq!(message.writer_cls_name(), "ProtobufLogWriter");
        assert_eq!(message.cell_codec_cls_name(), "org.apache.hadoop.hbase.regionserver.wal.WALCellCodec");
        assert_eq!(ChecksumHeader::checked_salt(&header[5..]), Ok(Some(0x0102_0304)));
        assert_eq!(hex(&header[header.len() - 12..header.len() - 4]), "c53e04030201cd3e");
    }

    #[test]
    fn an_entry_is_the_message_that_prost_reads_and_the_cells() {
        let mut cells = CellBuf::new(true);
        cells.push(&OwnedCell::put(b"r", b"f", b"q", 5, b"v").as_ref());
        let entry = Entry {
            region: Bytes::from_static(b"1588230740"),
            table: Bytes::from_static(b"hbase:meta"),
            seq: 300,
            write_time_ms: 9,
            nonce_group: 7,
            nonce: 8,
            orig_seq: 6,
            cluster_ids: vec![(1, 2)].into(),
            scopes: vec![(Bytes::from_static(b"f"), Scope::Global)].into(),
            attributes: vec![("k".to_string(), Bytes::from_static(b"v"))].into(),
            cells: cells.bytes().into(),
            cell_count: 1,
            families: Default::default(),
        };
        for long in [false, true] {
            let attributes = if long { vec![("k".repeat(20_000), Bytes::new())] } else { entry.attributes.to_vec() };
            let entry = Entry { attributes: attributes.into(), ..entry.clone() };
            let mut out = b"before".to_vec();
            let checksum = append_entry(&mut out, 0, &entry).unwrap();
            let bytes = &out[6..];
            let (len, at) = varint(bytes).unwrap();
            let (key, rest) = bytes[at..].split_at(len as usize);
            assert_eq!(rest, cells.bytes());
            let key = pb::WalKey::decode(key).unwrap();
            assert_eq!((key.log_sequence_number, key.write_time, key.following_kv_count), (300, 9, Some(1)));
            assert_eq!((key.nonce_group, key.nonce, key.orig_sequence_number), (Some(7), Some(8), Some(6)));
            assert_eq!(key.scopes, [pb::FamilyScope { family: "f".into(), scope_type: 1 }]);
            assert_eq!(key.cluster_ids, [pb::Uuid { least_sig_bits: 2, most_sig_bits: 1 }]);
            assert_eq!(key.extended_attributes.len(), 2);
            assert_eq!(key.extended_attributes[1].key, CHECKSUM_ATTRIBUTE);
            assert_eq!(key.extended_attributes[1].value[..], bytes[checksum.at..checksum.at + 5]);
            assert_eq!(checksum.value(0), bytes[checksum.at..checksum.at + 5]);
        }
    }

    #[test]
    fn the_crc_is_castagnolis() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        let checksum = Checksum::of(u32::from_be_bytes(*b"1234"), 0, b"56", b"78");
        assert_eq!(checksum.value(b'9'), [0xe3, 0x06, 0x92, 0x83, b'9']);
    }
}
