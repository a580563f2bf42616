//! How the cells of a data block are packed.
//!
//! Every encoding is undone when a block is loaded, so that scanners know one layout ([`crate::cells`]). An encoded
//! block is
//!
//! ```text
//! PREFIX, DIFF, FAST_DIFF   u16 id | u32 size of the cells in layout NONE | packed cells
//! ROW_INDEX_V1              u16 id | cells in layout NONE | row index
//! ```
//! After each packed cell of the first three: `[cint tags length | tags] [vlong sequence id]`, where tags may be
//! written through a [`tags::Dictionary`].

mod diff;
mod fast_diff;
mod prefix;
mod row_index;
mod tags;

use crate::{
    cells::Layout,
    error::Parsed,
    format::MAX_BLOCK_BYTES,
    input::{Input, put_cint, put_vlong},
};
use martite_cell::{CellRef, key};
use tags::Dictionary;

/// How the cells of a data block are packed; the numbers are persisted in encoded blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Encoding {
    #[default]
    None = 0,
    Prefix = 2,
    Diff = 3,
    FastDiff = 4,
    RowIndexV1 = 7,
}

impl Encoding {
    pub const ALL: [Encoding; 5] =
        [Encoding::None, Encoding::Prefix, Encoding::Diff, Encoding::FastDiff, Encoding::RowIndexV1];

    /// HBase's name.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::None => "NONE",
            Encoding::Prefix => "PREFIX",
            Encoding::Diff => "DIFF",
            Encoding::FastDiff => "FAST_DIFF",
            Encoding::RowIndexV1 => "ROW_INDEX_V1",
        }
    }

    pub fn from_name(name: &str) -> Option<Encoding> {
        Self::ALL.into_iter().find(|e| e.name().eq_ignore_ascii_case(name))
    }
}

/// Undoes the encoding of a data block's payload (id included), which begins at `start` of `bytes`. Gives bytes and a
/// start again: of cells in the layout of NONE, unchecked.
pub(crate) fn decode(
    encoding: Encoding,
    mut bytes: Vec<u8>,
    start: usize,
    layout: Layout,
    tags_compressed: bool,
) -> Parsed<(Vec<u8>, usize)> {
    let payload = bytes.get(start..).unwrap_or_default();
    let mut input = Input::new(payload);
    let id = input.u16()?;
    if id != encoding as u16 || encoding == Encoding::None {
        return Err(format!("encoding {id} in a file of encoding {}", encoding.name()));
    }
    if encoding == Encoding::RowIndexV1 {
        let cells = row_index::cells(&payload[2..])?;
        bytes.truncate(start + 2 + cells);
        return Ok((bytes, start + 2));
    }
    let size = input.u32()? as usize;
    if size > MAX_BLOCK_BYTES {
        return Err(format!("cells of {size} bytes"));
    }
    let mut dictionary = tags_compressed.then(Dictionary::default);
    // The size is a promise of the block, not yet a fact: believed as far as it costs little.
    let mut out = Vec::with_capacity(size.min(payload.len().saturating_mul(32).max(1 << 20)));
    let mut previous = Previous::default();
    while !input.is_empty() {
        let cell = match encoding {
            Encoding::Prefix => prefix::decode(&mut input, &mut out, &previous)?,
            Encoding::Diff => diff::decode(&mut input, &mut out, &mut previous)?,
            _ => fast_diff::decode(&mut input, &mut out, &previous)?,
        };
        key::check(&out[cell.key..cell.value]).map_err(|e| e.to_string())?;
        previous.cell = Some(cell);
        decode_tail(&mut input, &mut out, layout, dictionary.as_mut())?;
        if out.len() > size {
            return Err(format!("more than the announced {size} bytes of cells"));
        }
    }
    Ok((out, 0))
}

/// Where the parts of the previous cell lie in the output.
#[derive(Debug, Clone, Copy)]
struct Unpacked {
    key: usize,
    value: usize,
    value_end: usize,
}

impl Unpacked {
    fn key_len(&self) -> usize {
        self.value - self.key
    }
    fn value_len(&self) -> usize {
        self.value_end - self.value
    }
}

/// What the next cell may refer to.
#[derive(Debug, Default)]
struct Previous {
    cell: Option<Unpacked>,
    /// DIFF: length and bytes of the family, once for the block.
    family: Vec<u8>,
}

/// Begins a cell: its lengths, then `common` bytes of the previous key. Gives the place of its key.
fn begin(
    out: &mut Vec<u8>,
    previous: Option<&Unpacked>,
    key_len: usize,
    value_len: usize,
    common: usize,
) -> Parsed<usize> {
    if common > previous.map_or(0, Unpacked::key_len) || common > key_len {
        return Err(format!("{common} bytes in common with the previous key"));
    }
    out.extend_from_slice(&(key_len as u32).to_be_bytes());
    out.extend_from_slice(&(value_len as u32).to_be_bytes());
    let start = out.len();
    if let Some(previous) = previous {
        out.extend_from_within(previous.key..previous.key + common);
    }
    Ok(start)
}

/// Completes row and column of a key whose family is not written: `common` bytes are there already.
fn fill_key(
    input: &mut Input<'_>,
    out: &mut Vec<u8>,
    key_at: usize,
    key_len: usize,
    common: usize,
    same_row: bool,
    family: &[u8],
) -> Parsed<()> {
    let without_stamp = key_len.checked_sub(key::TS_TYPE_SIZE).ok_or_else(|| format!("key of {key_len} bytes"))?;
    if !same_row {
        if common < 2 {
            out.extend_from_slice(input.take(2 - common)?);
        }
        let row_end = 2 + u16::from_be_bytes([out[key_at], out[key_at + 1]]) as usize;
        let rest = row_end.checked_sub(common.max(2)).ok_or("the previous key is longer than the row")?;
        out.extend_from_slice(input.take(rest)?);
        out.extend_from_slice(family);
    }
    let rest = (key_at + without_stamp).checked_sub(out.len()).ok_or_else(|| format!("key of {key_len} bytes"))?;
    out.extend_from_slice(input.take(rest)?);
    Ok(())
}

fn decode_tail(
    input: &mut Input<'_>,
    out: &mut Vec<u8>,
    layout: Layout,
    dictionary: Option<&mut Dictionary>,
) -> Parsed<()> {
    if layout.tags {
        let len = input.cint()?;
        let short = u16::try_from(len).map_err(|_| format!("{len} bytes of tags"))?;
        out.extend_from_slice(&short.to_be_bytes());
        match dictionary {
            Some(dictionary) => dictionary.decode(input, out, len as usize)?,
            None => out.extend_from_slice(input.take(len as usize)?),
        }
    }
    if layout.mvcc {
        put_vlong(out, input.vlong()?);
    }
    Ok(())
}

/// Packs the cells of one block after the other.
pub(crate) struct Encoder {
    encoding: Encoding,
    layout: Layout,
    dictionary: Option<Dictionary>,
    out: Vec<u8>,
    /// Key and value of the previous cell in this block.
    previous: Option<(Vec<u8>, Vec<u8>)>,
    spare: (Vec<u8>, Vec<u8>),
    rows: row_index::Rows,
    plain_size: usize,
}

impl Encoder {
    pub(crate) fn new(encoding: Encoding, layout: Layout, compress_tags: bool) -> Encoder {
        let with_dictionary =
            compress_tags && layout.tags && !matches!(encoding, Encoding::None | Encoding::RowIndexV1);
        Encoder {
            encoding,
            layout,
            dictionary: with_dictionary.then(Dictionary::default),
            out: Vec::new(),
            previous: None,
            spare: Default::default(),
            rows: Default::default(),
            plain_size: 0,
        }
    }

    /// Bytes that decide whether the block is full: of its cells packed or not, whichever is more. As HBase counts, so
    /// that the same cells make the same blocks.
    pub(crate) fn size(&self) -> usize {
        let head = match self.encoding {
            Encoding::None => 0,
            Encoding::RowIndexV1 => 2,
            _ => 6,
        };
        self.plain_size.max((self.out.len() + self.rows.size()).saturating_sub(head))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.plain_size == 0
    }

    pub(crate) fn append(&mut self, cell: &CellRef<'_>) -> Parsed<()> {
        if self.plain_size == 0 {
            self.begin_block();
        }
        let previous = self.previous.as_ref().map(|(key, value)| (key.as_slice(), value.as_slice()));
        match self.encoding {
            Encoding::None => {
                append_plain(&mut self.out, cell, self.layout);
                self.plain_size = self.out.len();
                return Ok(());
            }
            Encoding::RowIndexV1 => {
                self.rows.add(cell.row(), self.out.len() - 2);
                append_plain(&mut self.out, cell, self.layout);
                self.plain_size = self.out.len() - 2;
                return Ok(());
            }
            _ if previous.is_some_and(|(key, _)| key::family(key) != cell.family()) => {
                return Err(format!("encoding {} holds one family per file", self.encoding.name()));
            }
            Encoding::Prefix => prefix::encode(&mut self.out, cell, previous),
            Encoding::Diff => diff::encode(&mut self.out, cell, previous),
            Encoding::FastDiff => fast_diff::encode(&mut self.out, cell, previous),
        }
        self.append_tail(cell)?;
        let (mut key, mut value) = self.previous.take().unwrap_or_else(|| std::mem::take(&mut self.spare));
        key.clear();
        key.extend_from_slice(cell.key);
        value.clear();
        value.extend_from_slice(cell.value);
        self.previous = Some((key, value));
        Ok(())
    }

    fn begin_block(&mut self) {
        if self.encoding != Encoding::None {
            self.out.extend_from_slice(&(self.encoding as u16).to_be_bytes());
        }
        if !matches!(self.encoding, Encoding::None | Encoding::RowIndexV1) {
            self.out.extend_from_slice(&[0; 4]);
        }
    }

    fn append_tail(&mut self, cell: &CellRef<'_>) -> Parsed<()> {
        self.plain_size += cell.key_value_len();
        if self.layout.tags {
            put_cint(&mut self.out, cell.tags.len() as u32);
            match &mut self.dictionary {
                Some(dictionary) => dictionary.encode(cell.tags, &mut self.out)?,
                None => self.out.extend_from_slice(cell.tags),
            }
            self.plain_size += 2 + cell.tags.len();
        }
        if self.layout.mvcc {
            let before = self.out.len();
            put_vlong(&mut self.out, cell.seq_id as i64);
            self.plain_size += self.out.len() - before;
        }
        Ok(())
    }

    /// The payload of the block; the encoder is ready for the next one.
    pub(crate) fn finish_block(&mut self, payload: &mut Vec<u8>) {
        match self.encoding {
            Encoding::None => {}
            Encoding::RowIndexV1 => self.rows.finish(&mut self.out),
            _ => self.out[2..6].copy_from_slice(&(self.plain_size as u32).to_be_bytes()),
        }
        payload.clear();
        std::mem::swap(payload, &mut self.out);
        self.plain_size = 0;
        if let Some(previous) = self.previous.take() {
            self.spare = previous;
        }
        if let Some(dictionary) = &mut self.dictionary {
            *dictionary = Dictionary::default();
        }
    }
}

fn append_plain(out: &mut Vec<u8>, cell: &CellRef<'_>, layout: Layout) {
    out.reserve(cell.key_value_len() + cell.tags.len() + 11);
    out.extend_from_slice(&(cell.key.len() as u32).to_be_bytes());
    out.extend_from_slice(&(cell.value.len() as u32).to_be_bytes());
    out.extend_from_slice(cell.key);
    out.extend_from_slice(cell.value);
    if layout.tags {
        out.extend_from_slice(&(cell.tags.len() as u16).to_be_bytes());
        out.extend_from_slice(cell.tags);
    }
    if layout.mvcc {
        put_vlong(out, cell.seq_id as i64);
    }
}

/// Bytes that two keys of one family share at their start, by parts: a part counts only if all before it are equal.
fn common_prefix(a: &[u8], b: &[u8], with_stamp: bool) -> usize {
    fn prefix(a: &[u8], b: &[u8]) -> usize {
        a.iter().zip(b).take_while(|(a, b)| a == b).count()
    }
    if a[..2] != b[..2] {
        return prefix(&a[..2], &b[..2]);
    }
    let rows = prefix(key::row(a), key::row(b));
    if rows < key::row_len(a) {
        return 2 + rows;
    }
    let column_at = 2 + rows + 1 + key::family(a).len();
    let (a_qualifier, b_qualifier) = (key::qualifier(a), key::qualifier(b));
    let qualifiers = prefix(a_qualifier, b_qualifier);
    let common = column_at + qualifiers;
    if !with_stamp || a_qualifier.len() != qualifiers || b_qualifier.len() != qualifiers {
        return common;
    }
    common + prefix(&a[common..], &b[common..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells;
    use martite_cell::{OwnedCell, key::flat_key};

    fn put(row: &str, qualifier: &str, ts: u64, kind: u8, value: &str, tags: &[u8], seq_id: u64) -> OwnedCell {
        let key = flat_key(row.as_bytes(), b"fam", qualifier.as_bytes(), ts, kind);
        OwnedCell::new(&key, value.as_bytes(), tags, seq_id)
    }

    /// Neighbours that share and differ in every part of a cell.
    fn sample() -> Vec<OwnedCell> {
        let mut tag = Vec::new();
        martite_cell::tags::append(&mut tag, 8, &77u64.to_be_bytes());
        let mut two = tag.clone();
        martite_cell::tags::append(&mut two, 1, b"acl");
        let long = "r".repeat(300);
        vec![
            put("", "", 0, 4, "", &[], 0),
            put("a", "q", 1_700_000_000_000, 14, "", &tag, 1),
            put("a", "q", 1_700_000_000_000, 4, "v", &two, 300),
            put("a", "q", 1_699_999_999_999, 4, "v", &tag, 299),
            put("a", "q", 5, 4, "w", &[], 0),
            put("a", "q", -7i64 as u64, 4, "w", &[], 0),
            put("a", "q", i64::MIN as u64, 4, "w", &[], 0),
            put("a", "qq", i64::MAX as u64, 4, "longer value", &two, u64::MAX >> 1),
            put("a", "r", i64::MAX as u64, 12, "longer value", &two, 0),
            put("ab", "r", 9, 12, "longer value", &[], 0),
            put("b", "", 9, 12, "", &[], 0),
            put("b", "z", 9, 4, "", &[], 0),
            put(&long, "z", 9, 4, "", &[], 0),
            put(&format!("{long}s"), "z", 9, 4, "", &[], 0),
        ]
    }

    fn layouts() -> [Layout; 4] {
        [(false, false), (false, true), (true, false), (true, true)].map(|(tags, mvcc)| Layout { tags, mvcc })
    }

    fn encode(encoding: Encoding, layout: Layout, dictionary: bool, cells: &[OwnedCell]) -> Vec<u8> {
        let mut encoder = Encoder::new(encoding, layout, dictionary);
        // A block before: its state must not leak into the next one.
        for cell in cells.iter().rev().take(3) {
            encoder.append(&cell.as_ref()).unwrap();
        }
        let mut payload = Vec::new();
        encoder.finish_block(&mut payload);
        for cell in cells {
            encoder.append(&cell.as_ref()).unwrap();
        }
        encoder.finish_block(&mut payload);
        payload
    }

    #[test]
    fn every_encoding_unpacks_to_the_layout_of_none() {
        for layout in layouts() {
            let plain = encode(Encoding::None, layout, false, &sample());
            assert!(cells::check(&plain, layout, martite_cell::Order::Default).is_ok());
            for encoding in &Encoding::ALL[1..] {
                for dictionary in [false, true] {
                    let dictionary = dictionary && layout.tags && *encoding != Encoding::RowIndexV1;
                    let packed = encode(*encoding, layout, dictionary, &sample());
                    let (back, start) = decode(*encoding, packed, 0, layout, dictionary).unwrap();
                    assert!(back[start..] == plain, "{encoding:?} {layout:?} dictionary {dictionary}");
                }
            }
        }
    }

    #[test]
    fn damage_is_an_error_or_sound_cells() {
        let layout = Layout { tags: true, mvcc: true };
        for encoding in &Encoding::ALL[1..] {
            let packed = encode(*encoding, layout, true, &sample());
            for i in 0..packed.len() {
                for flip in [1, 0x80, 0xff] {
                    let mut damaged = packed.clone();
                    damaged[i] ^= flip;
                    if let Ok((plain, start)) = decode(*encoding, damaged, 0, layout, *encoding != Encoding::RowIndexV1)
                    {
                        let _ = cells::check(&plain[start..], layout, martite_cell::Order::Default);
                    }
                }
                let _ = decode(*encoding, packed[..i].to_vec(), 0, layout, true);
            }
        }
    }

    #[test]
    fn two_families_are_refused_where_the_encoding_holds_one() {
        let cells = [OwnedCell::put(b"r", b"f", b"q", 1, b""), OwnedCell::put(b"r", b"g", b"q", 1, b"")];
        for encoding in [Encoding::Prefix, Encoding::Diff, Encoding::FastDiff] {
            let mut encoder = Encoder::new(encoding, Layout::default(), false);
            encoder.append(&cells[0].as_ref()).unwrap();
            let error = encoder.append(&cells[1].as_ref()).unwrap_err();
            assert_eq!(error, format!("encoding {} holds one family per file", encoding.name()));
        }
    }

    #[test]
    fn common_prefix_goes_part_by_part() {
        let k = |row: &str, q: &str, ts: u64| flat_key(row.as_bytes(), b"f", q.as_bytes(), ts, 4);
        assert_eq!(common_prefix(&k("ab", "q", 1), &k("abc", "q", 1), true), 1);
        assert_eq!(common_prefix(&k("ab", "q", 1), &k("ac", "q", 1), true), 3);
        assert_eq!(common_prefix(&k("ab", "q", 1), &k("ab", "r", 1), true), 6);
        // The longer qualifier goes on with the bytes that a timestamp has.
        assert_eq!(common_prefix(&k("ab", "q", 1), &k("ab", "q\0\0", 1), true), 7);
        assert_eq!(common_prefix(&k("ab", "q", 1), &k("ab", "q", 2), true), 14);
        assert_eq!(common_prefix(&k("ab", "q", 1), &k("ab", "q", 1), true), 16);
        assert_eq!(common_prefix(&k("ab", "q", 1), &k("ab", "q", 1), false), 7);
    }
}
