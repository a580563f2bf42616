//! What is kept of a request that waits: its own copies, so that the read buffer that brought it, with others' requests
//! in it, can go.

use bytes::Bytes;
use martite_proto as pb;
use martite_region::{FamilyColumns, GetSpec, WriteBody, WriteRequest};

pub fn own(part: &mut Bytes) {
    *part = Bytes::copy_from_slice(part);
}

pub fn get(spec: &mut GetSpec) {
    own(&mut spec.row);
    spec.families = spec.families.iter().map(owned).collect();
    if let Some(filter) = &mut spec.filter {
        filter.serialized_filter.iter_mut().for_each(own);
    }
}

fn owned(family: &FamilyColumns) -> FamilyColumns {
    let copy = |part: &Bytes| Bytes::copy_from_slice(part);
    let columns = family.columns.iter().map(copy).collect();
    FamilyColumns { family: copy(&family.family), columns, time_range: family.time_range }
}

pub fn service(call: &mut pb::CoprocessorServiceCall) {
    own(&mut call.row);
    own(&mut call.request);
}

/// But for its conditions, of which there is more in the buffer.
pub fn write(request: &mut WriteRequest) {
    let (WriteBody::Batch(mutations) | WriteBody::Atomic { mutations, .. }) = &mut request.body;
    for mutation in mutations {
        own(&mut mutation.row);
        mutation.cells.let_go();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::BytesMut;
    use martite_cell::{CellBuf, OwnedCell};
    use martite_region::{Mutation, MutationKind};

    /// Whether nothing but `frame` itself holds its bytes.
    fn is_free(frame: Bytes) -> bool {
        frame.try_into_mut().is_ok()
    }

    #[test]
    fn a_get_lets_go_of_its_frame() {
        let frame = Bytes::from(b"rowfqxfilter".to_vec());
        let mut spec = GetSpec::new(frame.slice(..3));
        let columns = [frame.slice(4..5), frame.slice(5..6)].into();
        spec.families = [FamilyColumns { family: frame.slice(3..4), columns, time_range: None }].into();
        let filter = Some(frame.slice(6..));
        spec.filter = Some(martite_proto::Filter { name: "n".to_owned(), serialized_filter: filter });
        let before = format!("{spec:?}");
        get(&mut spec);
        assert_eq!(format!("{spec:?}"), before);
        assert!(is_free(frame));
    }

    #[test]
    fn a_write_lets_go_of_its_frame() {
        let mut block = CellBuf::new(true);
        block.push(&OwnedCell::put(b"row", b"f", b"q", 1, b"v").as_ref());
        let mut frame = BytesMut::from(&[b"row", block.bytes(), block.bytes()].concat()[..]);
        let row = frame.split_to(3).freeze();
        let mut put = || {
            let cells = CellBuf::from_part(frame.split_to(block.size_bytes()), true).unwrap();
            Mutation::new(MutationKind::Put, row.clone(), cells)
        };
        let mut batch = WriteRequest::batch(vec![put()]);
        let mut single = WriteRequest::atomic(vec![put()], None, 0);
        write(&mut batch);
        write(&mut single);
        drop(frame);
        assert!(is_free(row));
    }
}
