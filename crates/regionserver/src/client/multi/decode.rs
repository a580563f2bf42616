//! What a multi asks: its message → tasks.

use super::super::mutate::{check_same_row, decode_condition, write_bytes};
use super::answer::RegionAnswer;
use super::{Doing, Multi, Task};
use crate::cells::CellCursor;
use crate::error::Fault;
use crate::fields::{Fields, Malformed, Value};
use crate::{RegionServer, mutation, query};
use bytes::Bytes;
use martite_proto as pb;
use martite_region::{Condition, Mutation, Region, WriteRequest};
use martite_rpc::Call;
use pb::Message;
use pb::mutation_proto::MutationType;
use std::sync::Arc;

impl RegionServer {
    /// Takes the call's cells.
    pub(super) fn decode_multi(&self, call: &mut Call) -> Result<Multi, Fault> {
        let bytes = write_bytes(call);
        let cells = CellCursor::new(std::mem::take(&mut call.cells), call.conn.codec)?;
        let mut multi = Multi::new(call.conn.codec, self.options.max_result_bytes, call.conn.has_version(1, 2));
        match groups_of_gets(&call.param) {
            Ok(Some(groups)) => self.decode_gets(&mut multi, &groups, &call.param)?,
            Ok(None) | Err(Malformed) => self.decode_any(&mut multi, call, cells)?,
        }
        multi.came = (bytes, multi.tasks.len());
        Ok(multi)
    }

    /// Nothing but Gets: read where they lie.
    fn decode_gets(&self, multi: &mut Multi, groups: &[GetGroup<'_>], frame: &Bytes) -> Result<(), Fault> {
        let actions = groups.iter().map(|g| g.gets.len()).sum();
        self.check_batch(actions)?;
        multi.tasks.reserve(actions);
        for group in groups {
            let specifier = pb::RegionSpecifier::decode(frame.slice_ref(group.region))
                .map_err(|e| Fault::bad_message("RegionSpecifier", e))?;
            let slot = multi.results.len();
            multi.results.push(RegionAnswer::default());
            let (region, stale) = match self.readable(&specifier) {
                Ok(found) => found,
                Err(fault) => {
                    multi.results[slot].exception = Some(fault.to_pair());
                    continue;
                }
            };
            multi.stats.push(self.load_stats(&region));
            multi.regions.push(specifier);
            // What the last Get has behind its row: mostly all of them have the same.
            let mut like = None;
            for (index, get) in &group.gets {
                let (row, rest) = query::row_and_rest(get).unzip();
                if let (Some(row), true) = (row, like.is_some() && like == rest) {
                    match query::check_row(row) {
                        Ok(()) => multi.push_like(slot, *index, frame.slice_ref(row)),
                        Err(fault) => multi.push_fault(slot, *index, &fault),
                    }
                    continue;
                }
                match query::decode_get(get, frame, &region) {
                    Ok(get) => {
                        // Of a row that comes twice the last one counts.
                        like = rest.filter(|_| row == Some(&get.row[..]));
                        multi.push_get((slot, stale), &region, *index, get);
                    }
                    Err(fault) => {
                        like = None;
                        multi.push_fault(slot, *index, &fault);
                    }
                }
            }
        }
        Ok(())
    }

    fn decode_any(&self, multi: &mut Multi, call: &Call, mut cells: CellCursor) -> Result<(), Fault> {
        let request =
            pb::MultiRequest::decode(call.param.clone()).map_err(|e| Fault::bad_message("MultiRequest", e))?;
        let actions = request.region_action.iter().map(|r| r.action.len()).sum();
        self.check_batch(actions)?;
        multi.tasks.reserve(actions);
        let nonce_group = request.nonce_group.unwrap_or(0);
        for mut group in request.region_action {
            // Clients up to 2.3 put the condition of a checkAndMutate beside the actions.
            if group.condition.is_none() {
                group.condition = request.condition.clone();
            }
            let slot = multi.results.len();
            multi.results.push(RegionAnswer::default());
            if let Err(fault) = self.decode_group(multi, slot, group, nonce_group, &mut cells) {
                multi.results[slot] = RegionAnswer::failed(&fault);
            }
        }
        Ok(())
    }

    fn check_batch(&self, actions: usize) -> Result<(), Fault> {
        if self.options.reject_large_batches && actions > self.options.batch_rows_threshold {
            return Err(Fault::do_not_retry(format!(
                "Rejecting large batch operation for current batch with {actions} rows, threshold {}",
                self.options.batch_rows_threshold
            )));
        }
        Ok(())
    }

    fn decode_group(
        &self,
        multi: &mut Multi,
        slot: usize,
        group: pb::RegionAction,
        nonce_group: u64,
        cells: &mut CellCursor,
    ) -> Result<(), Fault> {
        let writes = group.action.iter().any(|a| a.mutation.is_some());
        let found = if writes {
            self.writable(&group.region).and_then(|region| self.check_memstore_room(&region).map(|()| (region, false)))
        } else {
            self.readable(&group.region)
        };
        let (region, stale) = match found {
            Ok(found) => found,
            Err(fault) => {
                // Its cells must be passed over, for the next region's to be found.
                for mutation in group.action.iter().filter_map(|a| a.mutation.as_ref()) {
                    cells.skip(mutation.associated_cell_count.unwrap_or(0).max(0) as usize)?;
                }
                return Err(fault);
            }
        };
        multi.stats.push(self.load_stats(&region));
        multi.regions.push(group.region.clone());
        if group.condition.is_some() || group.atomic == Some(true) {
            let condition = group.condition.as_ref().map(decode_condition).transpose();
            let task = decode_atomic(slot, region, group, condition, nonce_group, cells)?;
            multi.tasks.push(task);
            return Ok(());
        }
        decode_separate(multi, (slot, stale), &region, group, nonce_group, cells);
        Ok(())
    }
}

/// A region's part of a multi that has nothing but Gets: the message that names the region, indices and Gets.
struct GetGroup<'a> {
    region: &'a [u8],
    gets: Vec<(u32, &'a [u8])>,
}

/// None: the multi has something else in it.
fn groups_of_gets(request: &[u8]) -> Result<Option<Vec<GetGroup<'_>>>, Malformed> {
    let mut groups = Vec::new();
    let mut fields = Fields::new(request);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(group)) => match group_of_gets(group)? {
                Some(group) => groups.push(group),
                None => return Ok(None),
            },
            // The nonce group is for Increments and Appends.
            (2, Value::Number(_)) => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(groups))
}

fn group_of_gets(group: &[u8]) -> Result<Option<GetGroup<'_>>, Malformed> {
    let (mut region, mut gets) = (None, Vec::new());
    let mut fields = Fields::new(group);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(specifier)) => region = Some(specifier),
            (2, Value::Number(0)) => {}
            (3, Value::Bytes(action)) => {
                let (mut index, mut get) = (0, None);
                let mut fields = Fields::new(action);
                while let Some(field) = fields.next()? {
                    match field {
                        (1, Value::Number(number)) => index = number as u32,
                        (3, Value::Bytes(bytes)) => get = Some(bytes),
                        _ => return Ok(None),
                    }
                }
                let Some(get) = get else { return Ok(None) };
                gets.push((index, get));
            }
            _ => return Ok(None),
        }
    }
    Ok(region.map(|region| GetGroup { region, gets }))
}

/// A group that succeeds or fails as a whole.
fn decode_atomic(
    slot: usize,
    region: Arc<Region>,
    group: pb::RegionAction,
    condition: Result<Option<Condition>, Fault>,
    nonce_group: u64,
    cells: &mut CellCursor,
) -> Result<Task, Fault> {
    let mut mutations = Vec::with_capacity(group.action.len());
    let mut first_fault = None;
    for action in &group.action {
        match &action.mutation {
            Some(proto) => match mutation::decode(proto, cells) {
                Ok(one) => mutations.push(one),
                Err(fault) => first_fault = first_fault.or(Some(fault)),
            },
            None => {
                first_fault = first_fault.or_else(|| {
                    Some(Fault::do_not_retry("Atomic put and/or delete only, not a Get or another action"))
                });
            }
        }
    }
    let condition = condition?;
    if let Some(fault) = first_fault {
        return Err(fault);
    }
    if let Some(condition) = &condition {
        check_same_row(condition, &mutations)?;
    }
    let work = Doing::Atomic {
        actions: group.action.len(),
        conditional: condition.is_some(),
        write: WriteRequest::atomic(mutations, condition, nonce_group),
    };
    Ok(Task { slot, region, work })
}

/// Actions that stand for themselves; Puts and Deletes that follow each other become one batch.
fn decode_separate(
    multi: &mut Multi,
    (slot, stale): (usize, bool),
    region: &Arc<Region>,
    group: pb::RegionAction,
    nonce_group: u64,
    cells: &mut CellCursor,
) {
    let mut batch: (Vec<u32>, Vec<Mutation>) = Default::default();
    let flush = |multi: &mut Multi, batch: &mut (Vec<u32>, Vec<Mutation>)| {
        if !batch.0.is_empty() {
            let (indices, mutations) = std::mem::take(batch);
            let work = Doing::Batch { indices, write: WriteRequest::batch(mutations) };
            multi.tasks.push(Task { slot, region: region.clone(), work });
        }
    };
    for action in group.action {
        let index = action.index.unwrap_or(0);
        let work = if let Some(get) = action.get {
            match query::get(&get, region) {
                Ok(get) => multi.push_get((slot, stale), region, index, get.into()),
                Err(fault) => multi.push_fault(slot, index, &fault),
            }
            continue;
        } else if let Some(proto) = action.mutation {
            let plain = matches!(
                MutationType::try_from(proto.mutate_type.unwrap_or_default()),
                Ok(MutationType::Put | MutationType::Delete)
            );
            match mutation::decode(&proto, cells) {
                Err(fault) => {
                    multi.push_fault(slot, index, &fault);
                    continue;
                }
                Ok(one) if plain => {
                    batch.0.push(index);
                    batch.1.push(one);
                    continue;
                }
                Ok(one) => Doing::Single { index, write: WriteRequest::atomic(vec![one], None, nonce_group) },
            }
        } else if let Some(call) = action.service_call {
            Doing::Service { index, call }
        } else {
            multi.push_fault(slot, index, &Fault::io("Unexpected Action type"));
            continue;
        };
        if matches!(work, Doing::Single { .. }) {
            flush(multi, &mut batch);
        }
        multi.tasks.push(Task { slot, region: region.clone(), work });
    }
    flush(multi, &mut batch);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(actions: Vec<pb::Action>, atomic: Option<bool>) -> pb::RegionAction {
        let region = pb::RegionSpecifier { r#type: 1, value: "t,,1".into() };
        pb::RegionAction { region, atomic, action: actions, condition: None }
    }

    #[test]
    fn gets_are_found_where_they_lie_and_anything_else_is_left() {
        let get = |index| pb::Action {
            index: Some(index),
            get: Some(pb::Get { row: "r".into(), ..pb::Get::default() }),
            ..pb::Action::default()
        };
        let plain = |request: pb::MultiRequest| {
            let bytes = request.encode_to_vec();
            groups_of_gets(&bytes).unwrap().map(|groups| {
                let indices = |g: &GetGroup<'_>| g.gets.iter().map(|(index, _)| *index).collect::<Vec<_>>();
                groups.iter().map(indices).collect::<Vec<_>>()
            })
        };
        let request = |region_action| pb::MultiRequest { region_action, nonce_group: Some(5), condition: None };
        let two = request(vec![group(vec![get(0), get(2)], None), group(vec![get(1)], Some(false))]);
        assert_eq!(plain(two.clone()), Some(vec![vec![0, 2], vec![1]]));
        assert_eq!(plain(request(vec![group(vec![get(0)], Some(true))])), None);
        let put = pb::Action { mutation: Some(pb::MutationProto::default()), ..pb::Action::default() };
        assert_eq!(plain(request(vec![group(vec![get(0), put], None)])), None);
        assert_eq!(plain(pb::MultiRequest { condition: Some(pb::Condition::default()), ..two }), None);
        assert_eq!(groups_of_gets(b"\x0a\x05x").err(), Some(Malformed));
    }
}
