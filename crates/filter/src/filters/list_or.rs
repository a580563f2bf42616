//! FilterList MUST_PASS_ONE.
//!
//! The list steps no farther than the most cautious of its filters, so a filter that asked for a longer step sees cells
//! that it meant to leap over. They are answered for it from its last answer; it is asked again where its step ends.

use super::list::compare_keys;
use crate::ReturnCode;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate, ValueForm};
use martite_cell::{CellRef, key};

struct Member {
    filter: Boxed,
    /// The last answer, if it asked for more than the next cell, and the cell it was for.
    last: Option<ReturnCode>,
    last_key: Vec<u8>,
    /// Its hint, once it was needed.
    hint: Option<Option<Vec<u8>>>,
    included: bool,
}

impl Member {
    /// What the filter would say of a cell that it has leapt over; None: it has not.
    fn answer_for_leapt(&mut self, cell: &CellRef<'_>, reversed: bool) -> Option<ReturnCode> {
        match self.last? {
            ReturnCode::Include | ReturnCode::Skip => None,
            ReturnCode::NextCol | ReturnCode::IncludeAndNextCol => {
                (key::column(&self.last_key) == key::column(cell.key)).then_some(ReturnCode::NextCol)
            }
            ReturnCode::NextRow | ReturnCode::IncludeAndSeekNextRow => {
                (key::family(&self.last_key) == cell.family()).then_some(ReturnCode::NextRow)
            }
            ReturnCode::SeekNextUsingHint => {
                if self.hint.is_none() {
                    let at = CellRef { key: &self.last_key, value: &[], tags: &[], seq_id: 0 };
                    self.hint = Some(self.filter.next_hint(&at));
                }
                let hint = self.hint.as_ref()?.as_ref()?;
                compare_keys(reversed, cell.key, hint).is_lt().then_some(ReturnCode::SeekNextUsingHint)
            }
        }
    }

    fn answer(&mut self, cell: &CellRef<'_>, reversed: bool) -> Result<ReturnCode> {
        let leapt = self.answer_for_leapt(cell, reversed);
        let code = match leapt {
            Some(code) => code,
            None => self.filter.filter_cell(cell)?,
        };
        self.included = code.is_include();
        // The hint stays good while it is still ahead; any other step is counted from the latest cell.
        if leapt != Some(ReturnCode::SeekNextUsingHint) {
            self.hint = None;
            self.last = Some(code);
            self.last_key.clear();
            if !matches!(code, ReturnCode::Include | ReturnCode::Skip) {
                self.last_key.extend_from_slice(cell.key);
            }
        }
        Ok(code)
    }
}

pub(super) struct ListOr {
    members: Vec<Member>,
    reversed: bool,
}

impl ListOr {
    pub fn new(filters: Vec<Boxed>) -> ListOr {
        let member = |filter| Member { filter, last: None, last_key: Vec::new(), hint: None, included: false };
        ListOr { members: filters.into_iter().map(member).collect(), reversed: false }
    }
}

impl Evaluate for ListOr {
    fn name(&self) -> &'static str {
        "FilterList"
    }
    fn reset(&mut self) {
        for member in &mut self.members {
            member.filter.reset();
            member.last = None;
            member.hint = None;
            member.included = false;
        }
    }
    fn filter_all_remaining(&mut self) -> bool {
        !self.members.is_empty() && self.members.iter_mut().all(|member| member.filter.filter_all_remaining())
    }
    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        let mut filtered = !self.members.is_empty();
        for member in &mut self.members {
            // All are asked: some keep account of rows here.
            if !member.filter.filter_all_remaining() && !member.filter.filter_row_key(row)? {
                filtered = false;
            }
        }
        Ok(filtered)
    }
    fn watches_refused_rows(&self) -> bool {
        self.members.iter().any(|m| m.filter.watches_refused_rows())
    }
    fn is_row_local(&self) -> bool {
        self.members.iter().all(|m| m.filter.is_row_local())
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        if self.members.is_empty() {
            return Ok(ReturnCode::Include);
        }
        let mut merged: Option<ReturnCode> = None;
        for member in &mut self.members {
            member.included = false;
            if member.filter.filter_all_remaining() {
                continue;
            }
            let code = member.answer(cell, self.reversed)?;
            merged = Some(merged.map_or(code, |merged| merged.or(code)));
        }
        Ok(merged.unwrap_or(ReturnCode::Skip))
    }
    fn next_hint(&mut self, cell: &CellRef<'_>) -> Option<Vec<u8>> {
        let mut nearest: Option<Vec<u8>> = None;
        for member in &mut self.members {
            if member.filter.filter_all_remaining() {
                continue;
            }
            let hint = member.filter.next_hint(cell)?;
            if nearest.as_ref().is_none_or(|best| compare_keys(self.reversed, best, &hint).is_gt()) {
                nearest = Some(hint);
            }
        }
        nearest
    }
    fn changes_values(&self) -> bool {
        self.members.iter().any(|member| member.filter.changes_values())
    }
    fn transform(&self, value: ValueForm) -> ValueForm {
        let included = self.members.iter().filter(|member| member.included);
        included.fold(value, |value, member| member.filter.transform(value))
    }
    fn has_filter_row(&self) -> bool {
        self.members.iter().any(|member| member.filter.has_filter_row())
    }
    fn keeps_row_cell(&mut self, cell: &CellRef<'_>) -> bool {
        self.members.iter_mut().all(|member| member.filter.keeps_row_cell(cell))
    }
    fn filter_row(&mut self) -> bool {
        !self.members.is_empty() && self.members.iter_mut().all(|member| member.filter.filter_row())
    }
    fn is_family_essential(&self, family: &[u8]) -> bool {
        self.members.is_empty() || self.members.iter().any(|member| member.filter.is_family_essential(family))
    }
    fn set_reversed(&mut self, reversed: bool) {
        self.reversed = reversed;
        self.members.iter_mut().for_each(|member| member.filter.set_reversed(reversed));
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    fn list(filters: Vec<pb::Filter>) -> pb::Filter {
        list_proto(false, filters)
    }
    fn prefix(prefix: &'static str) -> pb::Filter {
        filter_proto("PrefixFilter", &pb::PrefixFilter { prefix: Some(prefix.into()) })
    }
    fn column_prefix(prefix: &'static str) -> pb::Filter {
        filter_proto("ColumnPrefixFilter", &pb::ColumnPrefixFilter { prefix: prefix.into() })
    }
    fn value(value: &str) -> pb::Filter {
        let compare_filter = compare_filter(pb::CompareType::Equal, binary(value));
        filter_proto("ValueFilter", &pb::ValueFilter { compare_filter })
    }

    #[test]
    fn one_filter_must_let_the_cell_pass() {
        let rows = "a f:x=1 f:y=2 | b f:x=1 f:z=3 | c f:x=2";
        check(&list(vec![prefix("a"), value("2")]), rows, "a f:x=1 f:y=2 | c f:x=2");
        check(&list(vec![column_prefix("y"), column_prefix("z")]), rows, "a f:y=2 | b f:z=3");
        check(&list(vec![prefix("c"), prefix("a")]), rows, "a f:x=1 f:y=2 | c f:x=2");
        check_reversed(&list(vec![prefix("c"), prefix("a")]), rows, "c f:x=2 | a f:x=1 f:y=2");
        check(&list(vec![prefix("x"), prefix("0")]), rows, "");
        let both = list_proto(true, vec![prefix("b"), column_prefix("z")]);
        check(&list(vec![both, value("2")]), rows, "a f:y=2 | b f:z=3 | c f:x=2");
    }

    #[test]
    fn a_filter_is_not_asked_about_cells_that_it_leapt_over() {
        // The pagination filter counts columns: were it shown both versions of a, it would count two.
        let proto = pb::ColumnPaginationFilter { limit: 2, offset: Some(0), column_offset: None };
        let first_two = filter_proto("ColumnPaginationFilter", &proto);
        let rows = "r1 f:a@3=1 f:a@2=1 f:b@3=1 f:b@2=9 f:c@3=1 f:d@3=9";
        check(&list(vec![first_two.clone(), value("9")]), rows, "r1 f:a@3=1 f:b@3=1 f:b@2=9 f:d@3=9");
        codes(
            &list(vec![first_two, value("9")]),
            "r1 f:a@3=1 f:a@2=1 f:b@3=1 f:c@3=1 f:d@3=9",
            "Include Skip Include Skip Include",
        );
    }

    #[test]
    fn the_nearest_hint_wins_and_no_hint_is_no_hint() {
        hint(&list(vec![column_prefix("c"), column_prefix("b")]), "r1 f:a=1", "r1 f:b");
        codes(&list(vec![column_prefix("c"), value("9")]), "r1 f:a=1 f:b=1 f:c=1", "Skip Skip Include");
        let two = list(vec![column_prefix("c"), column_prefix("b")]);
        // c's filter still seeks to c when b's includes.
        codes(&two, "r1 f:a=1 f:b=1 f:bb=1 f:c=1 f:d=1", "SeekNextUsingHint Include Include Include NextRow");
    }

    #[test]
    fn only_filters_that_included_the_cell_transform_it() {
        let keys_of_b = list_proto(
            true,
            vec![column_prefix("b"), filter_proto("KeyOnlyFilter", &pb::KeyOnlyFilter { len_as_val: false })],
        );
        check(&list(vec![keys_of_b, column_prefix("a")]), "r1 f:a=1 f:b=2", "r1 f:a=1 f:b=");
    }

    #[test]
    fn the_scan_ends_when_every_filter_is_done() {
        let page = |page_size| filter_proto("PageFilter", &pb::PageFilter { page_size });
        let rows = "a f:x=1 | b f:x=1 | c f:x=1";
        check(&list(vec![page(1), page(1)]), rows, "a f:x=1 | b f:x=1");
        check(&list(vec![page(0), page(0)]), rows, "");
        check(&list(vec![page(0), prefix("b")]), rows, "b f:x=1");
    }
}
