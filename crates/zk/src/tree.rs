//! [`Tree`]: the nodes, in memory, shared by the process that sets them and the sessions that read them.
//!
//! One lock covers nodes, watches and the events that wait for each connection. A connection takes its events and
//! reads under that lock at once, so what a client sees keeps ZooKeeper's order: first the event of a change, then a
//! reply that shows it; and a reply that sets a watch before the event of that watch.

use bytes::Bytes;
use martite_env::Clock;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use tokio::sync::Notify;

/// ZooKeeper's metadata of a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stat {
    /// Transaction that made the node.
    pub czxid: i64,
    /// Transaction that changed its data last.
    pub mzxid: i64,
    pub ctime_ms: i64,
    pub mtime_ms: i64,
    /// Changes of data.
    pub version: i32,
    /// Changes of children.
    pub cversion: i32,
    pub aversion: i32,
    /// Session that the node goes with; 0: none.
    pub ephemeral_owner: i64,
    pub data_length: i32,
    pub num_children: i32,
    /// Transaction that changed its children last.
    pub pzxid: i64,
}

/// A node as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub data: Bytes,
    pub stat: Stat,
}

/// The owner that ephemeral nodes show: the process itself.
const PROCESS_SESSION: i64 = 1;

/// What a watch tells; values are on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum EventKind {
    Created = 1,
    Deleted = 2,
    DataChanged = 3,
    ChildrenChanged = 4,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub kind: EventKind,
    pub path: String,
}

/// The two kinds of watches. `exists` sets a data watch too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watch {
    Data,
    Children,
}

/// A connection, as watches know it.
pub(crate) type WatcherId = u64;

/// The tree. `/` and `/zookeeper` are always there.
pub struct Tree {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

pub(crate) struct State {
    nodes: BTreeMap<String, NodeState>,
    zxid: i64,
    data_watches: HashMap<String, HashSet<WatcherId>>,
    child_watches: HashMap<String, HashSet<WatcherId>>,
    watchers: HashMap<WatcherId, Watcher>,
    next_watcher: WatcherId,
}

#[derive(Default)]
struct NodeState {
    data: Bytes,
    stat: Stat,
    children: BTreeSet<String>,
}

struct Watcher {
    events: Vec<Event>,
    notify: Arc<Notify>,
    watches: HashSet<(bool, String)>,
}

impl Tree {
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Tree> {
        // Above every transaction of an earlier life: a client that comes back sees time go on.
        let zxid = (clock.now_ms() as i64) << 16;
        let mut state = State {
            nodes: BTreeMap::from([("/".to_string(), NodeState::default())]),
            zxid,
            data_watches: HashMap::new(),
            child_watches: HashMap::new(),
            watchers: HashMap::new(),
            next_watcher: 1,
        };
        state.set("/zookeeper", Bytes::new(), false, clock.now_ms());
        Arc::new(Tree { clock, state: Mutex::new(state) })
    }

    /// Makes the node (and those above it, empty) or changes its data; watches fire. An ephemeral node shows the
    /// process as its owner; it goes with the process.
    pub fn set(&self, path: &str, data: impl Into<Bytes>, ephemeral: bool) {
        self.state.lock().set(&normal(path), data.into(), ephemeral, self.clock.now_ms());
    }

    /// Removes the node and what is below; `false` if there was none. The root stays.
    pub fn remove(&self, path: &str) -> bool {
        self.state.lock().remove(&normal(path))
    }

    pub fn get(&self, path: &str) -> Option<Node> {
        self.state.lock().get(&normal(path))
    }

    /// Names below a node, sorted; `None` without the node.
    pub fn children(&self, path: &str) -> Option<Vec<String>> {
        self.state.lock().children(&normal(path))
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.state.lock().nodes.len()
    }

    /// Number of watches that wait to fire.
    pub fn watch_count(&self) -> usize {
        let state = self.state.lock();
        state.data_watches.values().chain(state.child_watches.values()).map(HashSet::len).sum()
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.state.lock().nodes.iter().map(|(path, node)| path.len() + node.data.len()).sum()
    }

    /// A new connection; `notify` is told when events wait for it.
    pub(crate) fn attach(&self, notify: Arc<Notify>) -> WatcherId {
        let mut state = self.state.lock();
        let id = state.next_watcher;
        state.next_watcher += 1;
        state.watchers.insert(id, Watcher { events: Vec::new(), notify, watches: HashSet::new() });
        id
    }

    /// The connection is gone, and its watches.
    pub(crate) fn detach(&self, id: WatcherId) {
        let mut state = self.state.lock();
        let Some(watcher) = state.watchers.remove(&id) else { return };
        for (data, path) in watcher.watches {
            let watches = if data { &mut state.data_watches } else { &mut state.child_watches };
            if let Some(watchers) = watches.get_mut(&path) {
                watchers.remove(&id);
                if watchers.is_empty() {
                    watches.remove(&path);
                }
            }
        }
    }

    /// The events that a connection has not seen, and what `read` says, as one step.
    pub(crate) fn serve<R>(&self, id: WatcherId, read: impl FnOnce(&mut State) -> R) -> (Vec<Event>, R) {
        let mut state = self.state.lock();
        let events = state.watchers.get_mut(&id).map(|w| std::mem::take(&mut w.events)).unwrap_or_default();
        (events, read(&mut state))
    }
}

/// `/a/b`, whatever the number of slashes.
fn normal(path: &str) -> String {
    let mut out = String::with_capacity(path.len() + 1);
    for part in path.split('/').filter(|part| !part.is_empty()) {
        out.push('/');
        out.push_str(part);
    }
    if out.is_empty() { "/".into() } else { out }
}

/// The parent of a node and its name there; `None` for the root.
fn parent(path: &str) -> Option<(&str, &str)> {
    let (parent, name) = path.rsplit_once('/')?;
    match (parent, name) {
        (_, "") => None,
        ("", name) => Some(("/", name)),
        both => Some(both),
    }
}

impl State {
    pub fn zxid(&self) -> i64 {
        self.zxid
    }

    pub fn get(&self, path: &str) -> Option<Node> {
        let node = self.nodes.get(path)?;
        let (data_length, num_children) = (node.data.len() as i32, node.children.len() as i32);
        Some(Node { data: node.data.clone(), stat: Stat { data_length, num_children, ..node.stat } })
    }

    pub fn children(&self, path: &str) -> Option<Vec<String>> {
        Some(self.nodes.get(path)?.children.iter().cloned().collect())
    }

    /// Nodes below this one, at any depth.
    pub fn descendants(&self, path: &str) -> usize {
        let below = if path == "/" { "/".to_string() } else { format!("{path}/") };
        self.nodes.range(below.clone()..).take_while(|(p, _)| p.starts_with(&below)).filter(|(p, _)| *p != "/").count()
    }

    /// How many watches a connection has.
    pub fn watches_of(&self, id: WatcherId) -> usize {
        self.watchers.get(&id).map_or(0, |w| w.watches.len())
    }

    /// Sets a watch that fires once.
    pub fn watch(&mut self, id: WatcherId, watch: Watch, path: &str) {
        let Some(watcher) = self.watchers.get_mut(&id) else { return };
        watcher.watches.insert((watch == Watch::Data, path.to_string()));
        let watches = match watch {
            Watch::Data => &mut self.data_watches,
            Watch::Children => &mut self.child_watches,
        };
        watches.entry(path.to_string()).or_default().insert(id);
    }

    /// An event for one connection, for a change that it missed.
    pub fn tell(&mut self, id: WatcherId, kind: EventKind, path: &str) {
        if let Some(watcher) = self.watchers.get_mut(&id) {
            watcher.events.push(Event { kind, path: path.to_string() });
            watcher.notify.notify_one();
        }
    }

    fn fire(&mut self, kind: EventKind, path: &str) {
        let (data, children) = match kind {
            EventKind::Created | EventKind::DataChanged => (true, false),
            EventKind::ChildrenChanged => (false, true),
            EventKind::Deleted => (true, true),
        };
        let mut told = HashSet::new();
        for (wanted, is_data) in [(data, true), (children, false)] {
            let watches = if is_data { &mut self.data_watches } else { &mut self.child_watches };
            for id in wanted.then(|| watches.remove(path)).flatten().unwrap_or_default() {
                if let Some(watcher) = self.watchers.get_mut(&id) {
                    watcher.watches.remove(&(is_data, path.to_string()));
                }
                told.insert(id);
            }
        }
        told.into_iter().for_each(|id| self.tell(id, kind, path));
    }

    fn set(&mut self, path: &str, data: Bytes, ephemeral: bool, now_ms: u64) {
        let now = now_ms as i64;
        if let Some(node) = self.nodes.get_mut(path) {
            self.zxid += 1;
            node.data = data;
            node.stat.mzxid = self.zxid;
            node.stat.mtime_ms = now;
            node.stat.version = node.stat.version.wrapping_add(1);
            self.fire(EventKind::DataChanged, path);
            return;
        }
        if let Some((above, name)) = parent(path) {
            if !self.nodes.contains_key(above) {
                self.set(above, Bytes::new(), false, now_ms);
            }
            self.zxid += 1;
            let zxid = self.zxid;
            let ephemeral_owner = if ephemeral { PROCESS_SESSION } else { 0 };
            let stat = Stat {
                czxid: zxid,
                mzxid: zxid,
                pzxid: zxid,
                ctime_ms: now,
                mtime_ms: now,
                ephemeral_owner,
                ..Stat::default()
            };
            self.nodes.insert(path.to_string(), NodeState { data, stat, children: BTreeSet::new() });
            self.change_children(above, |children| _ = children.insert(name.to_string()));
            self.fire(EventKind::Created, path);
            self.fire(EventKind::ChildrenChanged, above);
        }
    }

    fn change_children(&mut self, path: &str, change: impl FnOnce(&mut BTreeSet<String>)) {
        let zxid = self.zxid;
        if let Some(node) = self.nodes.get_mut(path) {
            change(&mut node.children);
            node.stat.cversion = node.stat.cversion.wrapping_add(1);
            node.stat.pzxid = zxid;
        }
    }

    fn remove(&mut self, path: &str) -> bool {
        let Some((above, name)) = parent(path) else { return false };
        let Some(children) = self.children(path) else { return false };
        for child in children {
            self.remove(&format!("{path}/{child}"));
        }
        self.zxid += 1;
        self.nodes.remove(path);
        self.change_children(above, |children| _ = children.remove(name));
        self.fire(EventKind::Deleted, path);
        self.fire(EventKind::ChildrenChanged, above);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_env::ManualClock;

    fn tree() -> Arc<Tree> {
        Tree::new(Arc::new(ManualClock::new(1000)))
    }

    fn events(tree: &Tree, id: WatcherId) -> Vec<(EventKind, String)> {
        tree.serve(id, |_| ()).0.into_iter().map(|e| (e.kind, e.path)).collect()
    }

    #[test]
    fn nodes_have_zookeepers_metadata() {
        let tree = tree();
        tree.set("/hbase/rs/a,1,2", "x", true);
        tree.set("hbase//rs/", "parent", false);
        let zxid = 1000 << 16;
        let rs = tree.get("/hbase/rs").unwrap();
        assert_eq!((&rs.data[..], rs.stat.version, rs.stat.cversion, rs.stat.num_children), (&b"parent"[..], 1, 1, 1));
        assert_eq!((rs.stat.czxid, rs.stat.pzxid, rs.stat.mzxid), (zxid + 3, zxid + 4, zxid + 5));
        let server = tree.get("/hbase/rs/a,1,2").unwrap().stat;
        assert_eq!((server.ephemeral_owner, server.data_length, server.ctime_ms), (PROCESS_SESSION, 1, 1000));
        assert_eq!(tree.children("/").unwrap(), ["hbase", "zookeeper"]);
        assert_eq!((tree.children("/none"), tree.get("/none")), (None, None));
        tree.state.lock().set("/hbase2", Bytes::new(), false, 0);
        let descendants = |path| tree.state.lock().descendants(path);
        assert_eq!((descendants("/hbase"), descendants("/")), (2, 5));
        assert!(tree.remove("/hbase") && !tree.remove("/hbase") && !tree.remove("/"));
        assert_eq!(tree.node_count(), 3);
    }

    #[test]
    fn a_watch_fires_once_with_what_happened() {
        let tree = tree();
        let id = tree.attach(Arc::new(Notify::new()));
        let watch = |kind, path| tree.serve(id, |state| state.watch(id, kind, path)).1;
        watch(Watch::Data, "/a");
        watch(Watch::Children, "/");
        tree.set("/a", "1", false);
        tree.set("/a", "2", false);
        assert_eq!(events(&tree, id), [(EventKind::Created, "/a".into()), (EventKind::ChildrenChanged, "/".into())]);
        watch(Watch::Data, "/a");
        tree.set("/a", "3", false);
        assert_eq!(events(&tree, id), [(EventKind::DataChanged, "/a".into())]);
        watch(Watch::Data, "/a");
        watch(Watch::Children, "/a");
        tree.remove("/a");
        assert_eq!(events(&tree, id), [(EventKind::Deleted, "/a".into())], "once, for both watches");
        watch(Watch::Data, "/b");
        watch(Watch::Children, "/");
        assert_eq!(tree.watch_count(), 2);
        tree.detach(id);
        assert_eq!(tree.watch_count(), 0);
        tree.set("/b", "", false);
        assert_eq!(events(&tree, id), []);
    }
}
