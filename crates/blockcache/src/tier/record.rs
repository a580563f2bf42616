//! A record of the slab: one block, and what is needed to be sure that it is the block.
//!
//! ```text
//! offset  0  4 bytes   "MBLK"
//!         4  u32       CRC32C of all that follows
//!         8  16 bytes  name of the file
//!        24  u64       offset of the block in the file
//!        32  u32       bytes of the block in the file
//!        36  u32       bytes of the payload
//!        40  payload
//! ```
//! Numbers are big-endian. Files never change, so a record that is whole and has the right name is right for good,
//! however old it is.

use super::{FileName, Key};

pub(crate) const HEADER_BYTES: usize = 40;
const MAGIC: &[u8; 4] = b"MBLK";
/// Where the bytes begin that the checksum is about.
const SUMMED: usize = 8;

/// Replaces `out` by the record of a block.
pub(crate) fn put(out: &mut Vec<u8>, key: &Key, on_disk_size: u32, payload: &[u8]) {
    out.clear();
    out.extend_from_slice(&header(key, on_disk_size, payload.len() as u32));
    out.extend_from_slice(payload);
    let sum = crc_fast::crc32_iscsi(&out[SUMMED..]);
    out[4..SUMMED].copy_from_slice(&sum.to_be_bytes());
}

/// The header without its checksum.
fn header(key: &Key, on_disk_size: u32, payload_len: u32) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(MAGIC);
    header[8..24].copy_from_slice(&key.file.0);
    header[24..32].copy_from_slice(&key.offset.to_be_bytes());
    header[32..36].copy_from_slice(&on_disk_size.to_be_bytes());
    header[36..40].copy_from_slice(&payload_len.to_be_bytes());
    header
}

/// Whether `record` is the undamaged record of this block.
pub(crate) fn is_of(record: &[u8], key: &Key, on_disk_size: u32) -> bool {
    let Some(payload_len) = record.len().checked_sub(HEADER_BYTES).and_then(|len| u32::try_from(len).ok()) else {
        return false;
    };
    let expected = header(key, on_disk_size, payload_len);
    record[..4] == expected[..4]
        && record[SUMMED..HEADER_BYTES] == expected[SUMMED..]
        && record[4..SUMMED] == crc_fast::crc32_iscsi(&record[SUMMED..]).to_be_bytes()
}

/// Bytes of the block in its file, as a record says.
pub(crate) fn on_disk_size(record: &[u8]) -> Option<u32> {
    record.get(32..36)?.try_into().ok().map(u32::from_be_bytes)
}

impl FileName {
    /// The name of a file that never changes: where it is below the root, its size and when it was made. The latter two
    /// tell it from another file that takes its place.
    pub fn of(path: &str, size_bytes: u64, created_ms: u64) -> FileName {
        use md5::{Digest, Md5};
        let sum = Md5::new()
            .chain_update(size_bytes.to_be_bytes())
            .chain_update(created_ms.to_be_bytes())
            .chain_update(path.as_bytes())
            .finalize();
        FileName(sum.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_of_its_block_only_and_of_undamaged_bytes() {
        let key = Key { file: FileName::of("data/default/t/r/f/1", 10, 20), offset: 33 };
        let mut record = b"what was there before".to_vec();
        put(&mut record, &key, 65, b"payload");
        assert!(is_of(&record, &key, 65));
        assert_eq!((record.len(), &record[HEADER_BYTES..]), (47, &b"payload"[..]));
        assert!(!is_of(&record, &Key { offset: 34, ..key }, 65) && !is_of(&record, &key, 64));
        for other in
            [("data/default/t/r/f/2", 10, 20), ("data/default/t/r/f/1", 11, 20), ("data/default/t/r/f/1", 10, 0)]
        {
            assert!(!is_of(&record, &Key { file: FileName::of(other.0, other.1, other.2), ..key }, 65));
        }
        for at in 0..record.len() {
            for bit in 0..8 {
                record[at] ^= 1 << bit;
                assert!(!is_of(&record, &key, 65), "bit {bit} of byte {at}");
                record[at] ^= 1 << bit;
            }
        }
        for len in 0..record.len() {
            assert!(!is_of(&record[..len], &key, 65), "{len} bytes of it");
        }
        assert!(!is_of(&[record.clone(), vec![0]].concat(), &key, 65));
    }

    #[test]
    fn an_empty_payload_has_a_record_too() {
        let key = Key { file: FileName::of("", 0, 0), offset: 0 };
        let mut record = Vec::new();
        put(&mut record, &key, 0, b"");
        assert!(is_of(&record, &key, 0) && record.len() == HEADER_BYTES);
    }
}
