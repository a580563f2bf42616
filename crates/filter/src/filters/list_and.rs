//! FilterList MUST_PASS_ALL.
//!
//! A cell goes to the filters in order until one excludes it: what comes later must not count it. Only filters that can
//! seek are asked nevertheless, and the farthest of all hints is taken.

use super::list::compare_keys;
use crate::ReturnCode;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate, RowPart, ValueForm};
use martite_cell::CellRef;

pub(super) struct ListAnd {
    filters: Vec<Boxed>,
    /// Filters that hinted at the last cell.
    hinted: Vec<usize>,
    reversed: bool,
}

impl ListAnd {
    pub fn new(filters: Vec<Boxed>) -> ListAnd {
        ListAnd { filters, hinted: Vec::new(), reversed: false }
    }
}

impl Evaluate for ListAnd {
    fn name(&self) -> &'static str {
        "FilterList"
    }
    fn reset(&mut self) {
        self.filters.iter_mut().for_each(|filter| filter.reset());
        self.hinted.clear();
    }
    fn filter_all_remaining(&mut self) -> bool {
        self.filters.iter_mut().any(|filter| filter.filter_all_remaining())
    }
    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        let (mut filtered, mut hint_wanted) = (false, false);
        for filter in &mut self.filters {
            if filter.filter_all_remaining() {
                return Ok(true);
            }
            // All are asked: some keep account of rows here.
            if filter.filter_row_key(row)? {
                filtered = true;
            } else if filter.gives_hints() {
                // It must see the row's cells to say where to seek.
                hint_wanted = true;
            }
        }
        Ok(filtered && !hint_wanted)
    }
    fn watches_refused_rows(&self) -> bool {
        self.filters.iter().any(|f| f.watches_refused_rows())
    }
    fn minds_cells(&self) -> bool {
        self.filters.iter().any(|f| f.minds_cells())
    }
    fn is_row_local(&self) -> bool {
        self.filters.iter().all(|f| f.is_row_local())
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let mut code = ReturnCode::Include;
        self.hinted.clear();
        for (i, filter) in self.filters.iter_mut().enumerate() {
            if !code.is_include() {
                if filter.gives_hints() && filter.filter_cell(cell)? == ReturnCode::SeekNextUsingHint {
                    self.hinted.push(i);
                }
            } else if filter.filter_all_remaining() {
                code = ReturnCode::NextRow;
            } else {
                let answer = filter.filter_cell(cell)?;
                if answer == ReturnCode::SeekNextUsingHint {
                    self.hinted.push(i);
                }
                code = code.and(answer);
            }
        }
        Ok(if self.hinted.is_empty() { code } else { ReturnCode::SeekNextUsingHint })
    }
    fn next_hint(&mut self, cell: &CellRef<'_>) -> Option<Vec<u8>> {
        let mut farthest: Option<Vec<u8>> = None;
        for &i in &self.hinted {
            let filter = &mut self.filters[i];
            if filter.filter_all_remaining() {
                continue;
            }
            let Some(hint) = filter.next_hint(cell) else { continue };
            if farthest.as_ref().is_none_or(|best| compare_keys(self.reversed, best, &hint).is_lt()) {
                farthest = Some(hint);
            }
        }
        farthest
    }
    fn part_of_each_row(&self) -> Option<RowPart> {
        self.filters.iter().try_fold(RowPart::AllCells, |part, filter| Some(part.min(filter.part_of_each_row()?)))
    }
    fn changes_values(&self) -> bool {
        self.filters.iter().any(|filter| filter.changes_values())
    }
    fn transform(&self, value: ValueForm) -> ValueForm {
        self.filters.iter().fold(value, |value, filter| filter.transform(value))
    }
    fn has_filter_row(&self) -> bool {
        self.filters.iter().any(|filter| filter.has_filter_row())
    }
    fn keeps_row_cell(&mut self, cell: &CellRef<'_>) -> bool {
        self.filters.iter_mut().all(|filter| filter.keeps_row_cell(cell))
    }
    fn filter_row(&mut self) -> bool {
        self.filters.iter_mut().any(|filter| filter.filter_row())
    }
    fn is_family_essential(&self, family: &[u8]) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| filter.is_family_essential(family))
    }
    fn set_reversed(&mut self, reversed: bool) {
        self.reversed = reversed;
        self.filters.iter_mut().for_each(|filter| filter.set_reversed(reversed));
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    fn prefix(prefix: &'static str) -> pb::Filter {
        filter_proto("PrefixFilter", &pb::PrefixFilter { prefix: Some(prefix.into()) })
    }
    fn column_prefix(prefix: &'static str) -> pb::Filter {
        filter_proto("ColumnPrefixFilter", &pb::ColumnPrefixFilter { prefix: prefix.into() })
    }
    fn value(op: pb::CompareType, value: &str) -> pb::Filter {
        filter_proto("ValueFilter", &pb::ValueFilter { compare_filter: compare_filter(op, binary(value)) })
    }
    fn first_columns(limit: i32) -> pb::Filter {
        let proto = pb::ColumnPaginationFilter { limit, offset: Some(0), column_offset: None };
        filter_proto("ColumnPaginationFilter", &proto)
    }
    fn row(op: pb::CompareType, value: &str) -> pb::Filter {
        filter_proto("RowFilter", &pb::RowFilter { compare_filter: compare_filter(op, binary(value)) })
    }

    #[test]
    fn every_filter_must_let_the_cell_pass() {
        let rows = "a1 f:x1=1 f:x2=2 f:y=2 | a2 f:x1=3 | b1 f:x1=2";
        let list = |filters| list_proto(true, filters);
        check(&list(vec![prefix("a"), column_prefix("x")]), rows, "a1 f:x1=1 f:x2=2 | a2 f:x1=3");
        let greater_1 = || value(pb::CompareType::Greater, "1");
        check(&list(vec![prefix("a"), column_prefix("x"), greater_1()]), rows, "a1 f:x2=2 | a2 f:x1=3");
        check(&list(vec![row(pb::CompareType::NotEqual, "a1"), prefix("a")]), rows, "a2 f:x1=3");
        check_reversed(&list(vec![greater_1(), prefix("a")]), rows, "a2 f:x1=3 | a1 f:x2=2 f:y=2");
        let nested = list(vec![list(vec![prefix("a")]), list(vec![greater_1()])]);
        check(&nested, rows, "a1 f:x2=2 f:y=2 | a2 f:x1=3");
    }

    #[test]
    fn a_counting_filter_counts_only_what_came_through() {
        let rows = "r1 f:a=1 f:b=2 f:c=3 f:d=4";
        let greater_1 = || value(pb::CompareType::Greater, "1");
        check(&list_proto(true, vec![greater_1(), first_columns(2)]), rows, "r1 f:b=2 f:c=3");
        check(&list_proto(true, vec![first_columns(2), greater_1()]), rows, "r1 f:b=2");
    }

    #[test]
    fn the_farthest_hint_wins() {
        let list = list_proto(true, vec![column_prefix("c"), column_prefix("d"), column_prefix("b")]);
        hint(&list, "r1 f:a=1", "r1 f:d");
        // A filter that excludes does not keep a later one from hinting.
        let list = list_proto(true, vec![value(pb::CompareType::Equal, "9"), column_prefix("b")]);
        hint(&list, "r1 f:a=1", "r1 f:b");
        // A row that one filter rejects is shown to one that can seek beyond it.
        hint(&list_proto(true, vec![row(pb::CompareType::Equal, "zz"), prefix("z")]), "a f:a=1", "z");
        let mut reversed = decoded(&list_proto(true, vec![prefix("b"), prefix("d")]));
        reversed.set_reversed(true);
        assert_eq!(hint_at(&mut reversed, "x f:a=1").as_deref(), Some("c"));
    }

    #[test]
    fn one_filter_that_is_done_ends_the_scan() {
        let page = filter_proto("PageFilter", &pb::PageFilter { page_size: 1 });
        check(
            &list_proto(true, vec![row(pb::CompareType::Greater, "a"), page]),
            "a f:x=1 | b f:x=1 | c f:x=1",
            "b f:x=1",
        );
    }

    #[test]
    fn families_are_essential_if_one_filter_says_so() {
        let on_f =
            filter_proto("SingleColumnValueFilter", &single_column(true, true, pb::CompareType::Equal, binary("x")));
        let both = decoded(&list_proto(true, vec![on_f.clone(), on_f.clone()]));
        assert_eq!((both.is_family_essential(b"f"), both.is_family_essential(b"g")), (true, false));
        assert!(decoded(&list_proto(true, vec![on_f, prefix("a")])).is_family_essential(b"g"));
    }
}
