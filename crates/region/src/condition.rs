//! The condition of checkAndMutate.
//!
//! | value of the condition | the cell | holds |
//! |---|---|---|
//! | empty | absent | unless NOT_EQUAL |
//! | empty | there | empty cell: unless NOT_EQUAL; else: if NOT_EQUAL |
//! | not empty | absent | never |
//! | not empty | there | value `op` cell |

use crate::{Check, Condition, FamilyColumns, GetSpec, Region, RegionError};
use martite_cell::{CellBuf, CellRef};
use martite_filter::{Comparator, CompareOp};
use martite_hfile::{BlockSource, Step};

/// A condition that was looked at.
pub(crate) struct Judged {
    pub holds: bool,
    /// Timestamp of the cell that decided; 0 without one.
    pub cell_ts: u64,
}

impl Region {
    /// Looks at a condition. The caller holds the row's lock.
    pub(crate) fn judge(&self, condition: &Condition, src: &dyn BlockSource) -> Result<Step<Judged>, RegionError> {
        let mut get = GetSpec { time_range: condition.time_range, ..self.current_row(&condition.row) };
        match &condition.check {
            Check::Value { family, qualifier, .. } => {
                get.families =
                    [FamilyColumns { columns: [qualifier.clone()].into(), ..FamilyColumns::whole(family.clone()) }]
                        .into();
            }
            Check::Filter(filter) => {
                get.filter = Some(filter.clone());
                // As in HBase. It makes a difference with SkipFilter, which may let a row pass without the families it looks at.
                get.load_on_demand = false;
            }
        }
        let mut found = CellBuf::new(false);
        ready_or_need!(self.get(&get, src, &mut found));
        let cell = found.get(0);
        let holds = match &condition.check {
            Check::Value { op, comparator, .. } => value_holds(*op, comparator, cell.as_ref()),
            Check::Filter(_) => cell.is_some(),
        };
        Ok(Step::Ready(Judged { holds, cell_ts: cell.map_or(0, |c| c.timestamp()) }))
    }

    /// Checks a condition's row and family, before locks are taken.
    pub(crate) fn check_condition(&self, condition: &Condition) -> Result<(), RegionError> {
        self.check_row(&condition.row, "doCheckAndRowMutate")?;
        match &condition.check {
            Check::Value { family, .. } => self.check_family(family).map(drop),
            Check::Filter(_) => Ok(()),
        }
    }
}

fn value_holds(op: CompareOp, comparator: &Comparator, cell: Option<&CellRef<'_>>) -> bool {
    match (comparator.value().is_empty(), cell) {
        (true, None) => op != CompareOp::NotEqual,
        (true, Some(cell)) => cell.value.is_empty() == (op != CompareOp::NotEqual),
        (false, None) => false,
        (false, Some(cell)) => op.holds(comparator.compare(cell.value)),
    }
}
