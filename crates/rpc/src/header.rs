//! Request and response headers, decoded and encoded by hand: they travel with every call.
//!
//! ```text
//! RequestHeader   08 07 | 1a 03 47 65 74 | 20 01 | 38 60     call_id 7, method_name "Get", request_param, timeout 96
//! ResponseHeader  08 07 | 1a 03 08 e8 07                     call_id 7, cell_block_meta{length 1000}
//! ```
//! Messages: HBase 2.6 `RPC.proto`. Decoding allocates nothing unless there are attributes; it accepts what prost does.

use martite_proto::Message;

use crate::Exception;
use crate::format::{put_varint, varint, varint_len};

/// A `RequestHeader`, borrowed from its frame.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RequestHeader<'a> {
    pub call_id: Option<u32>,
    /// Undecoded `RPCTInfo`.
    pub trace_info: Option<&'a [u8]>,
    pub method_name: Option<&'a str>,
    pub request_param: Option<bool>,
    /// Whether `cell_block_meta` is there, and its length.
    pub cell_block_meta: Option<Option<u32>>,
    pub priority: Option<u32>,
    pub timeout: Option<u32>,
    pub attributes: Vec<(&'a str, Option<&'a [u8]>)>,
}

/// A header that is not the protobuf message it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed request header: {0}")]
pub struct MalformedHeader(pub &'static str);

type Result<T> = std::result::Result<T, MalformedHeader>;

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;
const GROUP: u64 = 3;
const GROUP_END: u64 = 4;
const FIXED32: u64 = 5;
/// Nested unknown groups allowed, as in prost.
const MAX_DEPTH: u32 = 100;

impl<'a> RequestHeader<'a> {
    /// Decodes the bytes of one header.
    pub fn decode(mut rest: &'a [u8]) -> Result<RequestHeader<'a>> {
        let mut header = RequestHeader::default();
        while !rest.is_empty() {
            let (tag, wire, after) = key(rest)?;
            rest = after;
            match (tag, wire) {
                (1, VARINT) => header.call_id = Some(take_varint(&mut rest)? as u32),
                (2, BYTES) => header.trace_info = Some(take_bytes(&mut rest)?),
                (3, BYTES) => header.method_name = Some(take_str(&mut rest)?),
                (4, VARINT) => header.request_param = Some(take_varint(&mut rest)? != 0),
                (5, BYTES) => {
                    let length = cell_block_length(take_bytes(&mut rest)?)?;
                    header.cell_block_meta = Some(length.or(header.cell_block_meta.flatten()));
                }
                (6, VARINT) => header.priority = Some(take_varint(&mut rest)? as u32),
                (7, VARINT) => header.timeout = Some(take_varint(&mut rest)? as u32),
                (8, BYTES) => header.attributes.push(attribute(take_bytes(&mut rest)?)?),
                (1..=8, _) => return Err(MalformedHeader("field with a wrong wire type")),
                _ => skip(tag, wire, &mut rest, MAX_DEPTH)?,
            }
        }
        Ok(header)
    }
}

fn cell_block_length(mut rest: &[u8]) -> Result<Option<u32>> {
    let mut length = None;
    while !rest.is_empty() {
        let (tag, wire, after) = key(rest)?;
        rest = after;
        match (tag, wire) {
            (1, VARINT) => length = Some(take_varint(&mut rest)? as u32),
            (1, _) => return Err(MalformedHeader("cell block length with a wrong wire type")),
            _ => skip(tag, wire, &mut rest, MAX_DEPTH)?,
        }
    }
    Ok(length)
}

fn attribute(mut rest: &[u8]) -> Result<(&str, Option<&[u8]>)> {
    let (mut name, mut value) = ("", None);
    while !rest.is_empty() {
        let (tag, wire, after) = key(rest)?;
        rest = after;
        match (tag, wire) {
            (1, BYTES) => name = take_str(&mut rest)?,
            (2, BYTES) => value = Some(take_bytes(&mut rest)?),
            (1 | 2, _) => return Err(MalformedHeader("attribute with a wrong wire type")),
            _ => skip(tag, wire, &mut rest, MAX_DEPTH)?,
        }
    }
    Ok((name, value))
}

#[inline]
fn key(bytes: &[u8]) -> Result<(u32, u64, &[u8])> {
    let (key, rest) = varint(bytes).ok_or(MalformedHeader("field key"))?;
    let tag = u32::try_from(key).map_err(|_| MalformedHeader("field key"))? >> 3;
    if tag == 0 || key & 7 > FIXED32 {
        return Err(MalformedHeader("field key"));
    }
    Ok((tag, key & 7, rest))
}

#[inline]
fn take_varint(rest: &mut &[u8]) -> Result<u64> {
    let (value, after) = varint(rest).ok_or(MalformedHeader("varint"))?;
    *rest = after;
    Ok(value)
}

#[inline]
fn take_bytes<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8]> {
    let len = take_varint(rest)?;
    take(rest, usize::try_from(len).unwrap_or(usize::MAX))
}

#[inline]
fn take<'a>(rest: &mut &'a [u8], len: usize) -> Result<&'a [u8]> {
    let (bytes, after) = rest.split_at_checked(len).ok_or(MalformedHeader("field ends after the header"))?;
    *rest = after;
    Ok(bytes)
}

#[inline]
fn take_str<'a>(rest: &mut &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(take_bytes(rest)?).map_err(|_| MalformedHeader("text that is not UTF-8"))
}

fn skip(tag: u32, wire: u64, rest: &mut &[u8], depth: u32) -> Result<()> {
    if depth == 0 {
        return Err(MalformedHeader("groups nested too deeply"));
    }
    match wire {
        VARINT => take_varint(rest).map(drop),
        FIXED64 => take(rest, 8).map(drop),
        BYTES => take_bytes(rest).map(drop),
        FIXED32 => take(rest, 4).map(drop),
        GROUP => loop {
            let (inner, wire, after) = key(rest)?;
            *rest = after;
            if wire == GROUP_END {
                return if inner == tag { Ok(()) } else { Err(MalformedHeader("group end without its start")) };
            }
            skip(inner, wire, rest, depth - 1)?;
        },
        _ => Err(MalformedHeader("group end without its start")),
    }
}

/// Most bytes that precede the message of an answer: frame length, header, message length.
pub const MAX_ANSWER_HEAD: usize = 4 + 1 + 6 + 8 + 10;

/// Appends all that precedes the message of an answer: frame length, response header, message length.
///
/// `None` if the frame would exceed the 2 GiB that a frame length can say.
#[inline]
pub fn put_answer_head(out: &mut Vec<u8>, call_id: u32, message_len: usize, cells_len: usize) -> Option<()> {
    let mut header_len = 1 + varint_len(u64::from(call_id));
    let cells = u32::try_from(cells_len).ok()?;
    let meta_len = 1 + varint_len(u64::from(cells));
    if cells > 0 {
        header_len += 2 + meta_len;
    }
    let total = 1 + header_len + varint_len(message_len as u64) + message_len + cells_len;
    out.extend_from_slice(&i32::try_from(total).ok()?.to_be_bytes());
    out.push(header_len as u8);
    out.push(0x08);
    put_varint(out, u64::from(call_id));
    if cells > 0 {
        out.extend_from_slice(&[0x1a, meta_len as u8, 0x08]);
        put_varint(out, u64::from(cells));
    }
    put_varint(out, message_len as u64);
    Some(())
}

/// The whole frame of an answer that is an exception. `text` goes into `stack_trace`.
pub fn exception_frame(call_id: u32, exception: &Exception, text: String) -> Vec<u8> {
    let (hostname, port) = match &exception.moved_to {
        Some((host, port)) => (Some(host.clone()), Some(i32::from(*port))),
        None => (None, None),
    };
    let header = martite_proto::ResponseHeader {
        call_id: Some(call_id),
        exception: Some(martite_proto::ExceptionResponse {
            exception_class_name: Some(exception.class.to_string()),
            stack_trace: Some(text),
            hostname,
            port,
            do_not_retry: Some(exception.do_not_retry),
            server_overloaded: exception.overloaded.then_some(true),
        }),
        cell_block_meta: None,
    };
    let body = header.encode_length_delimited_to_vec();
    let mut frame = Vec::with_capacity(4 + body.len());
    frame.extend_from_slice(&(body.len() as u32).to_be_bytes());
    frame.extend_from_slice(&body);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_proto::{CellBlockMeta, NameBytesPair, ResponseHeader, RpctInfo};
    use proptest::collection::{hash_map, vec};
    use proptest::option::of;
    use proptest::prelude::*;

    type Proto = martite_proto::RequestHeader;

    prop_compose! {
        fn protos()(
            call_id in of(any::<u32>()),
            trace_info in of((of(any::<i64>()), hash_map(".*", ".*", 0..3))),
            method_name in of(".{0,20}"),
            request_param in of(any::<bool>()),
            cell_block_meta in of(of(any::<u32>())),
            priority in of(any::<u32>()),
            timeout in of(any::<u32>()),
            attribute in vec((".{0,9}", of(vec(any::<u8>(), 0..200))), 0..4),
        ) -> Proto {
            Proto {
                call_id,
                trace_info: trace_info.map(|(trace_id, headers)| RpctInfo { trace_id, parent_id: None, headers }),
                method_name,
                request_param,
                cell_block_meta: cell_block_meta.map(|length| CellBlockMeta { length }),
                priority,
                timeout,
                attribute: attribute
                    .into_iter()
                    .map(|(name, value)| NameBytesPair { name, value: value.map(Into::into) })
                    .collect(),
            }
        }
    }

    /// Everything but the trace, which stays undecoded.
    fn check_equal(ours: &RequestHeader<'_>, proto: &Proto) {
        assert_eq!(ours.call_id, proto.call_id);
        assert_eq!(ours.trace_info.is_some(), proto.trace_info.is_some());
        assert_eq!(ours.method_name, proto.method_name.as_deref());
        assert_eq!(ours.request_param, proto.request_param);
        assert_eq!(ours.cell_block_meta, proto.cell_block_meta.as_ref().map(|m| m.length));
        assert_eq!((ours.priority, ours.timeout), (proto.priority, proto.timeout));
        let attributes: Vec<_> = proto.attribute.iter().map(|a| (a.name.as_str(), a.value.as_deref())).collect();
        assert_eq!(ours.attributes, attributes);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_header_decodes_as_prost_decodes_it(proto in protos()) {
            let bytes = proto.encode_to_vec();
            let ours = RequestHeader::decode(&bytes).unwrap();
            check_equal(&ours, &proto);
            if let Some(trace) = ours.trace_info {
                prop_assert_eq!(RpctInfo::decode(trace).ok(), proto.trace_info);
            }
        }

        /// Fields twice, fields unknown, fields torn: whatever the bytes, both say the same.
        #[test]
        fn any_bytes_decode_as_prost_decodes_them(
            mut bytes in prop_oneof![
                vec(any::<u8>(), 0..40),
                (protos(), protos(), vec(any::<u8>(), 0..6)).prop_map(|(mut a, mut b, mut tail)| {
                    (a.trace_info, b.trace_info) = (None, None);
                    let mut bytes = a.encode_to_vec();
                    b.encode(&mut bytes).unwrap();
                    bytes.append(&mut tail);
                    bytes
                }),
            ],
            flips in vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        ) {
            for (at, byte) in flips {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = byte;
                }
            }
            match (RequestHeader::decode(&bytes), Proto::decode(&*bytes)) {
                (Ok(ours), Ok(proto)) => check_equal(&ours, &proto),
                (Err(_), Err(_)) => {}
                // A trace is not looked at, so a bad one does no harm here.
                (Ok(ours), Err(_)) => prop_assert!(ours.trace_info.is_some(), "prost refuses {bytes:02x?}"),
                (Err(e), Ok(proto)) => prop_assert!(false, "{e} for {bytes:02x?}, which is {proto:?}"),
            }
        }

        #[test]
        fn the_head_of_an_answer_is_what_prost_would_write(
            id in any::<u32>(),
            message in vec(any::<u8>(), 0..300),
            cells in 0usize..100_000,
        ) {
            let mut head = Vec::new();
            put_answer_head(&mut head, id, message.len(), cells).unwrap();
            let meta = (cells > 0).then_some(CellBlockMeta { length: Some(cells as u32) });
            let header = ResponseHeader { call_id: Some(id), exception: None, cell_block_meta: meta };
            let mut expected = header.encode_length_delimited_to_vec();
            put_varint(&mut expected, message.len() as u64);
            let total = (expected.len() + message.len() + cells) as u32;
            prop_assert_eq!(&head[..4], total.to_be_bytes());
            prop_assert_eq!(&head[4..], expected);
            prop_assert!(head.len() <= MAX_ANSWER_HEAD);
        }
    }

    #[test]
    fn the_examples_of_the_page_hold() {
        let request = [0x08, 7, 0x1a, 3, b'G', b'e', b't', 0x20, 1, 0x38, 0x60];
        let header = RequestHeader::decode(&request).unwrap();
        assert_eq!((header.call_id, header.method_name, header.timeout), (Some(7), Some("Get"), Some(96)));
        let mut head = Vec::new();
        put_answer_head(&mut head, 7, 2, 1000).unwrap();
        assert_eq!(head, [0, 0, 3, 0xf3, 7, 0x08, 7, 0x1a, 3, 0x08, 0xe8, 7, 2]);
    }

    #[test]
    fn frames_beyond_two_gigabytes_are_refused() {
        let mut head = Vec::new();
        assert_eq!(put_answer_head(&mut head, 1, 1 << 30, 1 << 30), None);
        assert!(head.is_empty());
        assert!(put_answer_head(&mut head, 1, 1 << 30, (1 << 30) - 100).is_some());
    }
}
