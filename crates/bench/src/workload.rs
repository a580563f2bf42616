//! [`Workload`]: what client threads do, in the order in which it is measured.

use crate::drive::{Load, MakeOp};
use crate::op::get::Get;
use crate::op::multi_get::MultiGet;
use crate::op::scan::{Passing, Scan};
use crate::rows::{SINGLE, Shape, TEN};
use crate::target::Target;
use crate::zipfian::Keys;
use std::sync::Arc;

/// Rows of a range, as in PerformanceEvaluation's scanRange10000.
const RANGE: u64 = 10_000;
/// Rows of a range of ten columns, which are all returned.
const RANGE_OF_TEN: u64 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// Get of a random row of 1,000 bytes, one under way on each connection
    Get,
    /// The same, as many under way as there are threads, all on one connection
    Multiplexed,
    /// Gets of 100 random rows in one call
    MultiGet,
    /// scanRange10000, every row filtered out by its key (FilterAllFilter)
    ScanNone,
    /// scanRange10000, one row in ten returned (RowFilter)
    ScanTenth,
    /// scanRange10000, every row filtered out by its value (ValueFilter, SubstringComparator)
    ScanValues,
    /// Gets of 100 random rows of ten 100-byte columns in one call
    MultiGetTen,
    /// Scan of 1,000 rows of ten 100-byte columns, all returned
    ScanTen,
}

impl Workload {
    pub const ALL: [Workload; 8] = [
        Workload::Get,
        Workload::Multiplexed,
        Workload::MultiGet,
        Workload::ScanNone,
        Workload::ScanTenth,
        Workload::ScanValues,
        Workload::MultiGetTen,
        Workload::ScanTen,
    ];

    /// The name on the command line and in report.json.
    pub fn name(self) -> &'static str {
        match self {
            Workload::Get => "get",
            Workload::Multiplexed => "multiplexed",
            Workload::MultiGet => "multi-get",
            Workload::ScanNone => "scan-none",
            Workload::ScanTenth => "scan-tenth",
            Workload::ScanValues => "scan-values",
            Workload::MultiGetTen => "multi-get-ten",
            Workload::ScanTen => "scan-ten",
        }
    }

    /// What a reader of the report is told.
    pub fn about(self) -> &'static str {
        match self {
            Workload::Get => "Get of a random row of 1,000 bytes, one under way on each connection.",
            Workload::Multiplexed => "Get of a random row; a thread is one more Get under way, all on one connection.",
            Workload::MultiGet => "Gets of 100 random rows of 1,000 bytes in one call.",
            Workload::ScanNone => "Scan of 10,000 rows, none returned: FilterAllFilter refuses them by their keys.",
            Workload::ScanTenth => {
                "Scan of 10,000 rows, one in ten returned: a RowFilter looks at the key's last digit."
            }
            Workload::ScanValues => {
                "Scan of 10,000 rows, none returned: a ValueFilter looks through each value of 1,000 bytes for a word."
            }
            Workload::MultiGetTen => "Gets of 100 random rows of ten columns of 100 bytes in one call.",
            Workload::ScanTen => "Scan of 1,000 rows of ten columns of 100 bytes, all returned.",
        }
    }

    pub fn shape(self) -> Shape {
        match self {
            Workload::MultiGetTen | Workload::ScanTen => TEN,
            _ => SINGLE,
        }
    }

    /// This workload by so many client threads.
    pub fn load(self, target: &Arc<Target>, threads: usize) -> Load<'static> {
        let (connections, depth) = if self == Workload::Multiplexed { (1, threads) } else { (threads, 1) };
        Load::closed(target.address, connections, depth, self.make(target.clone()))
    }

    fn make(self, target: Arc<Target>) -> MakeOp<'static> {
        let scan = |passing: Passing, span: u64, target: Arc<Target>| -> MakeOp<'static> {
            Box::new(move |seed| Box::new(Scan::new(target.clone(), passing, span, seed)))
        };
        match self {
            Workload::Get | Workload::Multiplexed => {
                Box::new(move |seed| Box::new(Get::new(target.clone(), Keys::Uniform, seed)))
            }
            Workload::MultiGet | Workload::MultiGetTen => {
                Box::new(move |seed| Box::new(MultiGet::new(target.clone(), Keys::Uniform, seed)))
            }
            Workload::ScanNone => scan(Passing::None, RANGE, target),
            Workload::ScanTenth => scan(Passing::Tenth, RANGE, target),
            Workload::ScanValues => scan(Passing::NoValue, RANGE, target),
            Workload::ScanTen => scan(Passing::All, RANGE_OF_TEN, target),
        }
    }
}

/// Scans of the whole table, none of whose rows is returned, or all, at which nobody looks: what runs beside Gets.
pub fn full_scans(target: &Arc<Target>, at_once: usize, returns: bool) -> Load<'static> {
    let (address, target) = (target.address, target.clone());
    let make: MakeOp<'static> = Box::new(move |seed| {
        let scan = |passing| Scan::new(target.clone(), passing, target.rows, seed);
        Box::new(if returns { scan(Passing::All).unread() } else { scan(Passing::None) })
    });
    // What comes back shall not keep the client's thread from the Gets.
    Load { stands_back: returns, ..Load::closed(address, at_once, 1, make) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn names_are_those_of_the_command_line_and_of_the_report() {
        for workload in Workload::ALL {
            let value = workload.to_possible_value().unwrap();
            assert_eq!(value.get_name(), workload.name());
            assert_eq!(serde_json::to_value(workload).unwrap(), workload.name());
        }
        assert_eq!(Workload::value_variants(), Workload::ALL);
    }
}
