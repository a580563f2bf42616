//! One entry, from bytes: what the reader does at each step, and what it does to tell a torn tail from damage.

use crate::dictionary::Dictionary;
use crate::entry::{Entry, Scope};
use crate::format::{CHECKSUM_ATTRIBUTE, CHECKSUM_HEAD, CHECKSUM_LEN, Checksum, FLAG_SYNCED_BEFORE, scope, varint};
use bytes::Bytes;
use martite_cell::codec::parse_key_value;
use martite_cell::key;
use martite_proto as pb;
use prost::Message;
use std::borrow::Cow;

/// Why there is no entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bad {
    /// It needs so many bytes from its start, at least.
    Short(usize),
    Damaged(String),
}

fn damaged<T>(what: impl Into<String>) -> Result<T, Bad> {
    Err(Bad::Damaged(what.into()))
}

/// An entry and where it ends.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub entry: Entry<'static>,
    pub len: usize,
    pub flags: u8,
}

/// Reads the entry at the start of `bytes`; with a salt, its checksum must be there and right.
pub(crate) fn parse_entry(bytes: &[u8], salt: Option<u32>) -> Result<Parsed, Bad> {
    let (key_bytes, key_end) = key_bytes(bytes)?;
    let key = decode_key(key_bytes)?;
    let mut at = key_end;
    for _ in 0..key.following_kv_count() {
        let len = bytes.get(at..at + 4).ok_or(Bad::Short(at + 4))?;
        let len = u32::from_be_bytes([len[0], len[1], len[2], len[3]]) as usize;
        let cell = bytes.get(at + 4..at + 4 + len).ok_or(Bad::Short(at + 4 + len))?;
        parse_key_value(cell).map_err(|e| Bad::Damaged(e.to_string()))?;
        at += 4 + len;
    }
    let cells = &bytes[key_end..at];
    let flags = match salt {
        Some(salt) => check(key_bytes, cells, salt)?,
        None => 0,
    };
    Ok(Parsed { entry: entry(key, cells.to_vec())?, len: at, flags })
}

fn key_bytes(bytes: &[u8]) -> Result<(&[u8], usize), Bad> {
    let Some((key_len, at)) = varint(bytes) else {
        return if bytes.len() < 10 {
            Err(Bad::Short(bytes.len() + 1))
        } else {
            damaged("the key's length is no number")
        };
    };
    if key_len == 0 {
        return damaged("an empty key");
    }
    let end = usize::try_from(key_len).ok().and_then(|len| len.checked_add(at));
    let end = end.ok_or_else(|| Bad::Damaged(format!("a key of {key_len} bytes")))?;
    Ok((bytes.get(at..end).ok_or(Bad::Short(end))?, end))
}

fn decode_key(bytes: &[u8]) -> Result<pb::WalKey, Bad> {
    let key = pb::WalKey::decode(bytes).map_err(|e| Bad::Damaged(format!("the key: {e}")))?;
    if key.encoded_region_name.is_empty() || key.table_name.is_empty() {
        return damaged("a key without region or table");
    }
    Ok(key)
}

/// The flags under the checksum, if it is right.
fn check(key: &[u8], cells: &[u8], salt: u32) -> Result<u8, Bad> {
    let split = key.len().checked_sub(CHECKSUM_LEN).map(|at| key.split_at(at));
    let Some((covered, [head @ .., a, b, c, d, flags])) = split else { return damaged("no checksum") };
    if head != CHECKSUM_HEAD {
        return damaged("no checksum");
    }
    if Checksum::of(salt, 0, covered, cells).value(*flags) != [*a, *b, *c, *d, *flags] {
        return damaged("wrong checksum");
    }
    Ok(*flags)
}

fn entry(key: pb::WalKey, cells: Vec<u8>) -> Result<Entry<'static>, Bad> {
    let mut scopes: Vec<(Bytes, Scope)> = Vec::with_capacity(key.scopes.len());
    for s in &key.scopes {
        let Some(scope) = scope(s.scope_type) else { return damaged(format!("replication scope {}", s.scope_type)) };
        scopes.push((s.family.clone(), scope));
    }
    let ids = key.cluster_id.iter().chain(&key.cluster_ids).map(|id| (id.most_sig_bits, id.least_sig_bits));
    let cluster_ids: Vec<_> = ids.collect();
    let others = key.extended_attributes.iter().filter(|a| a.key != CHECKSUM_ATTRIBUTE);
    let attributes: Vec<_> = others.map(|a| (a.key.clone(), a.value.clone())).collect();
    Ok(Entry {
        seq: key.log_sequence_number,
        write_time_ms: key.write_time,
        nonce_group: key.nonce_group(),
        nonce: key.nonce(),
        orig_seq: key.orig_sequence_number(),
        cell_count: key.following_kv_count(),
        region: key.encoded_region_name,
        table: key.table_name,
        cluster_ids: cluster_ids.into(),
        scopes: scopes.into(),
        attributes: attributes.into(),
        cells: cells.into(),
        families: Cow::Borrowed(&[]),
    })
}

/// Looks for a sound entry that says that everything before it was durable. `bytes` begin where an entry is damaged.
/// Returns its offset.
pub(crate) fn synced_entry_after(bytes: &[u8], salt: u32) -> Option<usize> {
    let mut at = 1;
    while at < bytes.len() {
        match parse_entry(&bytes[at..], Some(salt)) {
            Ok(parsed) if parsed.flags & FLAG_SYNCED_BEFORE != 0 => return Some(at),
            Ok(parsed) => at += parsed.len,
            Err(_) => at = next_candidate(bytes, at, salt)?,
        }
    }
    None
}

/// The start of the next sound entry after `at`, found by the checksum attribute that ends its key.
fn next_candidate(bytes: &[u8], at: usize, salt: u32) -> Option<usize> {
    /// Keys are short: names, numbers and a few attributes.
    const LONGEST_KEY: usize = 64 << 10;
    let mut from = at;
    loop {
        let head = from + find(bytes.get(from..)?, CHECKSUM_HEAD)?;
        let key_end = head + CHECKSUM_LEN;
        for start in (head.saturating_sub(LONGEST_KEY).max(at + 1)..head).rev() {
            let Some((len, width)) = varint(&bytes[start..]) else { continue };
            if len.checked_add((start + width) as u64) == Some(key_end as u64)
                && parse_entry(&bytes[start..], Some(salt)).is_ok()
            {
                return Some(start);
            }
        }
        from = head + 1;
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|w| w == what)
}

/// What a compressed file has taught its reader so far.
pub(crate) struct Compression {
    regions: Dictionary,
    tables: Dictionary,
    families: Dictionary,
    qualifiers: Dictionary,
    rows: Dictionary,
    tags: Option<Dictionary>,
}

/// Bytes being taken from the front.
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Bad> {
        let end = self.at.checked_add(len).ok_or(Bad::Short(usize::MAX))?;
        let taken = self.bytes.get(self.at..end).ok_or(Bad::Short(end))?;
        self.at = end;
        Ok(taken)
    }
    fn byte(&mut self) -> Result<u8, Bad> {
        Ok(self.take(1)?[0])
    }
    /// A length; what is longer than the rest of the file is not there.
    fn len(&mut self) -> Result<usize, Bad> {
        let rest = &self.bytes[self.at..];
        let Some((n, width)) = varint(rest) else {
            return if rest.len() < 10 {
                Err(Bad::Short(self.bytes.len() + 1))
            } else {
                damaged("a length is no number")
            };
        };
        self.at += width;
        usize::try_from(n).map_err(|_| Bad::Damaged(format!("a length of {n}")))
    }
    /// Bytes through a dictionary.
    fn entry(&mut self, dictionary: &mut Dictionary, out: &mut Vec<u8>) -> Result<usize, Bad> {
        let status = self.byte()?;
        if status == 0xff {
            let len = self.len()?;
            let bytes = self.take(len)?;
            dictionary.add(bytes);
            out.extend_from_slice(bytes);
            return Ok(len);
        }
        let index = u16::from_be_bytes([status, self.byte()?]);
        let Some(bytes) = dictionary.get(index) else { return damaged(format!("no dictionary entry {index}")) };
        out.extend_from_slice(&bytes);
        Ok(bytes.len())
    }
}

fn whole(bytes: &[u8], dictionary: &mut Dictionary) -> Result<Bytes, Bad> {
    let mut out = Vec::new();
    match (Input { bytes, at: 0 }).entry(dictionary, &mut out) {
        Ok(_) => Ok(out.into()),
        // The key itself is complete: what is short inside it is wrong.
        Err(Bad::Short(_)) => damaged("a compressed name is cut off"),
        Err(e) => Err(e),
    }
}

impl Compression {
    /// The dictionaries' sizes decide when an index is given again: they are HBase's.
    pub fn new(recovered_edits: bool, tags: bool) -> Compression {
        let names = if recovered_edits { 1 } else { 32767 };
        Compression {
            regions: Dictionary::new(names),
            tables: Dictionary::new(names),
            families: Dictionary::new(127),
            qualifiers: Dictionary::new(127),
            rows: Dictionary::new(32767),
            tags: tags.then(|| Dictionary::new(32767)),
        }
    }

    /// Reads the entry at the start of `bytes`, which hold the rest of the file: after an error the dictionaries are
    /// of no use.
    pub fn parse_entry(&mut self, bytes: &[u8]) -> Result<Parsed, Bad> {
        let (key_bytes, key_end) = key_bytes(bytes)?;
        let mut key = decode_key(key_bytes)?;
        key.encoded_region_name = whole(&key.encoded_region_name, &mut self.regions)?;
        key.table_name = whole(&key.table_name, &mut self.tables)?;
        for scope in &mut key.scopes {
            scope.family = whole(&scope.family, &mut self.families)?;
        }
        for attribute in &mut key.extended_attributes {
            attribute.value = whole(&attribute.value, &mut self.tables)?;
        }
        let mut input = Input { bytes, at: key_end };
        let mut cells = Vec::new();
        for _ in 0..key.following_kv_count() {
            self.cell(&mut input, &mut cells)?;
        }
        Ok(Parsed { entry: entry(key, cells)?, len: input.at, flags: 0 })
    }

    fn cell(&mut self, input: &mut Input<'_>, out: &mut Vec<u8>) -> Result<(), Bad> {
        let (key_len, value_len, tags_len) = (input.len()?, input.len()?, input.len()?);
        let start = out.len();
        out.extend_from_slice(&[0; 12]);
        let key_at = out.len();
        out.extend_from_slice(&[0; 2]);
        let row = input.entry(&mut self.rows, out)?;
        out.push(0);
        let family = input.entry(&mut self.families, out)?;
        input.entry(&mut self.qualifiers, out)?;
        if row > key::MAX_ROW_LENGTH || family > key::MAX_FAMILY_LENGTH {
            return damaged(format!("a row of {row} bytes, a family of {family}"));
        }
        out[key_at..key_at + 2].copy_from_slice(&(row as u16).to_be_bytes());
        out[key_at + 2 + row] = family as u8;
        out.extend_from_slice(input.take(9)?);
        if out.len() - key_at != key_len {
            return damaged(format!("a key of {} bytes that says {key_len}", out.len() - key_at));
        }
        out.extend_from_slice(input.take(value_len)?);
        if tags_len > 0 {
            let Ok(len) = u16::try_from(tags_len) else { return damaged(format!("{tags_len} bytes of tags")) };
            out.extend_from_slice(&len.to_be_bytes());
            self.tags(input, tags_len, out)?;
        }
        let len = (out.len() - start - 4) as u32;
        let head = [len, key_len as u32, value_len as u32].map(u32::to_be_bytes).concat();
        out[start..start + 12].copy_from_slice(&head);
        Ok(())
    }

    fn tags(&mut self, input: &mut Input<'_>, tags_len: usize, out: &mut Vec<u8>) -> Result<(), Bad> {
        let Some(dictionary) = &mut self.tags else {
            out.extend_from_slice(input.take(tags_len)?);
            return Ok(());
        };
        let end = out.len() + tags_len;
        while out.len() < end {
            let at = out.len();
            out.extend_from_slice(&[0; 2]);
            let len = input.entry(dictionary, out)?;
            if out.len() > end || len > u16::MAX as usize {
                return damaged("tags longer than they say");
            }
            out[at..at + 2].copy_from_slice(&(len as u16).to_be_bytes());
        }
        Ok(())
    }
}
