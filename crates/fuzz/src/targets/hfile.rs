//! The HFile reader: opening, scanning, seeking and asking the bloom filters of a file with anything in it.
//!
//! Input: `| blocks | trailer message | u16 its length |`; the 4096 bytes of the trailer are made of it, so that changes
//! do not hit its padding. Seeds have no checksums (kind 0), or no change would get past them.

use crate::Dice;
use crate::mutate::Form;
use crate::target::{Budget, Target, words};
use crate::targets::cells::look_at;
use martite_cell::{Order, OwnedCell, key, tags};
use martite_hfile::{
    Block, BlockRequest, BlockSource, BloomType, Compression, Encoding, FileSource, HFileError, Reader, Scanner, Step,
    StoreMeta, Writer, WriterOptions, format,
};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

pub const TARGET: Target = Target {
    name: "hfile",
    run,
    seeds,
    words: names,
    form: Form::Binary,
    max_len: 32 << 10,
    // A block may unpack to much more than it is; the readers of blocks have limits of their own.
    budget: Budget { fixed_bytes: 256 << 20, per_byte: 1024 },
    smoke: 1_500,
};

/// Cells read at most: an index may name the same block again and again.
const MOST_CELLS: usize = 2_000;
/// Blocks fetched at most by one seek: a path through the deepest index, and to its neighbour.
const MOST_BLOCKS: usize = 2 * format::MAX_INDEX_LEVELS as usize + 2;

fn run(input: &[u8]) {
    let _ = explore(input);
}

/// The file of an input.
fn file(input: &[u8]) -> Option<Vec<u8>> {
    let (rest, len) = input.split_last_chunk::<2>()?;
    let len = (u16::from_be_bytes(*len) as usize).min(rest.len());
    let (blocks, message) = rest.split_at(rest.len() - len);
    let mut file = blocks.to_vec();
    file.extend_from_slice(b"TRABLK\"$");
    file.extend_from_slice(message);
    file.resize(blocks.len() + format::TRAILER_BYTES - 4, 0);
    file.extend_from_slice(&(format::MINOR_VERSION << 24 | format::MAJOR_VERSION).to_be_bytes());
    Some(file)
}

/// The input of a file.
fn input(file: &[u8]) -> Vec<u8> {
    let (blocks, trailer) = file.split_at(file.len() - format::TRAILER_BYTES);
    let message = &trailer[8..format::TRAILER_BYTES - 4];
    let used = message.iter().rposition(|b| *b != 0).map_or(0, |at| at + 1);
    [blocks, &message[..used], &(used as u16).to_be_bytes()].concat()
}

/// Blocks that were read stay; counts the requests.
struct Source<'a> {
    file: FileSource<'a>,
    blocks: RefCell<HashMap<(u64, u32), Arc<Block>>>,
    asked: Cell<usize>,
}

impl BlockSource for Source<'_> {
    fn get(&self, reader: &Reader, req: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        self.asked.set(self.asked.get() + 1);
        if let Some(block) = self.blocks.borrow().get(&(req.offset, req.len)) {
            return Ok(Some(block.clone()));
        }
        let block = self.file.get(reader, req)?;
        // Few, for the memory.
        if let Some(block) = block.as_ref().filter(|_| self.blocks.borrow().len() < 8) {
            self.blocks.borrow_mut().insert((req.offset, req.len), block.clone());
        }
        Ok(block)
    }
    fn may_block(&self) -> bool {
        true
    }
}

impl Source<'_> {
    /// Runs one step, which must not read more than a path through the index.
    fn bounded<T>(&self, step: impl FnOnce(&dyn BlockSource) -> T) -> T {
        self.asked.set(0);
        let result = step(self);
        assert!(self.asked.get() <= MOST_BLOCKS, "{} blocks for one step", self.asked.get());
        result
    }
}

/// Reads all there is; the number of cells seen.
fn explore(input: &[u8]) -> Result<usize, HFileError> {
    let Some(bytes) = file(input) else { return Ok(0) };
    let reader = Arc::new(Reader::open(1, "fuzz", &bytes)?);
    let source = Source { file: FileSource { file: &bytes }, blocks: RefCell::default(), asked: Cell::new(0) };
    facts(&reader, &source);
    let mut scanner = Scanner::new(reader.clone(), true);
    let (mut seen, mut keys) = (0, Vec::new());
    source.bounded(|src| scanner.seek_to_first(src))?;
    while seen < MOST_CELLS {
        let Some(cell) = scanner.peek() else { break };
        look_at(&cell);
        if seen.is_power_of_two() || seen % 97 == 0 {
            keys.push(cell.key.to_vec());
        }
        seen += 1;
        source.bounded(|src| scanner.next(src))?;
    }
    let middle = reader.mid_key(&source);
    keys.extend(middle.into_iter().flatten());
    keys.push(key::first_on_row(b""));
    keys.push(key::last_on_row(&[0xff; 9]));
    for key in &keys {
        seeks(&reader, &source, key);
        blooms(&reader, &source, key);
    }
    Ok(seen)
}

/// What a reader knows without scanning.
fn facts(reader: &Reader, source: &Source<'_>) {
    let _ = (reader.max_seq_id(), reader.time_range(), reader.compacted_inputs(), reader.heap_size());
    let _ = (reader.is_major_compaction(), reader.bulk_load_time_ms(), reader.bloom_type(), reader.bloom_size());
    if let Some(last) = reader.last_key() {
        assert!(key::check(last).is_ok());
    }
    let _ = reader.first_key(source);
    let names: Vec<_> = reader.meta_block_names().take(20).map(<[u8]>::to_vec).collect();
    for name in names {
        let _ = reader.meta_block(&name, source);
    }
}

/// Every way to `key`, each result near it.
fn seeks(reader: &Arc<Reader>, source: &Source<'_>, key: &[u8]) {
    let mut scanner = Scanner::new(reader.clone(), false);
    if source.bounded(|src| scanner.seek(key, src)).is_err() {
        return;
    }
    let _ = scanner.next_index_key();
    for _ in 0..3 {
        let _ = source.bounded(|src| scanner.next(src));
    }
    let _ = source.bounded(|src| scanner.reseek(key, src));
    if let Ok(Step::Ready(true)) = source.bounded(|src| scanner.seek_before(key, src)) {
        let before = scanner.peek().map(|c| c.to_owned_cell());
        assert!(before.is_some(), "a cell before the key, but no position");
    }
}

fn blooms(reader: &Reader, source: &Source<'_>, key: &[u8]) {
    let (row, qualifier) = (key::row(key), key::qualifier(key));
    if row.len() > key::MAX_ROW_LENGTH {
        return;
    }
    let _ = source.bounded(|src| reader.may_contain_row(row, src));
    let _ = source.bounded(|src| reader.may_contain_row_col(row, qualifier, src));
    let _ = source.bounded(|src| reader.may_contain_delete_family(row, src));
    let _ = source.bounded(|src| reader.may_contain_prefix_of(row, row, src));
}

/// Sorted cells of one family, with versions, deletes and tags.
fn cells(count: usize) -> Vec<OwnedCell> {
    let mut dice = Dice::new(count as u64);
    let mut cells = Vec::new();
    for _ in 0..count {
        let row = format!("row{:03}", dice.below(count));
        let qualifier = ["", "a", "ab", "name"][dice.below(4)];
        let code = if qualifier.is_empty() { [4, 14, 10][dice.below(3)] } else { [4, 4, 8, 12][dice.below(4)] };
        let mut section = Vec::new();
        if dice.one_in(3) {
            tags::append(&mut section, tags::TTL, &dice.u64().to_be_bytes());
        }
        let flat =
            key::flat_key(row.as_bytes(), b"fam", qualifier.as_bytes(), 1_700_000_000_000 + dice.u64() % 9, code);
        cells.push(OwnedCell::new(&flat, &vec![b'v'; dice.below(12)], &section, dice.u64() % 300));
    }
    cells.sort_by(|a, b| Order::Default.cells(&a.as_ref(), &b.as_ref()));
    cells
}

fn write(cells: &[OwnedCell], options: WriterOptions) -> Option<Vec<u8>> {
    let mut writer = Writer::new(Vec::new(), options).ok()?;
    for cell in cells {
        writer.append(&cell.as_ref()).ok()?;
    }
    writer.append_meta_block(b"meta", b"a block of a tool");
    let meta = StoreMeta { max_seq_id: Some(77), compacted_inputs: vec!["abc".into()], ..StoreMeta::default() };
    writer.finish(meta).ok().map(|(bytes, _)| bytes)
}

/// Small blocks and a deep index in a small file.
fn options(encoding: Encoding, compression: Compression, bloom: BloomType) -> WriterOptions {
    WriterOptions {
        block_size: 200,
        index_block_size: 60,
        index_min_entries: 2,
        bloom_block_size: 64,
        bloom_max_fold: 2,
        encoding,
        compression,
        bloom,
        include_tags: true,
        checksum: martite_hfile::ChecksumType::Null,
        ..WriterOptions::default()
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for encoding in Encoding::ALL {
        forms.push(options(encoding, Compression::None, BloomType::Row));
        forms.push(WriterOptions { compress_tags: true, ..options(encoding, Compression::None, BloomType::RowCol) });
    }
    for compression in [Compression::Gz, Compression::Snappy, Compression::Lz4, Compression::Zstd] {
        forms.push(options(Encoding::None, compression, BloomType::RowPrefix(4)));
    }
    let mut seeds: Vec<_> = forms.into_iter().filter_map(|form| write(&cells(60), form)).collect();
    let bare = options(Encoding::None, Compression::None, BloomType::None);
    let bare = WriterOptions { include_tags: false, include_mvcc: false, order: Order::Meta, ..bare };
    let untagged: Vec<_> = cells(60).iter().map(|c| OwnedCell::new(c.as_ref().key, c.as_ref().value, &[], 0)).collect();
    seeds.extend(write(&untagged, bare));
    seeds.extend(write(&[], options(Encoding::None, Compression::None, BloomType::Row)));
    seeds.extend(write(&cells(2), options(Encoding::Diff, Compression::None, BloomType::Row)));
    seeds.iter().map(|file| input(file)).collect()
}

fn names() -> Vec<Vec<u8>> {
    let mut names = words(&["DATABLK*", "DATABLKE", "IDXLEAF2", "IDXINTE2", "IDXROOT2", "BLMFBLK2", "BLMFMET2"]);
    names.extend(words(&["DFBLMET2", "METABLKc", "FILEINF2", "PBUF", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"]));
    names.extend(Encoding::ALL.iter().map(|e| e.name().as_bytes().to_vec()));
    use format::info;
    for name in [
        info::LASTKEY,
        info::MAX_TAGS_LEN,
        info::TAGS_COMPRESSED,
        info::KEY_VALUE_VERSION,
        info::DATA_BLOCK_ENCODING,
        info::BLOOM_FILTER_TYPE,
        info::BLOOM_FILTER_PARAM,
        info::LAST_BLOOM_KEY,
        info::DELETE_FAMILY_COUNT,
        info::TIMERANGE,
    ] {
        names.push(name.to_vec());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_whole_files_of_every_encoding() {
        let seeds = seeds();
        assert_eq!(seeds.len(), 17);
        for (i, seed) in seeds.iter().enumerate() {
            let bytes = file(seed).expect("a file");
            assert_eq!(&input(&bytes), seed);
            let cells = explore(seed).unwrap_or_else(|e| panic!("seed {i}: {e}"));
            assert_eq!(cells, [60, 0, 2][i.saturating_sub(14)], "seed {i}");
        }
        let reader = Reader::open(1, "seed", &file(&seeds[0]).expect("a file")).expect("sound");
        assert!(reader.index_levels() > 2, "{} levels", reader.index_levels());
    }
}
