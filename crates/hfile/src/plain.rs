//! Plain cells of a row, copied one after the other: what most reads spend their time with.
//!
//! Most rows of most files are puts without tags, each the only version of its column, or with few older ones that are not
//! wanted. Those are judged by a few words of memory ([`PlainJudge`]) and copied as they lie in the block. At the first cell
//! that is anything else, this ends.

use crate::{
    Block, NEAR_CELLS, Scanner,
    cells::{CellAt, Layout, seq_id},
    scanner::Current,
};
use bytes::Bytes;
use martite_cell::order::compare_without_row;
use martite_cell::{CellBuf, CellType, FlatCell, key};
use martite_env::prefetch::{LINE_BYTES, prefetch};
use std::cmp::Ordering;
use std::sync::Arc;

/// Memory is asked for so many bytes ahead, if more rows are wanted; more or less than that was slower.
pub(crate) const AHEAD_BYTES: usize = 64 * LINE_BYTES;
/// The same for a row alone.
const AHEAD_IN_ROW: usize = 16 * LINE_BYTES;

/// Rows are compared in so many words, if they fit.
const WORDS: usize = 4;
const ROW_BYTES: usize = 8 * WORDS;

/// Which cells are taken.
pub struct PlainRules<'a> {
    /// The row: `u16 length | row`, as its keys begin.
    pub row_prefix: &'a [u8],
    /// Timestamps that are wanted, both included.
    pub oldest: u64,
    pub newest: u64,
    /// Cells of other times are passed over; else each is to be looked at.
    pub other_times_pass: bool,
    /// Sequence ids up to it are.
    pub read_point: u64,
    /// Cells of the row that are not before this key are not taken.
    pub bound: Option<&'a [u8]>,
    /// The qualifier of which a version was taken before.
    pub column: Option<&'a [u8]>,
    /// Qualifiers that are wanted, ascending; None: any.
    pub columns: Option<&'a [Bytes]>,
    /// So many older versions of a column are passed over, one after the other. 0: each is to be looked at.
    pub most_older: u32,
    /// So many cells at most, with those passed over; 1 at least.
    pub most_cells: u64,
    /// No more once the output has so many bytes.
    pub bytes_end: usize,
    /// Rows behind this one are wanted, too.
    pub goes_on: bool,
}

impl PlainRules<'_> {
    /// Of the last bytes of a cell's key, and its sequence id.
    #[inline(always)]
    fn is_plain(&self, stamp: &[u8; key::TS_TYPE_SIZE], seq_id: u64) -> bool {
        stamp[8] == CellType::Put as u8 && seq_id <= self.read_point
    }

    #[inline(always)]
    fn in_time(&self, stamp: &[u8; key::TS_TYPE_SIZE]) -> bool {
        let timestamp = key::timestamp(stamp);
        timestamp >= self.oldest && timestamp <= self.newest
    }
}

/// Why no more were taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainEnd {
    /// As many as may be; the scanner stands at the last one that was taken, if any was.
    Limit,
    /// The same, for it is the last one of the block.
    Block,
    /// It stands at the first cell of another row.
    Row,
    /// The last of the named columns was taken, and no more versions or rows are wanted; it stands there.
    Columns,
    /// It stands at a plain cell that is behind the bound.
    Bound,
    /// It stands at one that is not wanted, and more of them may follow: a seek may be better.
    Far,
    /// It stands at a cell that was shown, and who saw it says where to go: see [`crate::ShowCells`].
    Shown,
    /// It stands at a cell to be looked at.
    Other,
}

/// What was taken.
pub struct PlainTaken<'s> {
    pub cells: u64,
    /// Those that are not wanted, which were passed over.
    pub passed: u64,
    /// Whether the scanner has passed over some since `last`.
    pub passed_last: bool,
    /// The last cell of all was passed over alone: further ones of its column may be wanted.
    pub passed_one: bool,
    /// Without its sequence id.
    pub last: Option<FlatCell<'s>>,
    /// So many of the named columns are done with.
    pub columns_done: usize,
    pub end: PlainEnd,
}

impl PlainTaken<'_> {
    pub const NONE: PlainTaken<'static> = PlainTaken {
        cells: 0,
        passed: 0,
        passed_last: false,
        passed_one: false,
        last: None,
        columns_done: 0,
        end: PlainEnd::Other,
    };
}

/// What is done with a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Take,
    /// It is passed over, and further cells of its column may be, too.
    Pass,
    /// It alone is.
    PassOne,
    /// It is neither.
    End(PlainEnd),
}

/// Judges the cells of a row, one after the other. `NAMED`: columns may be named.
pub struct PlainJudge<'r, 's, const NAMED: bool> {
    rules: &'r PlainRules<'r>,
    row: RowWords<'r>,
    bound: Option<Bound<'r>>,
    columns: Columns<'r, 's, NAMED>,
}

impl<'r, 's, const NAMED: bool> PlainJudge<'r, 's, NAMED> {
    #[inline]
    pub fn new(rules: &'r PlainRules<'r>) -> PlainJudge<'r, 's, NAMED> {
        PlainJudge {
            rules,
            row: RowWords::new(rules.row_prefix),
            bound: rules.bound.map(|key| Bound::new(key, rules.row_prefix.len())),
            columns: Columns::new(rules.columns),
        }
    }

    /// Whether `key` is of the row; only its beginning is looked at, which may have more behind it.
    #[inline(always)]
    pub fn is_in_row(&self, key: &[u8]) -> bool {
        self.row.begin(key)
    }

    /// Of a cell of the row.
    #[inline(always)]
    pub fn judge(&mut self, key: &'s [u8], has_tags: bool, seq_id: u64) -> Fate {
        let Some((column, stamp)) = key.split_last_chunk::<{ key::TS_TYPE_SIZE }>() else {
            return Fate::End(PlainEnd::Other);
        };
        let in_time = self.rules.in_time(stamp);
        self.columns.passed_one = false;
        if has_tags || !self.rules.is_plain(stamp, seq_id) || !(in_time || self.rules.other_times_pass) {
            return Fate::End(PlainEnd::Other);
        }
        match self.bound.as_mut().map_or(Ordering::Less, |bound| bound.compare(key)) {
            Ordering::Less if in_time => self.columns.judge(key, column, self.rules),
            Ordering::Less => self.columns.pass_time(),
            // Which of two cells with the same key comes first is not told by that.
            Ordering::Equal => Fate::End(PlainEnd::Other),
            Ordering::Greater => Fate::End(PlainEnd::Bound),
        }
    }

    /// The last cell, which was to be taken, is passed over.
    #[inline(always)]
    pub(crate) fn leaves_last(&mut self) {
        self.columns.passed_last = true;
    }

    /// Whether nothing more of the row is wanted, nor of others.
    #[inline(always)]
    pub fn has_all(&self) -> bool {
        self.columns.has_all(self.rules)
    }

    /// Whether columns were named, and all of them are done with.
    #[inline(always)]
    pub fn has_all_named(&self) -> bool {
        NAMED && self.columns.named.as_ref().is_some_and(|named| named.done == named.columns.len())
    }

    /// Leaves in `taken` what is known of the columns.
    #[inline(always)]
    pub fn finish(&self, taken: &mut PlainTaken<'_>) {
        taken.passed_last = self.columns.passed_last;
        taken.passed_one = self.columns.passed_one;
        taken.columns_done = self.columns.named.as_ref().map_or(0, |named| named.done);
    }
}

/// A row's prefix, to be compared in words: its first bytes, and a mask of those that count.
struct RowWords<'a> {
    prefix: &'a [u8],
    words: [u64; WORDS],
    masks: [u64; WORDS],
}

impl<'a> RowWords<'a> {
    fn new(prefix: &'a [u8]) -> RowWords<'a> {
        let (mut bytes, mut counted) = ([0; ROW_BYTES], [0; ROW_BYTES]);
        if let (Some(bytes), Some(counted)) = (bytes.get_mut(..prefix.len()), counted.get_mut(..prefix.len())) {
            bytes.copy_from_slice(prefix);
            counted.fill(0xff);
        }
        RowWords { prefix, words: words(&bytes), masks: words(&counted) }
    }

    /// Whether a key that `bytes` begin with is of the row.
    #[inline(always)]
    fn begin(&self, bytes: &[u8]) -> bool {
        match bytes.first_chunk::<ROW_BYTES>() {
            Some(chunk) if self.prefix.len() <= ROW_BYTES => {
                let chunk = words(chunk);
                let differ = |at: usize| (chunk[at] ^ self.words[at]) & self.masks[at];
                differ(0) | differ(1) | differ(2) | differ(3) == 0
            }
            _ => bytes.starts_with(self.prefix),
        }
    }
}

#[inline(always)]
fn words(bytes: &[u8; ROW_BYTES]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_ne_bytes(*bytes);
    }
    words
}

/// Named columns, in their order.
struct Named<'a> {
    columns: &'a [Bytes],
    done: usize,
    /// Cells of others since the last one.
    passed: u32,
}

impl Named<'_> {
    #[inline]
    fn judge(&mut self, qualifier: &[u8]) -> Fate {
        while let Some(column) = self.columns.get(self.done) {
            match qualifier.cmp(column) {
                Ordering::Equal => {
                    (self.done, self.passed) = (self.done + 1, 0);
                    return Fate::Take;
                }
                Ordering::Less => break,
                Ordering::Greater => self.done += 1,
            }
        }
        self.passed += 1;
        if self.passed as usize > NEAR_CELLS { Fate::End(PlainEnd::Far) } else { Fate::Pass }
    }
}

/// The columns of a row that were met.
struct Columns<'a, 's, const NAMED: bool> {
    named: Option<Named<'a>>,
    /// The column of the last cell that was taken, and how it ends.
    last: Option<(&'s [u8], u64)>,
    /// Older versions of it that were passed over.
    older: u32,
    /// Cells of other times that were.
    other_times: usize,
    /// The last cell was.
    passed_last: bool,
    /// And for its time.
    passed_one: bool,
}

impl<'a, 's, const NAMED: bool> Columns<'a, 's, NAMED> {
    fn new(named: Option<&'a [Bytes]>) -> Columns<'a, 's, NAMED> {
        let named = named.filter(|_| NAMED).map(|columns| Named { columns, done: 0, passed: 0 });
        Columns { named, last: None, older: 0, other_times: 0, passed_last: false, passed_one: false }
    }

    /// What is done with the next cell, whose key is `column` and what follows it.
    #[inline(always)]
    fn judge(&mut self, key: &[u8], column: &'s [u8], rules: &PlainRules<'_>) -> Fate {
        let end_of_column = ending(column);
        let qualifier = || key::qualifier_at(key, rules.row_prefix.len());
        let is_older = match self.last {
            Some((last, last_ending)) => end_of_column == last_ending && column == last,
            None => rules.column.is_some_and(|taken| taken == qualifier()),
        };
        let fate = match self.named.as_mut().filter(|_| NAMED) {
            _ if is_older && rules.most_older == 0 => Fate::End(PlainEnd::Other),
            _ if is_older && self.older == rules.most_older => Fate::End(PlainEnd::Far),
            _ if is_older => Fate::Pass,
            Some(named) => named.judge(qualifier()),
            None => Fate::Take,
        };
        match fate {
            Fate::Take => (self.last, self.older, self.passed_last) = (Some((column, end_of_column)), 0, false),
            Fate::Pass => (self.older, self.passed_last) = (self.older + u32::from(is_older), true),
            Fate::PassOne | Fate::End(_) => {}
        }
        fate
    }

    /// The next cell is of a time that is not wanted.
    #[inline]
    fn pass_time(&mut self) -> Fate {
        self.other_times += 1;
        if self.other_times > NEAR_CELLS {
            return Fate::End(PlainEnd::Far);
        }
        (self.passed_last, self.passed_one) = (true, true);
        Fate::PassOne
    }

    /// Whether nothing more of the row is wanted, nor of others.
    #[inline(always)]
    fn has_all(&self, rules: &PlainRules<'_>) -> bool {
        let only_these = !rules.goes_on && rules.most_older > 0;
        NAMED && only_these && self.named.as_ref().is_some_and(|named| named.done == named.columns.len())
    }
}

/// The key that others go on from.
struct Bound<'a> {
    key: &'a [u8],
    /// Where its family and its qualifier begin, and how the latter does. A store has one family, so that keys of a row are told
    /// apart by what follows it.
    column_at: usize,
    qualifier: Option<(usize, u64)>,
}

impl<'a> Bound<'a> {
    fn new(key: &'a [u8], column_at: usize) -> Bound<'a> {
        Bound { key, column_at, qualifier: None }
    }

    /// Where `key`, of the same row, lies.
    #[inline(always)]
    fn compare(&mut self, key: &[u8]) -> Ordering {
        if self.qualifier.is_none() {
            self.meet(key);
        }
        match self.qualifier {
            Some((at, begins)) if beginning(key, at) != begins => beginning(key, at).cmp(&begins),
            _ => compare_without_row(key, self.key),
        }
    }

    /// Before the first comparison. A key that is only sought may have another family, or none.
    fn meet(&mut self, key: &[u8]) {
        let qualifier_at = self.column_at + 1 + self.key[self.column_at] as usize;
        if key.get(self.column_at..qualifier_at) == self.key.get(self.column_at..qualifier_at) {
            self.qualifier = Some((qualifier_at, beginning(self.key, qualifier_at)));
        }
    }
}

/// The first bytes of a key's qualifier, in order.
#[inline(always)]
fn beginning(key: &[u8], qualifier_at: usize) -> u64 {
    let Some((bytes, behind)) = key.get(qualifier_at..).and_then(|rest| rest.split_first_chunk::<8>()) else {
        return 0;
    };
    // The timestamp and the type lie behind the qualifier.
    let missing = key::TS_TYPE_SIZE.saturating_sub(behind.len()).min(8);
    u64::from_be_bytes(*bytes) & u64::MAX.checked_shl(8 * missing as u32).unwrap_or(0)
}

/// The last bytes of a column, which mostly tell it from its neighbour.
#[inline(always)]
fn ending(column: &[u8]) -> u64 {
    column.last_chunk::<8>().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

/// A cell as it lies.
pub(crate) struct Lying<'s> {
    /// Lengths, key and value.
    pub key_value: &'s [u8],
    pub key_len: usize,
    pub tags_len: u16,
    seq_id: u64,
    /// Bytes of all its parts.
    pub len: usize,
}

impl<'s> Lying<'s> {
    /// `USUAL`: the layout is that of cells without tags, with sequence ids.
    #[inline(always)]
    pub(crate) fn parse<const USUAL: bool>(rest: &'s [u8], layout: Layout) -> Option<Lying<'s>> {
        let lengths = u64::from_be_bytes(*rest.first_chunk::<8>()?);
        let (key_len, value_len) = ((lengths >> 32) as usize, lengths as u32 as usize);
        let (key_value, behind) = rest.split_at_checked(8 + key_len + value_len)?;
        let (tags_len, seq_id, more) = if USUAL {
            let (seq_id, len) = seq_id(behind)?;
            (0, seq_id, len)
        } else {
            let (tags_len, tags_end) = match layout.tags {
                true => {
                    let len = u16::from_be_bytes(*behind.first_chunk::<2>()?);
                    (len, 2 + len as usize)
                }
                false => (0, 0),
            };
            let behind_tags = behind.get(tags_end..)?;
            let (seq_id, len) = if layout.mvcc { seq_id(behind_tags)? } else { (0, 0) };
            (tags_len, seq_id, tags_end + len)
        };
        Some(Lying { key_value, key_len, tags_len, seq_id, len: key_value.len() + more })
    }
}

impl Scanner {
    /// Takes the current cell and those behind it in its block to `out`, as long as they are plain: puts of the row without tags,
    /// the first of their columns.
    #[inline]
    pub fn take_plain<'s>(&'s mut self, rules: &PlainRules<'_>, out: &mut CellBuf) -> PlainTaken<'s> {
        let layout = self.reader().layout();
        let Some(Current { block, cell, ahead, .. }) = self.current() else { return PlainTaken::NONE };
        let mut at = cell.start as usize;
        let taken = take_lying(block, layout, &mut at, ahead, rules, out);
        if let Some(taken_to) = CellAt::parse(block.payload(), at as u32, layout) {
            *cell = taken_to;
        }
        taken
    }
}

/// As [`Scanner::take_plain`], from the cell `at` on.
#[inline]
pub(crate) fn take_lying<'s>(
    block: &'s Arc<Block>,
    layout: Layout,
    at: &mut usize,
    ahead: Ahead<'_>,
    rules: &PlainRules<'_>,
    out: &mut CellBuf,
) -> PlainTaken<'s> {
    match (layout, rules.columns) {
        (Layout { tags: false, mvcc: true }, None) => take_laid::<true, false>(block, layout, (at, ahead), rules, out),
        (Layout { tags: false, mvcc: true }, _) => take_laid::<true, true>(block, layout, (at, ahead), rules, out),
        _ => take_laid::<false, true>(block, layout, (at, ahead), rules, out),
    }
}

/// `NAMED`: columns may be named.
#[inline(never)]
fn take_laid<'s, const USUAL: bool, const NAMED: bool>(
    block: &'s Arc<Block>,
    layout: Layout,
    (place, mut ahead): (&mut usize, Ahead<'_>),
    rules: &PlainRules<'_>,
    out: &mut CellBuf,
) -> PlainTaken<'s> {
    let payload = block.payload();
    let mut taken = PlainTaken::NONE;
    let mut at = *place;
    let way = if rules.goes_on && ahead.goes_on_at(at) { AHEAD_BYTES } else { AHEAD_IN_ROW };
    let mut read_to = at;
    let mut judge = PlainJudge::<NAMED>::new(rules);
    let mut last = None;
    while let Some(rest) = payload.get(at..) {
        ahead.prefetch(payload, at, way);
        let Some((_, key)) = rest.split_first_chunk::<8>() else { break };
        // A key begins with its row's length: two that begin alike so far are both long enough. The end of another row's cell
        // may be far from here in memory: it is not looked at.
        if !judge.is_in_row(key) {
            taken.end = PlainEnd::Row;
            break;
        }
        let Some(cell) = Lying::parse::<USUAL>(rest, layout) else { break };
        let Some(key) = cell.key_value.get(8..8 + cell.key_len) else { break };
        match judge.judge(key, cell.tags_len > 0, cell.seq_id) {
            Fate::End(end) => {
                taken.end = end;
                break;
            }
            Fate::Pass | Fate::PassOne => taken.passed += 1,
            Fate::Take => {
                out.push_or_borrow(cell.key_value, block);
                last = Some((cell.key_value, cell.key_len));
                taken.cells += 1;
            }
        }
        let next = at + cell.len;
        read_to = next;
        if taken.cells + taken.passed == rules.most_cells || out.size_bytes() >= rules.bytes_end {
            taken.end = PlainEnd::Limit;
            break;
        }
        if judge.has_all() {
            taken.end = PlainEnd::Columns;
            break;
        }
        if next == payload.len() {
            taken.end = PlainEnd::Block;
            break;
        }
        at = next;
    }
    *place = at;
    ahead.has_read_to(read_to);
    judge.finish(&mut taken);
    taken.last = last.map(|(key_value, key_len)| FlatCell::new(&key_value[8..], key_len, &[], 0));
    taken
}

/// What of a block's memory has been asked for ahead, and of that of the block behind it.
pub(crate) struct Ahead<'a> {
    /// Up to here; what is beyond the one block is in the other.
    pub asked: &'a mut usize,
    /// Payload of the block behind, if that is known.
    pub behind: &'a [u8],
}

impl Ahead<'_> {
    /// Whether the block behind is known, and begins with another row than this one.
    #[inline]
    pub(crate) fn begins_another_row(&self, row: &[u8], layout: Layout) -> bool {
        CellAt::parse(self.behind, 0, layout).is_some_and(|first| !key::is_same(key::row(first.key(self.behind)), row))
    }

    /// Whether what was read or asked for before reaches to `at`: otherwise rows were passed over, as they may be behind it.
    #[inline(always)]
    fn goes_on_at(&self, at: usize) -> bool {
        at <= *self.asked
    }

    #[inline(always)]
    fn has_read_to(&mut self, at: usize) {
        *self.asked = (*self.asked).max(at);
    }

    /// Asks for the memory of what comes, a little at a time.
    #[inline(always)]
    pub(crate) fn prefetch(&mut self, payload: &[u8], at: usize, way: usize) {
        let (mut asked, end) = ((*self.asked).max(at), at + way);
        while asked < end.min(payload.len()) {
            prefetch(&payload[asked..asked + 1]);
            asked += LINE_BYTES;
        }
        while asked < end
            && let Some(byte) = asked.checked_sub(payload.len()).and_then(|at| self.behind.get(at..=at))
        {
            prefetch(byte);
            asked += LINE_BYTES;
        }
        *self.asked = asked;
    }
}
