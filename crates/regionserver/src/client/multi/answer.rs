//! What a multi answers, put together as its tasks end.

use super::super::mutate::untagged;
use super::Multi;
use crate::error::Fault;
use crate::result;
use martite_cell::CellBuf;
use martite_proto as pb;
use pb::Message;
use pb::prost::encoding;

/// A RegionActionResult in the making. Its entries are encoded at once: a multi has many, and each is small.
#[derive(Default)]
pub(super) struct RegionAnswer {
    entries: Vec<u8>,
    pub(super) exception: Option<pb::NameBytesPair>,
    processed: Option<bool>,
    /// What it says of the whole multi.
    of_all: Option<bool>,
    /// Cells of it in the cell block.
    pub(super) cells: usize,
}

impl RegionAnswer {
    /// The region's part failed as a whole.
    pub(super) fn failed(fault: &Fault) -> RegionAnswer {
        RegionAnswer { exception: Some(fault.to_pair()), ..RegionAnswer::default() }
    }

    /// Nothing has been answered.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.exception.is_none()
    }
}

/// Appends a field that is a message.
fn put_message(field: u32, message: &impl Message, out: &mut Vec<u8>) {
    encoding::encode_key(field, encoding::WireType::LengthDelimited, out);
    // A Vec takes everything.
    let _ = message.encode_length_delimited(out);
}

/// The encoded MultiResponse.
pub(super) fn response(multi: &mut Multi) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + multi.results.iter().map(|r| 16 + r.entries.len()).sum::<usize>());
    let of_all = multi.results.iter().rev().find_map(|answer| answer.of_all);
    for RegionAnswer { entries, exception, processed, .. } in std::mem::take(&mut multi.results) {
        let rest = pb::RegionActionResult { result_or_exception: Vec::new(), exception, processed };
        encoding::encode_key(1, encoding::WireType::LengthDelimited, &mut out);
        encoding::encode_varint((entries.len() + rest.encoded_len()) as u64, &mut out);
        out.extend_from_slice(&entries);
        let _ = rest.encode(&mut out);
    }
    let (region, stat) = (std::mem::take(&mut multi.regions), std::mem::take(&mut multi.stats));
    let rest = pb::MultiResponse {
        region_action_result: Vec::new(),
        processed: of_all,
        region_statistics: Some(pb::MultiRegionLoadStats { region, stat }),
    };
    let _ = rest.encode(&mut out);
    out
}

/// One multi of all parts: each answer has its place, and its cells stand in the block in the order of the answers.
pub(super) fn merge(mut parts: Vec<Multi>) -> Multi {
    let Some(last) = parts.last() else { return Multi::new(None, 0, false) };
    let (codec, slots) = (last.codec, last.results.len());
    let mut whole = Multi::new(codec, 0, false);
    let mut answers: Vec<_> = parts.iter_mut().map(|part| std::mem::take(&mut part.results).into_iter()).collect();
    let mut cells: Vec<_> = parts.iter().map(|part| part.cells.iter()).collect();
    for _ in 0..slots {
        let mut answer = RegionAnswer::default();
        for (answers, cells) in answers.iter_mut().zip(&mut cells) {
            let Some(of_part) = answers.next().filter(|of_part| !of_part.is_empty()) else { continue };
            cells.take(of_part.cells).for_each(|cell| whole.cells.push(&cell));
            answer = of_part;
        }
        whole.results.push(answer);
    }
    drop(cells);
    for part in parts {
        whole.regions.extend(part.regions);
        whole.stats.extend(part.stats);
    }
    whole
}

impl Multi {
    pub(super) fn push(&mut self, slot: usize, entry: pb::ResultOrException) {
        put_message(1, &entry, &mut self.results[slot].entries);
    }

    /// A success always has a result, even an empty one: gohbase takes an action without for an error.
    pub(super) fn push_success(&mut self, slot: usize, index: u32, result: pb::Result) {
        self.push(slot, pb::ResultOrException { index: Some(index), result: Some(result), ..Default::default() });
    }

    pub(super) fn push_fault(&mut self, slot: usize, index: u32, fault: &Fault) {
        let exception = Some(fault.to_pair());
        self.push(slot, pb::ResultOrException { index: Some(index), exception, ..Default::default() });
    }

    /// The cells since `mark` are the answer of a Get.
    pub(super) fn push_read(
        &mut self,
        slot: usize,
        index: u32,
        mark: martite_cell::buf::Mark,
        existence: Option<bool>,
        stale: bool,
    ) {
        let mut result = match (existence, self.codec) {
            (Some(exists), _) => result::exists(exists),
            (None, Some(_)) => result::in_block(self.cells.len_since(mark)),
            (None, None) => {
                self.inline_bytes += self.cells.size_bytes();
                let result = result::inline(self.cells.iter());
                self.cells.clear();
                result
            }
        };
        result.stale = stale.then_some(true);
        self.push_success(slot, index, result);
    }

    /// The new cells of an Increment or Append.
    pub(super) fn push_cells(&mut self, slot: usize, index: u32, cells: CellBuf) {
        let result = match self.codec {
            Some(codec) => {
                let cells = untagged(cells, codec);
                cells.iter().for_each(|c| self.cells.push(&c));
                result::in_block(cells.len())
            }
            None => result::inline(cells.iter()),
        };
        self.push_success(slot, index, result);
    }

    pub(super) fn push_batch(&mut self, slot: usize, indices: &[u32], written: martite_region::Written) {
        for (index, op) in indices.iter().zip(written.ops) {
            match op {
                Ok(()) => self.push_success(slot, *index, pb::Result::default()),
                Err(e) => self.push_fault(slot, *index, &Fault::from(e)),
            }
        }
        self.pending.push(written.pending);
    }

    pub(super) fn push_atomic(
        &mut self,
        slot: usize,
        actions: usize,
        conditional: bool,
        written: martite_region::Written,
    ) {
        self.results[slot].processed = Some(written.processed);
        if !conditional || written.processed {
            self.results[slot].of_all = Some(written.processed);
        }
        // Results of Increments and Appends stand merged in the first element, and in the message itself even for
        // clients with a codec. Under a condition the other elements have an index only.
        let mut first = written.result.as_ref().map(|cells| result::inline(cells.iter()));
        for index in 0..actions as u32 {
            match first.take() {
                None if conditional => {
                    self.push(slot, pb::ResultOrException { index: Some(index), ..Default::default() });
                }
                result => self.push_success(slot, index, result.unwrap_or_default()),
            }
        }
        self.pending.push(written.pending);
    }

    pub(super) fn push_service(&mut self, slot: usize, index: u32, answer: Result<pb::NameBytesPair, Fault>) {
        match answer {
            Ok(value) => self.push(
                slot,
                pb::ResultOrException {
                    index: Some(index),
                    service_result: Some(pb::CoprocessorServiceResult { value: Some(value) }),
                    ..Default::default()
                },
            ),
            Err(fault) => self.push_fault(slot, index, &fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_put_together_in_the_order_of_the_actions() {
        let codec = Some(martite_cell::Codec::KeyValue);
        let part = |slots: &[(usize, &[&str])]| {
            let mut part = Multi::new(codec, 1 << 20, true);
            part.results.resize_with(4, RegionAnswer::default);
            for (slot, rows) in slots {
                for (index, row) in rows.iter().enumerate() {
                    let cell = martite_cell::OwnedCell::put(row.as_bytes(), b"f", b"q", 1, b"v");
                    part.cells.push(&cell.as_ref());
                    part.push_success(*slot, index as u32, result::in_block(1));
                    part.results[*slot].cells += 1;
                }
            }
            part
        };
        let mut refused = part(&[]);
        refused.results[1] = RegionAnswer::failed(&Fault::io("too late"));
        // They end in any order.
        let mut whole = merge(vec![part(&[(3, &["d"])]), refused, part(&[(0, &["a", "b"]), (2, &["c"])])]);
        let rows: Vec<_> = whole.cells.iter().map(|cell| cell.row().to_vec()).collect();
        assert_eq!(rows, [b"a", b"b", b"c", b"d"]);
        let answer = pb::MultiResponse::decode(&response(&mut whole)[..]).unwrap();
        let said = |part: &pb::RegionActionResult| (part.result_or_exception.len(), part.exception.is_some());
        let said: Vec<_> = answer.region_action_result.iter().map(said).collect();
        assert_eq!(said, [(2, false), (0, true), (1, false), (1, false)]);
    }

    #[test]
    fn the_answer_is_put_together_as_prost_would() {
        let mut multi = Multi::new(None, 1 << 20, true);
        multi.results = vec![RegionAnswer::default(), RegionAnswer::default(), RegionAnswer::default()];
        multi.push_success(0, 7, result::in_block(2));
        multi.push_fault(0, 8, &Fault::io("no"));
        multi.results[1].exception = Some(Fault::io("gone").to_pair());
        multi.results[2].processed = Some(false);
        multi.results[2].of_all = Some(false);
        let answer = pb::MultiResponse::decode(&response(&mut multi)[..]).unwrap();
        let [first, second, third] = &answer.region_action_result[..] else { panic!("{answer:?}") };
        let entries: Vec<_> = first.result_or_exception.iter().map(|e| (e.index, e.exception.is_some())).collect();
        assert_eq!(entries, [(Some(7), false), (Some(8), true)]);
        let read = first.result_or_exception[0].result.as_ref().and_then(|r| r.associated_cell_count);
        assert_eq!((read, first.processed), (Some(2), None));
        assert!(second.exception.is_some() && second.result_or_exception.is_empty());
        assert_eq!((third.processed, answer.processed), (Some(false), Some(false)));
        assert!(answer.region_statistics.is_some());
    }
}
