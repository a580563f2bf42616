//! LongComparator: a signed 64-bit number against a cell of 8 bytes.

use super::Input;
use crate::error::{Result, evaluation};
use martite_proto as pb;
use std::cmp::Ordering;

pub(super) const CLASS: &str = "LongComparator";

#[derive(Debug)]
pub(super) struct Long {
    pub bytes: [u8; 8],
}

pub(super) fn decode(input: &Input<'_>) -> Result<Long> {
    let value = input.comparable::<pb::LongComparator>(|m| m.comparable)?;
    let bytes = value[..].try_into().map_err(|_| input.malformed(format!("{} bytes are not a long", value.len())))?;
    Ok(Long { bytes })
}

impl Long {
    pub fn compare(&self, cell: &[u8]) -> Result<Ordering> {
        let cell = cell.try_into().map_err(|_| evaluation(CLASS, format!("{} bytes are not a long", cell.len())))?;
        Ok(i64::from_be_bytes(self.bytes).cmp(&i64::from_be_bytes(cell)))
    }
}

#[cfg(test)]
mod tests {
    use crate::Comparator;
    use crate::scan_model::{comparator, pb};
    use std::cmp::Ordering::{Equal, Greater, Less};

    #[test]
    fn numbers_are_signed() {
        let decode = |value: Vec<u8>| {
            let comparable = pb::ByteArrayComparable { value: Some(value.into()) };
            Comparator::decode(&comparator("LongComparator", &pb::LongComparator { comparable }))
        };
        let five = decode(5i64.to_be_bytes().to_vec()).unwrap();
        let against = |cell: i64| five.try_compare(&cell.to_be_bytes()).unwrap();
        assert_eq!([against(-1), against(5), against(i64::MAX)], [Greater, Equal, Less]);
        let error = five.try_compare(b"1234").unwrap_err();
        assert_eq!(error.to_string(), "LongComparator cannot judge a cell: 4 bytes are not a long");
        assert_eq!(decode(vec![1]).unwrap_err().to_string(), "malformed LongComparator: 1 bytes are not a long");
    }
}
