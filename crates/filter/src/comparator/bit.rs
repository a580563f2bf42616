//! BitComparator: matches if value and cell are equally long and some byte of `value OP cell` is not zero.

use super::{COMPARABLE, Input};
use crate::error::Result;
use crate::required::required;
use bytes::Bytes;
use martite_proto as pb;
use pb::bit_comparator::BitwiseOp;

#[derive(Debug)]
pub(super) struct Bit {
    pub value: Bytes,
    op: BitwiseOp,
}

pub(super) fn decode(input: &Input<'_>) -> Result<Bit> {
    input.message::<pb::BitComparator>(COMPARABLE)?;
    let proto: pb::BitComparator = input.message(&[required(2, "bitwise_op")])?;
    let op = BitwiseOp::try_from(proto.bitwise_op)
        .map_err(|_| input.malformed(format!("bitwise operator {} is unknown", proto.bitwise_op)))?;
    Ok(Bit { value: proto.comparable.value.unwrap_or_default(), op })
}

impl Bit {
    pub fn matches(&self, cell: &[u8]) -> bool {
        let pairs = self.value.iter().zip(cell);
        self.value.len() == cell.len()
            && match self.op {
                BitwiseOp::And => pairs.into_iter().any(|(a, b)| a & b != 0),
                BitwiseOp::Or => pairs.into_iter().any(|(a, b)| a | b != 0),
                BitwiseOp::Xor => pairs.into_iter().any(|(a, b)| a ^ b != 0),
            }
    }
}

#[cfg(test)]
mod tests {
    use crate::Comparator;
    use crate::scan_model::{comparator, pb};
    use std::cmp::Ordering::{Equal, Greater};

    #[test]
    fn some_bit_must_be_left() {
        let compare = |op, value: &[u8], cell: &[u8]| {
            let comparable = pb::ByteArrayComparable { value: Some(value.to_vec().into()) };
            let proto = comparator("BitComparator", &pb::BitComparator { comparable, bitwise_op: op });
            Comparator::decode(&proto).map(|c| c.compare(cell)).map_err(|e| e.to_string())
        };
        let (and, or, xor) = (1, 2, 3);
        assert_eq!(compare(and, &[1, 0], &[3, 0]), Ok(Equal));
        assert_eq!(compare(and, &[1, 4], &[2, 8]), Ok(Greater));
        assert_eq!(compare(or, &[0, 0], &[0, 1]), Ok(Equal));
        assert_eq!(compare(or, &[0, 0], &[0, 0]), Ok(Greater));
        assert_eq!(compare(xor, &[7], &[7]), Ok(Greater));
        assert_eq!(compare(xor, &[7], &[6]), Ok(Equal));
        assert_eq!(compare(xor, &[7], &[6, 0]), Ok(Greater), "lengths differ");
        assert_eq!(compare(or, &[], &[]), Ok(Greater));
        assert_eq!(compare(9, &[], &[]), Err("malformed BitComparator: bitwise operator 9 is unknown".into()));
    }
}
