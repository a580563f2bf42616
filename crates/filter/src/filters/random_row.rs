//! RandomRowFilter: each row passes with the given chance.
//!
//! The numbers come from a generator that is seeded by a count of the filters decoded so far: scans differ, and a
//! simulated run repeats itself.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use crate::required::required;
use martite_cell::CellRef;
use martite_proto as pb;
use std::sync::atomic::{AtomicU64, Ordering};

static DECODED: AtomicU64 = AtomicU64::new(0);

struct RandomRow {
    chance: f32,
    state: u64,
    filter_row: bool,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::RandomRowFilter = input.message(&[required(1, "chance")])?;
    let nth = DECODED.fetch_add(1, Ordering::Relaxed);
    Ok(Box::new(RandomRow { chance: proto.chance, state: nth.wrapping_mul(0xd134_2543_de82_ef95), filter_row: false }))
}

impl RandomRow {
    /// SplitMix64; 24 bits make an f32 in [0, 1).
    fn next(&mut self) -> f32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1u32 << 24) as f32
    }
}

impl Evaluate for RandomRow {
    fn name(&self) -> &'static str {
        "RandomRowFilter"
    }
    fn reset(&mut self) {
        self.filter_row = false;
    }
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        let passes = self.next() < self.chance;
        self.filter_row = !passes;
        Ok(self.filter_row)
    }
    fn watches_refused_rows(&self) -> bool {
        false
    }
    fn minds_cells(&self) -> bool {
        false
    }
    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(if self.filter_row { ReturnCode::NextRow } else { ReturnCode::Include })
    }
    fn has_filter_row(&self) -> bool {
        true
    }
    fn filter_row(&mut self) -> bool {
        self.filter_row
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn about_that_share_of_the_rows_passes() {
        let passed = |chance: f32| {
            let mut filter = decoded(&filter_proto("RandomRowFilter", &pb::RandomRowFilter { chance }));
            (0..10_000).filter(|_| !filter.filter_row_key(b"r")).count()
        };
        assert_eq!(passed(-1.0), 0);
        assert_eq!(passed(0.0), 0);
        assert_eq!(passed(1.0), 10_000);
        assert_eq!(passed(7.0), 10_000);
        for _ in 0..10 {
            let share = passed(0.25);
            assert!((2_200..2_800).contains(&share), "{share} of 10000");
        }
        refused(&empty("RandomRowFilter"), "malformed RandomRowFilter: required field chance is missing");
    }
}
