//! Requests, written into a connection's output as they travel: no message objects between a row's number and its bytes.
//!
//! ```text
//! length | header: call id, method, timeout | message | cells
//! ```

use crate::rows::{self, FAMILY, Key, Shape};
use crate::target::{Target, columns, put_field};
use martite_cell::{CellType, LATEST_TIMESTAMP, key};
use martite_proto as pb;
use martite_rpc::format::{put_varint, varint_len};
use pb::Message;
use pb::mutation_proto::MutationType;

/// What every request header says after the method: request_param, timeout of a minute.
const HEADER_END: [u8; 6] = [0x20, 0x01, 0x38, 0xe0, 0xd4, 0x03];

/// The end of request headers, with the priority that the client's setPriority gives if it is not 0.
pub fn header_end(priority: u32) -> Vec<u8> {
    let mut end = HEADER_END.to_vec();
    if priority > 0 {
        end.push(0x30);
        put_varint(&mut end, u64::from(priority));
    }
    end
}

/// A frame up to its message's first byte.
fn put_head(out: &mut Vec<u8>, id: u32, target: &Target, method: &str, message_len: usize, cells_len: usize) {
    let meta_len = 1 + varint_len(cells_len as u64);
    let cells_field = if cells_len > 0 { 2 + meta_len } else { 0 };
    let header_len = 1 + varint_len(u64::from(id)) + 2 + method.len() + target.header_end.len() + cells_field;
    let total = varint_len(header_len as u64) + header_len + varint_len(message_len as u64) + message_len + cells_len;
    out.extend_from_slice(&(total as u32).to_be_bytes());
    put_varint(out, header_len as u64);
    out.push(0x08);
    put_varint(out, u64::from(id));
    out.extend_from_slice(&[0x1a, method.len() as u8]);
    out.extend_from_slice(method.as_bytes());
    if cells_len > 0 {
        out.extend_from_slice(&[0x2a, meta_len as u8, 0x08]);
        put_varint(out, cells_len as u64);
    }
    out.extend_from_slice(&target.header_end);
    put_varint(out, message_len as u64);
}

/// Bytes of a field with that many bytes in it, of a number below 16.
fn field_len(content: usize) -> usize {
    1 + varint_len(content as u64) + content
}

/// The Get of a row: field `field` of what is around it.
#[inline]
fn put_get(out: &mut Vec<u8>, field: u8, target: &Target, key: &Key) {
    out.push(field << 3 | 2);
    put_varint(out, get_len(target) as u64);
    out.extend_from_slice(&[0x0a, key.len() as u8]);
    out.extend_from_slice(key);
    out.extend_from_slice(&target.get_columns);
}

fn get_len(target: &Target) -> usize {
    field_len(rows::KEY_LEN) + target.get_columns.len()
}

/// A single Get.
pub fn get(out: &mut Vec<u8>, id: u32, target: &Target, row: u64) {
    let region = &target.regions[target.region_of(row)];
    put_head(out, id, target, "Get", region.field.len() + field_len(get_len(target)), 0);
    out.extend_from_slice(&region.field);
    put_get(out, 2, target, &rows::key(row));
}

/// Room for the parts of a multi between requests.
#[derive(Debug, Default)]
pub struct Scratch {
    message: Vec<u8>,
    part: Vec<u8>,
    cells: Vec<u8>,
}

/// Gets of `rows`, which are put into the order of their regions; the index of an action is its row's place.
pub fn multi_get(out: &mut Vec<u8>, id: u32, target: &Target, rows: &mut [u64], scratch: &mut Scratch) {
    let region = |row: &u64| target.region_of(*row);
    if target.regions.len() > 1 {
        rows.sort_by_key(region);
    }
    scratch.message.clear();
    let mut index = 0u64;
    for group in rows.chunk_by(|a, b| region(a) == region(b)) {
        let part = &mut scratch.part;
        part.clear();
        part.extend_from_slice(&target.regions[region(&group[0])].field);
        for row in group {
            let len = 1 + varint_len(index) + field_len(get_len(target));
            part.push(0x1a);
            put_varint(part, len as u64);
            part.push(0x08);
            put_varint(part, index);
            put_get(part, 3, target, &rows::key(*row));
            index += 1;
        }
        put_field(&mut scratch.message, 1, part);
    }
    put_head(out, id, target, "Multi", scratch.message.len(), 0);
    out.extend_from_slice(&scratch.message);
}

/// Puts of whole rows that follow each other, their cells in the cell block.
pub fn multi_put(out: &mut Vec<u8>, id: u32, target: &Target, rows: std::ops::Range<u64>, scratch: &mut Scratch) {
    let shape = target.shape;
    let Scratch { message, part, cells } = scratch;
    message.clear();
    cells.clear();
    let mut row = rows.start;
    let mut index = 0u64;
    while row < rows.end {
        let region = target.region_of(row);
        part.clear();
        part.extend_from_slice(&target.regions[region].field);
        while row < rows.end && target.region_of(row) == region {
            let key = rows::key(row);
            let mutation = field_len(key.len()) + 2 + 2;
            part.push(0x1a);
            put_varint(part, (1 + varint_len(index) + field_len(mutation)) as u64);
            part.push(0x08);
            put_varint(part, index);
            part.extend_from_slice(&[0x12, mutation as u8, 0x0a, key.len() as u8]);
            part.extend_from_slice(&key);
            part.extend_from_slice(&[0x10, MutationType::Put as u8, 0x40, shape.columns as u8]);
            for column in 0..shape.columns {
                put_cell(cells, shape, row, &key, column);
            }
            row += 1;
            index += 1;
        }
        put_field(message, 1, part);
    }
    put_head(out, id, target, "Multi", message.len(), cells.len());
    out.extend_from_slice(message);
    out.extend_from_slice(cells);
}

/// A cell as KeyValueCodec has it; the server gives it the time.
fn put_cell(out: &mut Vec<u8>, shape: Shape, row: u64, row_key: &Key, column: usize) {
    let qualifier = Shape::qualifier(column);
    let key_len = key::KEY_OVERHEAD + row_key.len() + FAMILY.len() + qualifier.len();
    for len in [8 + key_len + shape.value_len, key_len, shape.value_len] {
        out.extend_from_slice(&(len as u32).to_be_bytes());
    }
    key::append_key(out, row_key, FAMILY.as_bytes(), &qualifier, LATEST_TIMESTAMP, CellType::Put as u8);
    rows::put_value(out, row, column, shape.value_len);
}

/// Rows asked for at a time: as many as fit into the answer, which is HBase's default.
const SCAN_ROWS: u32 = i32::MAX as u32;
/// Bytes of cells in an answer, HBase's default (hbase.client.scanner.max.result.size).
const SCAN_BYTES: u64 = 2 << 20;

/// Opens a scanner at a row of a region and asks for its first rows.
pub fn open_scan(
    out: &mut Vec<u8>,
    id: u32,
    target: &Target,
    region: usize,
    start: &[u8],
    stop: &[u8],
    filter: Option<&pb::Filter>,
) {
    let scan = pb::Scan {
        column: vec![columns(target.shape)],
        start_row: Some(start.to_vec().into()),
        stop_row: Some(stop.to_vec().into()),
        filter: filter.cloned(),
        max_versions: Some(1),
        cache_blocks: Some(true),
        max_result_size: Some(SCAN_BYTES),
        caching: Some(SCAN_ROWS),
        ..Default::default()
    };
    let request =
        pb::ScanRequest { region: Some(target.regions[region].specifier.clone()), scan: Some(scan), ..next_rows() };
    put_message(out, id, target, "Scan", &request);
}

/// Opens a scanner at a row and asks for `rows` rows, after which the server closes it.
pub fn open_short_scan(out: &mut Vec<u8>, id: u32, target: &Target, start: u64, rows: u32) {
    let scan = pb::Scan {
        column: vec![columns(target.shape)],
        start_row: Some(rows::key(start).to_vec().into()),
        max_versions: Some(1),
        cache_blocks: Some(true),
        max_result_size: Some(SCAN_BYTES),
        caching: Some(rows),
        ..Default::default()
    };
    let region = Some(target.regions[target.region_of(start)].specifier.clone());
    put_message(out, id, target, "Scan", &pb::ScanRequest { region, scan: Some(scan), ..at_most(rows) });
}

/// Asks an open scanner for more, of which `rows` are left.
pub fn next_of_short_scan(out: &mut Vec<u8>, id: u32, target: &Target, scanner: u64, seq: u64, rows: u32) {
    let request = pb::ScanRequest { scanner_id: Some(scanner), next_call_seq: Some(seq), ..at_most(rows) };
    put_message(out, id, target, "Scan", &request);
}

fn at_most(rows: u32) -> pb::ScanRequest {
    pb::ScanRequest { number_of_rows: Some(rows), limit_of_rows: Some(rows), ..next_rows() }
}

/// Asks an open scanner for more.
pub fn next_scan(out: &mut Vec<u8>, id: u32, target: &Target, scanner: u64, seq: u64) {
    let request = pb::ScanRequest { scanner_id: Some(scanner), next_call_seq: Some(seq), ..next_rows() };
    put_message(out, id, target, "Scan", &request);
}

fn next_rows() -> pb::ScanRequest {
    pb::ScanRequest {
        number_of_rows: Some(SCAN_ROWS),
        client_handles_partials: Some(true),
        client_handles_heartbeats: Some(true),
        ..Default::default()
    }
}

fn put_message(out: &mut Vec<u8>, id: u32, target: &Target, method: &str, message: &impl Message) {
    let bytes = message.encode_to_vec();
    put_head(out, id, target, method, bytes.len(), 0);
    out.extend_from_slice(&bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{SINGLE, TEN};
    use crate::target::example;
    use bytes::{Buf, Bytes};
    use martite_cell::CellBuf;

    /// Header, message and cells of a frame, as prost reads them.
    fn parts<M: Message + Default>(frame: &[u8]) -> (pb::RequestHeader, M, Bytes) {
        let mut rest = Bytes::copy_from_slice(frame);
        assert_eq!(rest.get_u32() as usize, rest.len());
        let header = pb::RequestHeader::decode_length_delimited(&mut rest).unwrap();
        let message = M::decode_length_delimited(&mut rest).unwrap();
        (header, message, rest)
    }

    fn want_header(id: u32, method: &str, cells: Option<usize>) -> pb::RequestHeader {
        pb::RequestHeader {
            call_id: Some(id),
            method_name: Some(method.to_owned()),
            request_param: Some(true),
            cell_block_meta: cells.map(|n| pb::CellBlockMeta { length: Some(n as u32) }),
            timeout: Some(60_000),
            ..Default::default()
        }
    }

    fn want_get(target: &Target, row: u64) -> pb::Get {
        pb::Get { row: rows::key(row).to_vec().into(), column: vec![columns(target.shape)], ..Default::default() }
    }

    #[test]
    fn a_get_is_what_prost_would_write() {
        let target = example(TEN, 100, &[50]);
        for (id, row) in [(0, 3), (127, 50), (300, 99)] {
            let mut out = vec![7];
            get(&mut out, id, &target, row);
            let (header, message, cells) = parts::<pb::GetRequest>(&out[1..]);
            let region = target.regions[usize::from(row >= 50)].specifier.clone();
            assert_eq!(header, want_header(id, "Get", None));
            assert_eq!(message, pb::GetRequest { region, get: want_get(&target, row) });
            assert!(cells.is_empty());
        }
    }

    #[test]
    fn a_priority_is_in_the_header() {
        let target = example(SINGLE, 100, &[]).with_priority(1);
        let mut out = Vec::new();
        get(&mut out, 5, &target, 3);
        let (header, _, _) = parts::<pb::GetRequest>(&out);
        assert_eq!(header, pb::RequestHeader { priority: Some(1), ..want_header(5, "Get", None) });
    }

    #[test]
    fn a_multi_get_has_its_rows_by_region_and_numbered() {
        let target = example(SINGLE, 1000, &[500]);
        let mut rows: Vec<u64> = (0..200).map(|i| i * 37 % 1000).collect();
        let (mut out, mut scratch) = (Vec::new(), Scratch::default());
        multi_get(&mut out, 9, &target, &mut rows, &mut scratch);
        let (header, message, _) = parts::<pb::MultiRequest>(&out);
        assert_eq!(header, want_header(9, "Multi", None));
        assert_eq!(message.region_action.len(), 2);
        let mut seen = 0;
        for (part, region) in message.region_action.iter().zip(&target.regions) {
            assert_eq!(part.region, region.specifier);
            for action in &part.action {
                let row = rows[seen];
                assert_eq!(action.index, Some(seen as u32));
                assert_eq!(action.get, Some(want_get(&target, row)));
                assert_eq!(&target.regions[target.region_of(row)].field, &region.field);
                seen += 1;
            }
        }
        assert_eq!(seen, 200);
    }

    #[test]
    fn a_multi_put_has_its_cells_beside_it() {
        let target = example(TEN, 1000, &[500]);
        let (mut out, mut scratch) = (Vec::new(), Scratch::default());
        multi_put(&mut out, 1, &target, 498..503, &mut scratch);
        let (header, message, block) = parts::<pb::MultiRequest>(&out);
        assert_eq!(header, want_header(1, "Multi", Some(block.len())));
        let sizes: Vec<_> = message.region_action.iter().map(|part| part.action.len()).collect();
        assert_eq!(sizes, [2, 3]);
        let mutations = message.region_action.iter().flat_map(|part| &part.action);
        for (i, action) in mutations.enumerate() {
            let want = pb::MutationProto {
                row: Some(rows::key(498 + i as u64).to_vec().into()),
                mutate_type: Some(MutationType::Put as i32),
                associated_cell_count: Some(10),
                ..Default::default()
            };
            assert_eq!((action.index, action.mutation.as_ref()), (Some(i as u32), Some(&want)));
        }
        let cells = CellBuf::from_block(block.to_vec(), false).unwrap();
        assert_eq!(cells.len(), 50);
        for (i, cell) in cells.iter().enumerate() {
            let (row, column) = (498 + i as u64 / 10, i % 10);
            assert_eq!((cell.row(), cell.family()), (&rows::key(row)[..], FAMILY.as_bytes()));
            assert_eq!((cell.qualifier(), cell.type_code()), (&Shape::qualifier(column)[..], CellType::Put as u8));
            assert_eq!(cell.timestamp(), LATEST_TIMESTAMP);
            assert!(rows::is_value(cell.value, row, column, 100));
        }
    }

    #[test]
    fn a_scan_opens_and_goes_on() {
        let target = example(SINGLE, 1000, &[500]);
        let mut out = Vec::new();
        open_scan(&mut out, 2, &target, 1, b"a", b"b", None);
        let (header, message, _) = parts::<pb::ScanRequest>(&out);
        assert_eq!(header, want_header(2, "Scan", None));
        assert_eq!(message.region, Some(target.regions[1].specifier.clone()));
        let scan = message.scan.unwrap();
        assert_eq!((scan.start_row.as_deref(), scan.stop_row.as_deref()), (Some(&b"a"[..]), Some(&b"b"[..])));
        out.clear();
        next_scan(&mut out, 2, &target, 77, 5);
        let (_, message, _) = parts::<pb::ScanRequest>(&out);
        assert_eq!((message.scanner_id, message.next_call_seq), (Some(77), Some(5)));
        assert_eq!((message.region, message.scan), (None, None));
    }

    #[test]
    fn a_short_scan_says_how_many_rows_are_left() {
        let target = example(SINGLE, 1000, &[500]);
        let mut out = Vec::new();
        open_short_scan(&mut out, 2, &target, 600, 100);
        let (_, message, _) = parts::<pb::ScanRequest>(&out);
        assert_eq!(message.region, Some(target.regions[1].specifier.clone()));
        assert_eq!(
            (message.number_of_rows, message.limit_of_rows, message.close_scanner),
            (Some(100), Some(100), None)
        );
        let start = message.scan.unwrap().start_row;
        assert_eq!(start.as_deref(), Some(&rows::key(600)[..]));
        out.clear();
        next_of_short_scan(&mut out, 2, &target, 77, 5, 40);
        let (_, message, _) = parts::<pb::ScanRequest>(&out);
        assert_eq!((message.scanner_id, message.next_call_seq, message.limit_of_rows), (Some(77), Some(5), Some(40)));
    }
}
