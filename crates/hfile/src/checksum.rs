//! Checksums of a block: one `u32` for each started chunk of its header and payload.

use crate::error::Parsed;

/// How blocks are protected; the numbers are persisted in block headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ChecksumType {
    Null = 0,
    Crc32 = 1,
    #[default]
    Crc32c = 2,
}

impl ChecksumType {
    pub(crate) fn from_code(code: u8) -> Option<ChecksumType> {
        Some(match code {
            0 => ChecksumType::Null,
            1 => ChecksumType::Crc32,
            2 => ChecksumType::Crc32c,
            _ => return None,
        })
    }

    fn of(self, chunk: &[u8]) -> u32 {
        match self {
            // HBase leaves room for checksums here too, and does not look at it.
            ChecksumType::Null => 0,
            ChecksumType::Crc32 => crc_fast::crc32_iso_hdlc(chunk),
            ChecksumType::Crc32c => crc_fast::crc32_iscsi(chunk),
        }
    }

    /// Bytes of the checksums of `data_len` bytes. `bytes_per_checksum` is not 0.
    pub(crate) fn size(data_len: usize, bytes_per_checksum: u32) -> usize {
        data_len.div_ceil(bytes_per_checksum as usize) * 4
    }

    pub(crate) fn append(self, bytes_per_checksum: u32, out: &mut Vec<u8>) {
        let data_len = out.len();
        for start in (0..data_len).step_by(bytes_per_checksum as usize) {
            let sum = self.of(&out[start..data_len.min(start + bytes_per_checksum as usize)]);
            out.extend_from_slice(&sum.to_be_bytes());
        }
    }

    pub(crate) fn verify(self, bytes_per_checksum: u32, data: &[u8], sums: &[u8]) -> Parsed<()> {
        if self == ChecksumType::Null {
            return Ok(());
        }
        for (i, (chunk, sum)) in data.chunks(bytes_per_checksum as usize).zip(sums.chunks_exact(4)).enumerate() {
            let found = self.of(chunk);
            if found.to_be_bytes() != sum {
                let at = i * bytes_per_checksum as usize;
                let stored = sum.iter().fold(0, |sum, b| sum << 8 | *b as u32);
                let len = chunk.len();
                return Err(format!(
                    "{self:?} of {len} bytes from {at} of the block is {found:08x}, the file says {stored:08x}"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_sums() {
        assert_eq!(ChecksumType::Crc32.of(b"123456789"), 0xcbf4_3926);
        assert_eq!(ChecksumType::Crc32c.of(b"123456789"), 0xe306_9283);
    }
}
