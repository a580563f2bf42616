//! FilterWrapper: what HBase's server puts around a scan's filter; legal on the wire, adds nothing here.

use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::Boxed;
use crate::required::required;
use martite_proto as pb;

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::FilterWrapper = input.message(&[required(1, "filter")])?;
    input.nested(&proto.filter)
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn the_filter_inside_answers() {
        let filter = filter_proto("FilterWrapper", &pb::FilterWrapper { filter: empty("FirstKeyOnlyFilter") });
        check(&filter, "r1 f:a=1 f:b=2", "r1 f:a=1");
        refused(&empty("FilterWrapper"), "malformed FilterWrapper: required field filter is missing");
    }
}
