//! Protobuf messages: taken apart into fields, changed, put together with all lengths true.
//!
//! ```text
//! 0a 04 | 08 07 12 00      field 1 = { field 1 = 7, field 2 = "" }
//! 0a 06 | 08 07 08 07 12 00         … with its first field twice
//! ```
//! What length-delimited bytes are (message, text, bytes) is guessed: they are a message if they can be read as one.

use super::bytes;
use crate::Dice;

/// Deeper messages are bytes.
const MAX_DEPTH: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Varint(u64),
    Fixed64([u8; 8]),
    Fixed32([u8; 4]),
    Bytes(Vec<u8>),
    Message(Vec<Field>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    tag: u64,
    value: Value,
}

/// The message with one change; bytes that are no message are changed blindly.
pub(super) fn change(dice: &mut Dice, message: &[u8], other: &[u8], words: &[Vec<u8>]) -> Vec<u8> {
    let Some(mut fields) = parse(message, 0) else {
        let mut out = message.to_vec();
        bytes::change(dice, &mut out, other, words);
        return out;
    };
    let lent = parse(other, 0).unwrap_or_default();
    change_fields(dice, &mut fields, &lent, words, 0);
    let mut out = Vec::new();
    write(&fields, &mut out);
    out
}

fn change_fields(dice: &mut Dice, fields: &mut Vec<Field>, lent: &[Field], words: &[Vec<u8>], depth: usize) {
    if fields.is_empty() || dice.one_in(6) {
        return change_list(dice, fields, lent);
    }
    let at = dice.below(fields.len());
    let field = &mut fields[at];
    match &mut field.value {
        Value::Message(inner) if depth < MAX_DEPTH && !dice.one_in(8) => {
            let lent = match dice.pick(lent) {
                Some(Field { value: Value::Message(inner), .. }) if dice.one_in(2) => inner,
                _ => lent,
            };
            change_fields(dice, inner, lent, words, depth + 1);
        }
        Value::Message(inner) => match dice.below(3) {
            // Into itself: messages may nest without end.
            0 => *inner = vec![Field { tag: field.tag, value: Value::Message(inner.clone()) }],
            1 => inner.clear(),
            _ => {
                let mut out = Vec::new();
                write(inner, &mut out);
                bytes::change(dice, &mut out, &[], words);
                field.value = Value::Bytes(out);
            }
        },
        Value::Varint(n) => {
            *n = if dice.one_in(3) { n.wrapping_add(dice.below(9) as u64).wrapping_sub(4) } else { bytes::number(dice) }
        }
        Value::Fixed64(n) => *n = bytes::number(dice).to_be_bytes(),
        Value::Fixed32(n) => *n = (bytes::number(dice) as u32).to_be_bytes(),
        Value::Bytes(content) => match dice.below(6) {
            0 => *content = dice.pick(words).cloned().unwrap_or_default(),
            1 => *content = vec![dice.byte(); dice.length(70_000)],
            _ => bytes::change(dice, content, &[], words),
        },
    }
}

/// Fields come, go, change places and numbers.
fn change_list(dice: &mut Dice, fields: &mut Vec<Field>, lent: &[Field]) {
    let at = dice.cut(fields.len());
    match dice.below(6) {
        0 if at < fields.len() => drop(fields.remove(at)),
        1 if at < fields.len() => {
            let copies = vec![fields[at].clone(); 1 + dice.length(40)];
            fields.splice(at..at, copies);
        }
        2 if at < fields.len() => {
            let with = dice.below(fields.len());
            fields.swap(at, with);
        }
        3 if at < fields.len() => fields[at].tag = 1 + dice.below(16) as u64,
        4 => {
            if let Some(field) = dice.pick(lent) {
                fields.insert(at, field.clone());
            }
        }
        _ => {
            let value = if dice.one_in(2) { Value::Varint(bytes::number(dice)) } else { Value::Bytes(Vec::new()) };
            fields.insert(at, Field { tag: 1 + dice.below(16) as u64, value });
        }
    }
}

fn parse(mut rest: &[u8], depth: usize) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let key = varint(&mut rest)?;
        let value = match key & 7 {
            0 => Value::Varint(varint(&mut rest)?),
            1 => Value::Fixed64(take(&mut rest, 8)?.try_into().ok()?),
            5 => Value::Fixed32(take(&mut rest, 4)?.try_into().ok()?),
            2 => {
                let len = usize::try_from(varint(&mut rest)?).ok()?;
                let content = take(&mut rest, len)?;
                let inner = if depth < MAX_DEPTH && !content.is_empty() { parse(content, depth + 1) } else { None };
                inner.map_or_else(|| Value::Bytes(content.to_vec()), Value::Message)
            }
            _ => return None,
        };
        if key >> 3 == 0 {
            return None;
        }
        fields.push(Field { tag: key >> 3, value });
    }
    Some(fields)
}

fn write(fields: &[Field], out: &mut Vec<u8>) {
    for field in fields {
        let (wire, content) = match &field.value {
            Value::Varint(n) => {
                put_varint(out, field.tag << 3);
                put_varint(out, *n);
                continue;
            }
            Value::Fixed64(n) => (1, n.to_vec()),
            Value::Fixed32(n) => (5, n.to_vec()),
            Value::Bytes(content) => (2, content.clone()),
            Value::Message(inner) => {
                let mut content = Vec::new();
                write(inner, &mut content);
                (2, content)
            }
        };
        put_varint(out, field.tag << 3 | wire);
        if wire == 2 {
            put_varint(out, content.len() as u64);
        }
        out.extend(content);
    }
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(len)?;
    *rest = after;
    Some(taken)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let (value, after) = martite_rpc::format::varint(rest)?;
    *rest = after;
    Some(value)
}

fn put_varint(out: &mut Vec<u8>, value: u64) {
    martite_rpc::format::put_varint(out, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_proto as pb;
    use pb::Message;

    fn sample() -> Vec<u8> {
        let comparator = pb::Comparator { name: "a name".into(), serialized_comparator: Some(vec![1, 2].into()) };
        pb::CompareFilter { compare_op: 3, comparator: Some(comparator) }.encode_to_vec()
    }

    #[test]
    fn messages_are_put_together_as_they_were() {
        let message = sample();
        let mut out = Vec::new();
        write(&parse(&message, 0).expect("a message"), &mut out);
        assert_eq!(out, message);
        assert_eq!(parse(&message[..message.len() - 1], 0), None);
    }

    #[test]
    fn most_changes_leave_a_message() {
        let mut dice = Dice::new(3);
        let changed: Vec<_> = (0..1000).map(|_| change(&mut dice, &sample(), &sample(), &[])).collect();
        let sound = changed.iter().filter(|c| pb::CompareFilter::decode(&c[..]).is_ok()).count();
        let new = changed.iter().filter(|c| **c != sample()).count();
        assert!(sound > 500 && new > 800, "{sound} {new}");
    }
}
