//! [`Refusal`]: what a call is told that may not even wait.

use crate::plan::{Limit, Owner};
use std::fmt;

/// Why a call is not even parked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub owner: Owner,
    pub limit: Limit,
    /// After this time its turn would come.
    pub wait_ns: u64,
    /// Calls of this user that wait.
    pub parked: usize,
}

impl fmt::Display for Refusal {
    /// The words up to the duration are those that HBase's client reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.wait_ns.div_ceil(1_000_000);
        write!(f, "{} - wait ", self.limit.kind.phrase())?;
        let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
        let plural = |n| if n == 1 { "" } else { "s" };
        if hours > 0 {
            write!(f, "{hours}hr{}, ", plural(hours))?;
        }
        if minutes > 0 {
            write!(f, "{minutes}min{}, ", plural(minutes))?;
        }
        if seconds > 0 {
            write!(f, "{seconds}sec, ")?;
        }
        write!(f, "{}ms; {}, LIMIT => {}, {} calls wait", ms % 1000, self.owner, self.limit, self.parked)
    }
}
