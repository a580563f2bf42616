//! Frames of a client: a request as it is written, an answer as it is read.

use bytes::{Buf, Bytes};
use martite_compress::StreamCodec;
use martite_proto::{CellBlockMeta, Message, NameBytesPair, RequestHeader, ResponseHeader};

use super::{Answer, CallOptions, ClientError, MAX_ANSWER};
use crate::format::{put_varint, varint};

/// A whole request frame.
pub fn request_frame(id: u32, method: &str, message: &[u8], cells: &[u8], options: CallOptions) -> Vec<u8> {
    let mut frame = Vec::new();
    put_request(&mut frame, id, method, message, &[cells], &options);
    frame
}

/// Appends a request frame. The cell block is given in pieces.
pub fn put_request(out: &mut Vec<u8>, id: u32, method: &str, message: &[u8], cells: &[&[u8]], options: &CallOptions) {
    let cells_len: usize = cells.iter().map(|piece| piece.len()).sum();
    out.reserve(64 + method.len() + message.len() + cells_len);
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let attribute = |(name, value): &(String, Bytes)| NameBytesPair { name: name.clone(), value: Some(value.clone()) };
    let header = RequestHeader {
        call_id: Some(id),
        method_name: Some(method.to_owned()),
        request_param: Some(true),
        cell_block_meta: (cells_len != 0).then_some(CellBlockMeta { length: Some(cells_len as u32) }),
        priority: options.priority,
        timeout: options.timeout_ms,
        attribute: options.attributes.iter().map(attribute).collect(),
        trace_info: None,
    };
    put_varint(out, header.encoded_len() as u64);
    header.encode_raw(out);
    put_varint(out, message.len() as u64);
    out.extend_from_slice(message);
    cells.iter().for_each(|piece| out.extend_from_slice(piece));
    let len = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&len.to_be_bytes());
}

/// Decodes the content of an answer frame: its call id and what it says.
pub fn decode_answer(frame: Bytes, compressor: Option<StreamCodec>) -> (u32, Result<Answer, ClientError>) {
    let malformed = |what: &str| ClientError::Malformed(what.to_owned());
    let mut rest = frame;
    let header = match ResponseHeader::decode_length_delimited(&mut rest) {
        Ok(header) => header,
        Err(e) => return (u32::MAX, Err(malformed(&e.to_string()))),
    };
    let id = header.call_id.unwrap_or(0);
    if let Some(e) = header.exception {
        let moved_to = e.hostname.zip(e.port.and_then(|port| u16::try_from(port).ok()));
        let remote = ClientError::Remote {
            class: e.exception_class_name.unwrap_or_default(),
            text: e.stack_trace.unwrap_or_default(),
            do_not_retry: e.do_not_retry.unwrap_or(false),
            overloaded: e.server_overloaded.unwrap_or(false),
            moved_to,
        };
        return (id, Err(remote));
    }
    let Some((len, after)) = varint(&rest).map(|(len, after)| (len as usize, after.len())) else {
        return (id, Err(malformed("no message")));
    };
    rest.advance(rest.len() - after);
    if len > rest.len() {
        return (id, Err(malformed("the message ends after its frame")));
    }
    let message = rest.split_to(len);
    let cells_len = header.cell_block_meta.and_then(|meta| meta.length).unwrap_or(0) as usize;
    if cells_len != rest.len() {
        return (id, Err(malformed("the cell block has not the length that the header says")));
    }
    let cells = match compressor.filter(|_| !rest.is_empty()).map(|c| c.decompress(&rest, MAX_ANSWER)) {
        None => rest,
        Some(Ok(plain)) => plain.into(),
        Some(Err(e)) => return (id, Err(malformed(&e.to_string()))),
    };
    (id, Ok(Answer { message, cells }))
}
