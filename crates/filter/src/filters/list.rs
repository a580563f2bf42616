//! FilterList: several filters as one; all must pass (AND), or one (OR). An empty list lets everything pass.

use super::{list_and::ListAnd, list_or::ListOr};
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::Boxed;
use crate::required::required;
use martite_cell::Order;
use martite_proto as pb;
use std::cmp::Ordering;

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::FilterList = input.message(&[required(1, "operator")])?;
    let operator = pb::filter_list::Operator::try_from(proto.operator)
        .map_err(|_| input.malformed(format!("operator {} is unknown", proto.operator)))?;
    let filters = proto.filters.iter().map(|filter| input.nested(filter)).collect::<Result<Vec<Boxed>>>()?;
    Ok(match operator {
        pb::filter_list::Operator::MustPassAll => Box::new(ListAnd::new(filters)),
        pb::filter_list::Operator::MustPassOne => Box::new(ListOr::new(filters)),
    })
}

/// Compares flat keys in the scan's direction: the smaller one comes first.
pub(super) fn compare_keys(reversed: bool, a: &[u8], b: &[u8]) -> Ordering {
    let order = Order::Default.keys(a, b);
    if reversed { order.reverse() } else { order }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn lists_of_nothing_and_of_no_operator() {
        for all in [true, false] {
            check(&list_proto(all, vec![]), "r1 f:a=1 | r2 f:a=2", "r1 f:a=1 | r2 f:a=2");
        }
        refused(&empty("FilterList"), "malformed FilterList: required field operator is missing");
        let proto = pb::FilterList { operator: 3, filters: vec![] };
        refused(&filter_proto("FilterList", &proto), "malformed FilterList: operator 3 is unknown");
    }
}
