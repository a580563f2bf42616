//! [`MemFs`]: files in memory that a test can crash.
//!
//! A file is a vector and the length that was synced; a directory is the entries that were synced and the changes since:
//!
//! ```text
//! /wal        durable { a -> 3 }      pending [ (17, + b -> 4), (21, - a) ]
//! inode 3     data "PWAL......"       synced 6
//!
//! crash()          /wal { a }         a = "PWAL.."       only what was synced
//! crash_torn(seed) /wal { a, b }      a = "PWAL...\0\0"   some of the rest, as a journaling file system might leave it
//! ```
//!
//! Of a file that is written in place, a crash leaves what was there when it was opened, a torn one any mixture of pages.
//!
//! Changes to directories reach the disk in the order in which they were made (ext4, XFS), so a torn crash keeps all
//! of them up to a moment drawn from the seed; what `sync_dir` covered is always kept.

use crate::clock::{Clock, ManualClock};
use crate::fs::{DIRECT_BLOCK_BYTES, DirEntry, FileSystem, FileWriter, ReadAt, WriteAt, at, must_fit};
use crate::random::{Random, SeededRandom};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The operations that can be counted and made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    Create,
    Write,
    Sync,
    Rename,
    Remove,
    SyncDir,
    Open,
    Read,
}

/// A failure to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The `nth` operation of this kind from now (1 is the next one) fails; others work. A failing write leaves half
    /// of its bytes, a failing sync makes nothing durable.
    Once { op: Op, nth: u64 },
    /// From the `nth` operation of this kind on, everything that changes the file system fails: the machine stopped.
    Halt { op: Op, nth: u64 },
    /// As `Halt`, counting every operation that changes the file system.
    HaltAt { nth: u64 },
}

/// A file system in memory. Clones share it.
#[derive(Clone)]
pub struct MemFs {
    state: Arc<Mutex<State>>,
    clock: Arc<dyn Clock>,
}

type Inode = u64;
const ROOT: Inode = 0;

struct State {
    nodes: BTreeMap<Inode, Node>,
    next_inode: Inode,
    /// Numbers the changes to directories, over all of them.
    next_change: u64,
    counts: BTreeMap<Op, u64>,
    /// Operations that change the file system, of any kind.
    mutations: u64,
    faults: Vec<Armed>,
    halted: bool,
    behind: bool,
    pads: bool,
}

struct Armed {
    /// `None`: every kind that changes the file system.
    op: Option<Op>,
    /// The count at which it strikes.
    at: u64,
    halt: bool,
}

enum Node {
    File(Arc<MemFile>),
    Dir(Dir),
}

/// Outlives its name while someone has it open.
#[derive(Default)]
struct MemFile(Mutex<Content>);

#[derive(Default, Clone)]
struct Content {
    data: Vec<u8>,
    synced: usize,
    /// Written in place: what was there before.
    before: Option<Vec<u8>>,
    modified_ms: u64,
}

/// What reaches the disk at once, of a file that is written in place.
const PAGE_BYTES: usize = 512;

#[derive(Default)]
struct Dir {
    live: BTreeMap<String, Inode>,
    durable: BTreeMap<String, Inode>,
    /// Changes since the last sync of this directory: number, name, and what it stands for now.
    pending: Vec<(u64, String, Option<Inode>)>,
    modified_ms: u64,
}

impl Default for MemFs {
    fn default() -> MemFs {
        MemFs::new()
    }
}

impl MemFs {
    /// Empty, with a clock that stands at 0.
    pub fn new() -> MemFs {
        MemFs::with_clock(Arc::new(ManualClock::default()))
    }

    /// Empty; files get their modification times from `clock`.
    pub fn with_clock(clock: Arc<dyn Clock>) -> MemFs {
        let nodes = BTreeMap::from([(ROOT, Node::Dir(Dir::default()))]);
        MemFs::from_nodes(nodes, ROOT + 1, clock)
    }

    fn from_nodes(nodes: BTreeMap<Inode, Node>, next_inode: Inode, clock: Arc<dyn Clock>) -> MemFs {
        let state = State {
            nodes,
            next_inode,
            next_change: 0,
            counts: BTreeMap::new(),
            mutations: 0,
            faults: Vec::new(),
            halted: false,
            behind: false,
            pads: false,
        };
        MemFs { state: Arc::new(Mutex::new(state)), clock }
    }

    /// What a machine finds after losing power now, if nothing survived that was not synced.
    pub fn crash(&self) -> MemFs {
        self.crashed(None)
    }

    /// What a machine may find after losing power now: of what was not synced, a part drawn from `seed`. The end of a
    /// file that was being written may be missing, or zeros.
    pub fn crash_torn(&self, seed: u64) -> MemFs {
        self.crashed(Some(&SeededRandom::new(seed)))
    }

    fn crashed(&self, luck: Option<&SeededRandom>) -> MemFs {
        let state = self.state.lock();
        let kept_changes = luck.map_or(0, |luck| luck.below(state.next_change + 1));
        let mut nodes = BTreeMap::new();
        let mut reached = vec![ROOT];
        while let Some(inode) = reached.pop() {
            let kept = match state.nodes.get(&inode) {
                None => continue,
                Some(_) if nodes.contains_key(&inode) => continue,
                Some(Node::File(file)) => Node::File(Arc::new(MemFile(Mutex::new(surviving(&file.0.lock(), luck))))),
                Some(Node::Dir(dir)) => {
                    let mut entries = dir.durable.clone();
                    for (number, name, target) in &dir.pending {
                        if *number < kept_changes {
                            apply(&mut entries, name, *target);
                        }
                    }
                    reached.extend(entries.values());
                    let (live, durable) = (entries.clone(), entries);
                    Node::Dir(Dir { live, durable, pending: Vec::new(), modified_ms: dir.modified_ms })
                }
            };
            nodes.insert(inode, kept);
        }
        MemFs::from_nodes(nodes, state.next_inode, Arc::clone(&self.clock))
    }

    /// Whether logs made from now on end in zeros after a sync, as those of [`crate::LocalFs`] do.
    pub fn set_pads(&self, pads: bool) {
        self.state.lock().pads = pads;
    }

    fn create_file(&self, path: &Path, pads: bool) -> io::Result<MemWriter> {
        let now_ms = self.clock.now_ms();
        let mut state = self.state.lock();
        let created = state.admit(Op::Create).and_then(|()| {
            let (dir, name) = state.parent(path)?;
            if state.lookup(dir, &name).is_some() {
                return Err(kind(io::ErrorKind::AlreadyExists));
            }
            let file = Arc::new(MemFile::default());
            file.0.lock().modified_ms = now_ms;
            let inode = state.add(Node::File(Arc::clone(&file)));
            state.set_entry(dir, &name, Some(inode), now_ms);
            Ok(file)
        });
        let file = created.map_err(|e| at(path, e))?;
        let (state, clock) = (Arc::clone(&self.state), Arc::clone(&self.clock));
        Ok(MemWriter { file, path: path.to_owned(), position: 0, pads, state, clock })
    }

    /// What [`FileSystem::is_behind`] is to say.
    pub fn set_behind(&self, behind: bool) {
        self.state.lock().behind = behind;
    }

    /// Arms a failure.
    pub fn inject(&self, fault: Fault) {
        let mut state = self.state.lock();
        let armed = match fault {
            Fault::Once { op, nth } => Armed { op: Some(op), at: state.count(op) + nth, halt: false },
            Fault::Halt { op, nth } => Armed { op: Some(op), at: state.count(op) + nth, halt: true },
            Fault::HaltAt { nth } => Armed { op: None, at: state.mutations + nth, halt: true },
        };
        state.faults.push(armed);
    }

    /// How many operations of this kind were asked for so far, failed ones included.
    pub fn count(&self, op: Op) -> u64 {
        self.state.lock().count(op)
    }

    /// How many operations that change the file system were asked for so far.
    pub fn mutations(&self) -> u64 {
        self.state.lock().mutations
    }

    /// Changes bytes of a file in place, durably: bit rot. `false` if there is no such file or byte.
    pub fn corrupt(&self, path: &Path, offset: u64, change: impl FnOnce(&mut u8)) -> bool {
        let state = self.state.lock();
        let Ok(Node::File(file)) = state.resolve(path).map(|inode| &state.nodes[&inode]) else { return false };
        file.0.lock().data.get_mut(offset as usize).map(change).is_some()
    }

    /// Cuts a file, durably.
    pub fn truncate(&self, path: &Path, len: u64) -> bool {
        let state = self.state.lock();
        let Ok(Node::File(file)) = state.resolve(path).map(|inode| &state.nodes[&inode]) else { return false };
        let mut content = file.0.lock();
        content.data.truncate(len as usize);
        content.synced = content.synced.min(len as usize);
        true
    }
}

/// What is left of a file: its synced bytes, and, with luck, a part of the others whose end may be zeros.
fn surviving(content: &Content, luck: Option<&SeededRandom>) -> Content {
    let mut kept = content.clone();
    if let Some(before) = &content.before {
        for (page, old) in kept.data.chunks_mut(PAGE_BYTES).zip(before.chunks(PAGE_BYTES)) {
            if luck.is_none_or(|luck| luck.below(2) == 0) {
                let len = page.len().min(old.len());
                page[..len].copy_from_slice(&old[..len]);
            }
        }
        kept.before = None;
        return kept;
    }
    kept.data.truncate(content.synced);
    if let Some(luck) = luck {
        let unsynced = &content.data[content.synced..];
        let tail = luck.below(unsynced.len() as u64 + 1) as usize;
        kept.data.extend_from_slice(&unsynced[..tail]);
        if luck.below(2) == 0 {
            // The length reached the disk, the last bytes did not.
            let zeros = luck.below(tail as u64 + 1) as usize;
            let from = kept.data.len() - zeros;
            kept.data[from..].fill(0);
        }
    }
    kept.synced = kept.data.len();
    kept
}

fn apply(entries: &mut BTreeMap<String, Inode>, name: &str, target: Option<Inode>) {
    match target {
        Some(inode) => entries.insert(name.to_owned(), inode),
        None => entries.remove(name),
    };
}

fn kind(kind: io::ErrorKind) -> io::Error {
    kind.into()
}

impl State {
    fn count(&self, op: Op) -> u64 {
        self.counts.get(&op).copied().unwrap_or(0)
    }

    /// Counts the operation and says whether it may happen.
    fn admit(&mut self, op: Op) -> io::Result<()> {
        let changes = !matches!(op, Op::Open | Op::Read);
        let count = self.counts.entry(op).or_insert(0);
        *count += 1;
        let count = *count;
        self.mutations += u64::from(changes);
        let mutations = self.mutations;
        let strikes = |f: &Armed| f.op.map_or(changes && f.at == mutations, |o| o == op && f.at == count);
        let mut failed = false;
        if let Some(at) = self.faults.iter().position(strikes) {
            self.halted |= self.faults.remove(at).halt;
            failed = true;
        }
        if failed || (self.halted && changes) {
            return Err(io::Error::other(format!("injected failure of {op:?}")));
        }
        Ok(())
    }

    fn dir(&self, inode: Inode) -> io::Result<&Dir> {
        match self.nodes.get(&inode) {
            Some(Node::Dir(dir)) => Ok(dir),
            Some(Node::File(_)) => Err(kind(io::ErrorKind::NotADirectory)),
            None => Err(kind(io::ErrorKind::NotFound)),
        }
    }

    fn resolve(&self, path: &Path) -> io::Result<Inode> {
        let mut inode = ROOT;
        for name in names(path)? {
            inode = *self.dir(inode)?.live.get(&name).ok_or_else(|| kind(io::ErrorKind::NotFound))?;
        }
        Ok(inode)
    }

    /// The directory that holds the path, and the last name.
    fn parent(&self, path: &Path) -> io::Result<(Inode, String)> {
        let mut names = names(path)?;
        let last = names.pop().ok_or_else(|| kind(io::ErrorKind::InvalidInput))?;
        let mut inode = ROOT;
        for name in names {
            inode = *self.dir(inode)?.live.get(&name).ok_or_else(|| kind(io::ErrorKind::NotFound))?;
        }
        self.dir(inode)?;
        Ok((inode, last))
    }

    fn lookup(&self, dir: Inode, name: &str) -> Option<Inode> {
        self.dir(dir).ok()?.live.get(name).copied()
    }

    fn set_entry(&mut self, dir: Inode, name: &str, target: Option<Inode>, now_ms: u64) {
        let number = self.next_change;
        self.next_change += 1;
        if let Some(Node::Dir(dir)) = self.nodes.get_mut(&dir) {
            apply(&mut dir.live, name, target);
            dir.pending.push((number, name.to_owned(), target));
            dir.modified_ms = now_ms;
        }
    }

    fn add(&mut self, node: Node) -> Inode {
        let inode = self.next_inode;
        self.next_inode += 1;
        self.nodes.insert(inode, node);
        inode
    }
}

/// The names on the way from the root.
fn names(path: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name.to_string_lossy().into_owned()),
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => return Err(kind(io::ErrorKind::InvalidInput)),
        }
    }
    Ok(names)
}

struct MemReader {
    file: Arc<MemFile>,
    path: PathBuf,
    len: u64,
    state: Arc<Mutex<State>>,
}

impl ReadAt for MemReader {
    fn len(&self) -> u64 {
        self.len
    }
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.state.lock().admit(Op::Read).map_err(|e| at(&self.path, e))?;
        self.file.0.lock().data.as_slice().read_exact_at(buf, offset).map_err(|e| at(&self.path, e))
    }
}

impl WriteAt for MemReader {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let admitted = self.state.lock().admit(Op::Write);
        let kept = if admitted.is_ok() { bytes } else { &bytes[..bytes.len() / 2] };
        let mut content = self.file.0.lock();
        let written = must_fit(bytes, offset, content.data.len() as u64).and_then(|()| {
            content.data[offset as usize..][..kept.len()].copy_from_slice(kept);
            admitted
        });
        written.map_err(|e| at(&self.path, e))
    }
}

struct MemWriter {
    file: Arc<MemFile>,
    path: PathBuf,
    position: u64,
    /// Of a log: the file ends in zeros after a sync.
    pads: bool,
    state: Arc<Mutex<State>>,
    clock: Arc<dyn Clock>,
}

impl Write for MemWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let admitted = self.state.lock().admit(Op::Write);
        let kept = if admitted.is_ok() { bytes } else { &bytes[..bytes.len() / 2] };
        let mut content = self.file.0.lock();
        self.cut(&mut content);
        content.data.extend_from_slice(kept);
        content.modified_ms = self.clock.now_ms();
        self.position += kept.len() as u64;
        admitted.map(|()| bytes.len()).map_err(|e| at(&self.path, e))
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl FileWriter for MemWriter {
    fn position(&self) -> u64 {
        self.position
    }
    fn sync_data(&mut self) -> io::Result<()> {
        self.state.lock().admit(Op::Sync).map_err(|e| at(&self.path, e))?;
        let mut content = self.file.0.lock();
        if self.pads && (content.synced as u64) < self.position {
            content.data.resize(self.position.next_multiple_of(DIRECT_BLOCK_BYTES) as usize, 0);
        }
        content.synced = content.data.len();
        Ok(())
    }
    fn trim(&mut self) -> io::Result<()> {
        self.cut(&mut self.file.0.lock());
        Ok(())
    }
}

impl MemWriter {
    /// Takes the zeros away.
    fn cut(&self, content: &mut Content) {
        content.data.truncate(self.position as usize);
        content.synced = content.synced.min(content.data.len());
    }
}

impl FileSystem for MemFs {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        let mut state = self.state.lock();
        let opened = state.admit(Op::Open).and_then(|()| match &state.nodes[&state.resolve(path)?] {
            Node::File(file) => Ok(Arc::clone(file)),
            Node::Dir(_) => Err(kind(io::ErrorKind::IsADirectory)),
        });
        let file = opened.map_err(|e| at(path, e))?;
        let len = file.0.lock().data.len() as u64;
        Ok(Arc::new(MemReader { file, path: path.to_owned(), len, state: Arc::clone(&self.state) }))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn FileWriter>> {
        Ok(Box::new(self.create_file(path, false)?))
    }

    fn create_direct(&self, path: &Path) -> io::Result<Box<dyn FileWriter>> {
        let pads = self.state.lock().pads;
        Ok(Box::new(self.create_file(path, pads)?))
    }

    fn open_in_place(&self, path: &Path, len: u64) -> io::Result<Arc<dyn WriteAt>> {
        if !self.exists(path) {
            self.create(path)?;
        }
        let mut state = self.state.lock();
        let opened = state.admit(Op::Open).and_then(|()| match &state.nodes[&state.resolve(path)?] {
            Node::File(file) => Ok(Arc::clone(file)),
            Node::Dir(_) => Err(kind(io::ErrorKind::IsADirectory)),
        });
        let file = opened.map_err(|e| at(path, e))?;
        let mut content = file.0.lock();
        content.data.resize(len as usize, 0);
        content.synced = content.data.len();
        content.before = Some(content.data.clone());
        drop(content);
        Ok(Arc::new(MemReader { file, path: path.to_owned(), len, state: Arc::clone(&self.state) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let now_ms = self.clock.now_ms();
        let mut state = self.state.lock();
        let renamed = state.admit(Op::Rename).and_then(|()| {
            let inode = state.resolve(from)?;
            let (from_dir, from_name) = state.parent(from)?;
            let (to_dir, to_name) = state.parent(to)?;
            if let Some(target) = state.lookup(to_dir, &to_name) {
                match (&state.nodes[&inode], &state.nodes[&target]) {
                    (Node::File(_), Node::File(_)) => {}
                    (Node::Dir(_), Node::Dir(old)) if old.live.is_empty() => {}
                    (Node::Dir(_), Node::Dir(_)) => return Err(kind(io::ErrorKind::DirectoryNotEmpty)),
                    (Node::Dir(_), _) => return Err(kind(io::ErrorKind::NotADirectory)),
                    _ => return Err(kind(io::ErrorKind::IsADirectory)),
                }
            }
            if to.starts_with(from) && to != from {
                return Err(kind(io::ErrorKind::InvalidInput));
            }
            // The new name first: whoever crashes in between has the file twice, not never.
            state.set_entry(to_dir, &to_name, Some(inode), now_ms);
            if (from_dir, &from_name) != (to_dir, &to_name) {
                state.set_entry(from_dir, &from_name, None, now_ms);
            }
            Ok(())
        });
        renamed.map_err(|e| io::Error::new(e.kind(), format!("rename {} to {}: {e}", from.display(), to.display())))
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        let found = state.admit(Op::Sync).and_then(|()| match &state.nodes[&state.resolve(path)?] {
            Node::File(file) => Ok(Arc::clone(file)),
            Node::Dir(_) => Err(kind(io::ErrorKind::IsADirectory)),
        });
        let file = found.map_err(|e| at(path, e))?;
        let mut content = file.0.lock();
        content.synced = content.data.len();
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.remove(path, |node| match node {
            Node::File(_) => Ok(()),
            Node::Dir(_) => Err(kind(io::ErrorKind::IsADirectory)),
        })
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.remove(path, |node| match node {
            Node::Dir(_) => Ok(()),
            Node::File(_) => Err(kind(io::ErrorKind::NotADirectory)),
        })
    }

    fn remove_empty_dir(&self, path: &Path) -> io::Result<()> {
        self.remove(path, |node| match node {
            Node::Dir(dir) if dir.live.is_empty() => Ok(()),
            Node::Dir(_) => Err(kind(io::ErrorKind::DirectoryNotEmpty)),
            Node::File(_) => Err(kind(io::ErrorKind::NotADirectory)),
        })
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let now_ms = self.clock.now_ms();
        let mut state = self.state.lock();
        let mut make = || {
            let mut inode = ROOT;
            for name in names(path)? {
                inode = match state.dir(inode)?.live.get(&name) {
                    Some(there) => *there,
                    None => {
                        state.admit(Op::Create)?;
                        let made = state.add(Node::Dir(Dir { modified_ms: now_ms, ..Dir::default() }));
                        state.set_entry(inode, &name, Some(made), now_ms);
                        state.sync_entries(inode)?;
                        made
                    }
                };
            }
            state.dir(inode).map(|_| ())
        };
        make().map_err(|e| at(path, e))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let state = self.state.lock();
        let inode = state.resolve(dir).map_err(|e| at(dir, e))?;
        let live = &state.dir(inode).map_err(|e| at(dir, e))?.live;
        let entry = |(name, inode): (&String, &Inode)| match &state.nodes[inode] {
            Node::Dir(d) => DirEntry { name: name.clone(), is_dir: true, len: 0, modified_ms: d.modified_ms },
            Node::File(file) => {
                let content = file.0.lock();
                let (len, modified_ms) = (content.data.len() as u64, content.modified_ms);
                DirEntry { name: name.clone(), is_dir: false, len, modified_ms }
            }
        };
        Ok(live.iter().map(entry).collect())
    }

    fn is_behind(&self) -> bool {
        self.state.lock().behind
    }

    fn exists(&self, path: &Path) -> bool {
        self.state.lock().resolve(path).is_ok()
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        let synced = state.admit(Op::SyncDir).and_then(|()| {
            let inode = state.resolve(dir)?;
            state.sync_entries(inode)
        });
        synced.map_err(|e| at(dir, e))
    }
}

impl State {
    fn sync_entries(&mut self, inode: Inode) -> io::Result<()> {
        match self.nodes.get_mut(&inode) {
            Some(Node::Dir(dir)) => {
                dir.durable = dir.live.clone();
                dir.pending.clear();
                Ok(())
            }
            _ => Err(kind(io::ErrorKind::NotADirectory)),
        }
    }
}

impl MemFs {
    /// Takes the name away. Nodes stay: a crash may bring them back, and readers may have them open.
    fn remove(&self, path: &Path, may: impl FnOnce(&Node) -> io::Result<()>) -> io::Result<()> {
        let now_ms = self.clock.now_ms();
        let mut state = self.state.lock();
        let removed = state.admit(Op::Remove).and_then(|()| {
            let inode = state.resolve(path)?;
            may(&state.nodes[&inode])?;
            let (dir, name) = state.parent(path)?;
            state.set_entry(dir, &name, None, now_ms);
            Ok(())
        });
        removed.map_err(|e| at(path, e))
    }
}
