//! `MutationProto` → [`Mutation`]: a Put, Delete, Increment or Append with its cells, from the message or from the
//! request's cell block.

use crate::cells::CellCursor;
use crate::error::Fault;
use bytes::Bytes;
use martite_cell::{CellBuf, CellRef, CellType, LATEST_TIMESTAMP, TimeRange, key};
use martite_proto as pb;
use martite_region::{Durability, Mutation, MutationKind};
use pb::mutation_proto::{DeleteType, MutationType};

/// Attribute with the time to live of the mutation's cells: i64 ms.
const TTL_ATTRIBUTE: &str = "_ttl";
/// Attribute that says whether Increment and Append answer with their cells: one byte.
const RETURN_RESULTS_ATTRIBUTE: &str = "_rr_";

/// Reads one mutation and takes its cells from `cells`.
pub fn decode(proto: &pb::MutationProto, cells: &mut CellCursor) -> Result<Mutation, Fault> {
    let kind = match MutationType::try_from(proto.mutate_type.unwrap_or_default()) {
        Ok(MutationType::Put) => MutationKind::Put,
        Ok(MutationType::Delete) => MutationKind::Delete,
        Ok(MutationType::Increment) => MutationKind::Increment,
        Ok(MutationType::Append) => MutationKind::Append,
        Err(e) => return Err(Fault::do_not_retry(format!("Unsupported mutate type: {}", e.0))),
    };
    let count = proto.associated_cell_count.unwrap_or(0).max(0) as usize;
    let (row, cells) = if count > 0 {
        let cells = cells.take(count).map_err(|e| {
            Fault::do_not_retry(format!("Cell count of {count} but the cell block does not hold them: {e}"))
        })?;
        let row = match &proto.row {
            Some(row) => row.clone(),
            None => cells.get(0).map(|c| Bytes::copy_from_slice(c.row())).unwrap_or_default(),
        };
        if let Some(other) = cells.iter().find(|c| c.row() != row) {
            return Err(Fault::wrong_row(other.row(), &row));
        }
        (row, cells)
    } else {
        let row = proto.row.clone().ok_or_else(|| Fault::illegal_argument("row cannot be null"))?;
        let cells = inline_cells(proto, kind, &row)?;
        (row, cells)
    };
    if row.is_empty() {
        return Err(Fault::illegal_argument("Row buffer is null or empty"));
    }
    if row.len() > key::MAX_ROW_LENGTH {
        return Err(Fault::illegal_argument(format!("Row length {} is > {}", row.len(), key::MAX_ROW_LENGTH)));
    }
    Ok(Mutation {
        kind,
        row,
        cells,
        durability: Durability::from_wire(proto.durability.unwrap_or(0)),
        time_range: time_range(proto.time_range.as_ref()),
        ttl_ms: attribute(&proto.attribute, TTL_ATTRIBUTE)
            .and_then(|v| Some(u64::from_be_bytes(v.as_ref().try_into().ok()?))),
        return_results: attribute(&proto.attribute, RETURN_RESULTS_ATTRIBUTE)
            .is_none_or(|v| v.first().is_none_or(|b| *b != 0)),
        nonce: proto.nonce.unwrap_or(0),
        delete_row_ts: proto.timestamp.unwrap_or(LATEST_TIMESTAMP),
        cluster_ids: Vec::new(),
    })
}

pub fn time_range(proto: Option<&pb::TimeRange>) -> TimeRange {
    match proto {
        None => TimeRange::ALL,
        Some(r) => TimeRange::new(r.from.unwrap_or(0), r.to.unwrap_or(TimeRange::ALL.max)),
    }
}

/// The value of a request attribute.
pub fn attribute<'a>(attributes: &'a [pb::NameBytesPair], name: &str) -> Option<&'a Bytes> {
    attributes.iter().find(|a| a.name == name)?.value.as_ref()
}

/// Cells that stand in the message itself: clients without a codec. A Delete of a whole row has none.
fn inline_cells(proto: &pb::MutationProto, kind: MutationKind, row: &[u8]) -> Result<CellBuf, Fault> {
    let default_ts = proto.timestamp.unwrap_or(LATEST_TIMESTAMP);
    let mut cells = CellBuf::new(true);
    let mut flat = Vec::new();
    if row.len() > key::MAX_ROW_LENGTH {
        return Err(Fault::illegal_argument(format!("Row length {} is > {}", row.len(), key::MAX_ROW_LENGTH)));
    }
    for column in &proto.column_value {
        if column.family.len() > key::MAX_FAMILY_LENGTH {
            return Err(Fault::illegal_argument(format!("Family of {} bytes", column.family.len())));
        }
        for qv in &column.qualifier_value {
            let qualifier = qv.qualifier.as_deref().unwrap_or_default();
            let (ts, cell_type, value) = if kind == MutationKind::Delete {
                let delete = DeleteType::try_from(qv.delete_type.unwrap_or_default())
                    .map_err(|e| Fault::do_not_retry(format!("Unknown delete type: {}", e.0)))?;
                (qv.timestamp.unwrap_or(LATEST_TIMESTAMP), delete_code(delete), &[][..])
            } else {
                let value = qv
                    .value
                    .as_deref()
                    .ok_or_else(|| Fault::do_not_retry("Missing required field: qualifier value"))?;
                let default_ts = if kind == MutationKind::Put { default_ts } else { LATEST_TIMESTAMP };
                let cell_type = match qv.delete_type.and_then(|d| DeleteType::try_from(d).ok()) {
                    Some(delete) if kind == MutationKind::Put => delete_code(delete),
                    _ => CellType::Put,
                };
                (qv.timestamp.unwrap_or(default_ts), cell_type, value)
            };
            let qualifier = if matches!(cell_type, CellType::DeleteFamily | CellType::DeleteFamilyVersion) {
                &[][..]
            } else {
                qualifier
            };
            if let Some(tags) = qv.tags.as_ref().filter(|tags| tags.len() > u16::MAX as usize) {
                return Err(Fault::illegal_argument(format!("Tags of {} bytes", tags.len())));
            }
            flat.clear();
            key::append_key(&mut flat, row, &column.family, qualifier, ts, cell_type as u8);
            cells.push(&CellRef { key: &flat, value, tags: qv.tags.as_deref().unwrap_or_default(), seq_id: 0 });
        }
    }
    Ok(cells)
}

fn delete_code(delete: DeleteType) -> CellType {
    match delete {
        DeleteType::DeleteOneVersion => CellType::Delete,
        DeleteType::DeleteMultipleVersions => CellType::DeleteColumn,
        DeleteType::DeleteFamily => CellType::DeleteFamily,
        DeleteType::DeleteFamilyVersion => CellType::DeleteFamilyVersion,
    }
}
