//! A filter's verdict on a cell, and how the verdicts of several filters become one.
//!
//! Every verdict but the hint is a pair: is the cell included, and how far may the scanner step (next cell, next column,
//! next row). An AND list excludes if anyone excludes and takes the longest step; an OR list includes if anyone includes
//! and takes the shortest. A hint in an OR list may lead anywhere, so it counts as the shortest step.

/// What to do with the cell that was just shown, and where to go next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnCode {
    Include,
    IncludeAndNextCol,
    Skip,
    NextCol,
    NextRow,
    SeekNextUsingHint,
    IncludeAndSeekNextRow,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Cell,
    Column,
    Row,
}

impl ReturnCode {
    pub fn is_include(self) -> bool {
        self.parts().0
    }

    /// Whether the cell is included, and the step. The hint counts as a step to the next cell.
    fn parts(self) -> (bool, Step) {
        match self {
            ReturnCode::Include => (true, Step::Cell),
            ReturnCode::IncludeAndNextCol => (true, Step::Column),
            ReturnCode::IncludeAndSeekNextRow => (true, Step::Row),
            ReturnCode::Skip | ReturnCode::SeekNextUsingHint => (false, Step::Cell),
            ReturnCode::NextCol => (false, Step::Column),
            ReturnCode::NextRow => (false, Step::Row),
        }
    }

    fn from_parts(include: bool, step: Step) -> ReturnCode {
        match (include, step) {
            (true, Step::Cell) => ReturnCode::Include,
            (true, Step::Column) => ReturnCode::IncludeAndNextCol,
            (true, Step::Row) => ReturnCode::IncludeAndSeekNextRow,
            (false, Step::Cell) => ReturnCode::Skip,
            (false, Step::Column) => ReturnCode::NextCol,
            (false, Step::Row) => ReturnCode::NextRow,
        }
    }

    /// Both filters must let the cell pass.
    pub(crate) fn and(self, other: ReturnCode) -> ReturnCode {
        if self == ReturnCode::SeekNextUsingHint || other == ReturnCode::SeekNextUsingHint {
            return ReturnCode::SeekNextUsingHint;
        }
        let ((a, a_step), (b, b_step)) = (self.parts(), other.parts());
        ReturnCode::from_parts(a && b, a_step.max(b_step))
    }

    /// One of the filters must let the cell pass.
    pub(crate) fn or(self, other: ReturnCode) -> ReturnCode {
        if self == ReturnCode::SeekNextUsingHint && other == ReturnCode::SeekNextUsingHint {
            return ReturnCode::SeekNextUsingHint;
        }
        let ((a, a_step), (b, b_step)) = (self.parts(), other.parts());
        ReturnCode::from_parts(a || b, a_step.min(b_step))
    }
}

#[cfg(test)]
mod tests {
    use super::ReturnCode::{self, *};

    const ALL: [ReturnCode; 7] =
        [Include, IncludeAndNextCol, IncludeAndSeekNextRow, Skip, NextCol, NextRow, SeekNextUsingHint];

    #[test]
    fn or_takes_the_shortest_step() {
        // Rows: one verdict; columns: the other, in the order of ALL.
        let want = [
            [Include; 7],
            [Include, IncludeAndNextCol, IncludeAndNextCol, Include, IncludeAndNextCol, IncludeAndNextCol, Include],
            [
                Include,
                IncludeAndNextCol,
                IncludeAndSeekNextRow,
                Include,
                IncludeAndNextCol,
                IncludeAndSeekNextRow,
                Include,
            ],
            [Include, Include, Include, Skip, Skip, Skip, Skip],
            [Include, IncludeAndNextCol, IncludeAndNextCol, Skip, NextCol, NextCol, Skip],
            [Include, IncludeAndNextCol, IncludeAndSeekNextRow, Skip, NextCol, NextRow, Skip],
            [Include, Include, Include, Skip, Skip, Skip, SeekNextUsingHint],
        ];
        for (i, a) in ALL.into_iter().enumerate() {
            for (j, b) in ALL.into_iter().enumerate() {
                assert_eq!(a.or(b), want[i][j], "{a:?} or {b:?}");
            }
        }
    }

    #[test]
    fn and_takes_the_longest_step() {
        let h = SeekNextUsingHint;
        let want = [
            [Include, IncludeAndNextCol, IncludeAndSeekNextRow, Skip, NextCol, NextRow, h],
            [IncludeAndNextCol, IncludeAndNextCol, IncludeAndSeekNextRow, NextCol, NextCol, NextRow, h],
            [IncludeAndSeekNextRow, IncludeAndSeekNextRow, IncludeAndSeekNextRow, NextRow, NextRow, NextRow, h],
            [Skip, NextCol, NextRow, Skip, NextCol, NextRow, h],
            [NextCol, NextCol, NextRow, NextCol, NextCol, NextRow, h],
            [NextRow, NextRow, NextRow, NextRow, NextRow, NextRow, h],
            [h; 7],
        ];
        for (i, a) in ALL.into_iter().enumerate() {
            for (j, b) in ALL.into_iter().enumerate() {
                assert_eq!(a.and(b), want[i][j], "{a:?} and {b:?}");
            }
        }
    }
}
