//! One request of a session: decoded, answered from the tree.

use crate::tree::{EventKind, State, Tree, Watch, WatcherId};
use crate::wire::{Code, Decoded, Input, Output, op};

/// What follows a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    Continue,
    /// The client ends its session.
    EndSession,
    /// The client is refused for good; its session may come back.
    Disconnect,
}

/// A connection may hold so many watches: more than any HBase client sets.
const MAX_WATCHES: usize = 100_000;

/// Answers one frame. Events that were due before are written first.
pub(crate) fn answer(tree: &Tree, id: WatcherId, frame: &[u8], out: &mut Output) -> After {
    let mut input = Input(frame);
    let (Ok(xid), Ok(op)) = (input.i32(), input.i32()) else { return After::Disconnect };
    let mut body = Output::default();
    let (events, (zxid, result)) = tree.serve(id, |state| {
        let result = perform(state, id, op, &mut input, &mut body);
        (state.zxid(), result)
    });
    events.iter().for_each(|event| out.event(event));
    out.frame(|out| {
        out.reply(xid, zxid, result.err().unwrap_or(Code::Ok));
        if result.is_ok() {
            out.bytes.extend_from_slice(&body.bytes);
        }
    });
    match (op, result) {
        (op::CLOSE_SESSION, _) => After::EndSession,
        (_, Err(Code::Marshalling)) | (op::AUTH | op::SASL, Err(_)) => After::Disconnect,
        _ => After::Continue,
    }
}

fn perform(state: &mut State, id: WatcherId, op: i32, input: &mut Input<'_>, out: &mut Output) -> Decoded<()> {
    match op {
        op::EXISTS => exists(state, id, input, out),
        op::GET_DATA => get_data(state, id, input, out),
        op::GET_CHILDREN | op::GET_CHILDREN2 => get_children(state, id, input, out, op == op::GET_CHILDREN2),
        op::GET_ACL => get_acl(state, input, out),
        op::GET_ALL_CHILDREN_NUMBER => count_descendants(state, input, out),
        op::SYNC => path(input).map(|path| out.buffer(path.as_bytes())),
        op::SET_WATCHES | op::SET_WATCHES2 => set_watches(state, id, input, op == op::SET_WATCHES2),
        op::PING | op::CLOSE_SESSION => Ok(()),
        op::AUTH => auth(input),
        op::SASL => Err(Code::AuthFailed),
        op::CREATE
        | op::DELETE
        | op::SET_DATA
        | op::SET_ACL
        | op::CHECK
        | op::MULTI
        | op::CREATE2
        | op::RECONFIG
        | op::CREATE_CONTAINER
        | op::DELETE_CONTAINER
        | op::CREATE_TTL => Err(Code::NotReadOnly),
        _ => Err(Code::Unimplemented),
    }
}

fn path<'a>(input: &mut Input<'a>) -> Decoded<&'a str> {
    let path = input.string()?;
    let names = || path[1..].split('/');
    let bad = !path.starts_with('/') || (path != "/" && names().any(|name| matches!(name, "" | "." | "..")));
    if bad { Err(Code::BadArguments) } else { Ok(path) }
}

fn watch(state: &mut State, id: WatcherId, watch: Watch, path: &str) -> Decoded<()> {
    if state.watches_of(id) >= MAX_WATCHES {
        return Err(Code::BadArguments);
    }
    state.watch(id, watch, path);
    Ok(())
}

/// Watches a node that is not there, too.
fn exists(state: &mut State, id: WatcherId, input: &mut Input<'_>, out: &mut Output) -> Decoded<()> {
    let (path, wants_watch) = (path(input)?, input.bool()?);
    if wants_watch {
        watch(state, id, Watch::Data, path)?;
    }
    out.stat(&state.get(path).ok_or(Code::NoNode)?.stat);
    Ok(())
}

fn get_data(state: &mut State, id: WatcherId, input: &mut Input<'_>, out: &mut Output) -> Decoded<()> {
    let (path, wants_watch) = (path(input)?, input.bool()?);
    let node = state.get(path).ok_or(Code::NoNode)?;
    if wants_watch {
        watch(state, id, Watch::Data, path)?;
    }
    out.buffer(&node.data);
    out.stat(&node.stat);
    Ok(())
}

fn get_children(
    state: &mut State,
    id: WatcherId,
    input: &mut Input<'_>,
    out: &mut Output,
    with_stat: bool,
) -> Decoded<()> {
    let (path, wants_watch) = (path(input)?, input.bool()?);
    let (node, children) = state.get(path).zip(state.children(path)).ok_or(Code::NoNode)?;
    if wants_watch {
        watch(state, id, Watch::Children, path)?;
    }
    out.strings(&children);
    if with_stat {
        out.stat(&node.stat);
    }
    Ok(())
}

/// Everybody may read, nobody may do anything else.
fn get_acl(state: &State, input: &mut Input<'_>, out: &mut Output) -> Decoded<()> {
    const READ: i32 = 1;
    let node = state.get(path(input)?).ok_or(Code::NoNode)?;
    out.i32(1);
    out.i32(READ);
    out.buffer(b"world");
    out.buffer(b"anyone");
    out.stat(&node.stat);
    Ok(())
}

fn count_descendants(state: &State, input: &mut Input<'_>, out: &mut Output) -> Decoded<()> {
    let path = path(input)?;
    state.get(path).ok_or(Code::NoNode)?;
    out.i32(state.descendants(path) as i32);
    Ok(())
}

/// A client that reconnects names its watches and what it saw last; what it missed fires at once.
fn set_watches(state: &mut State, id: WatcherId, input: &mut Input<'_>, with_persistent: bool) -> Decoded<()> {
    let seen = input.i64()?;
    let (data, exist, children) = (input.strings()?, input.strings()?, input.strings()?);
    if with_persistent && !(input.strings()?.is_empty() && input.strings()?.is_empty()) {
        return Err(Code::Unimplemented);
    }
    for path in data {
        match state.get(path) {
            None => state.tell(id, EventKind::Deleted, path),
            Some(node) if node.stat.mzxid > seen => state.tell(id, EventKind::DataChanged, path),
            Some(_) => watch(state, id, Watch::Data, path)?,
        }
    }
    for path in exist {
        match state.get(path) {
            Some(_) => state.tell(id, EventKind::Created, path),
            None => watch(state, id, Watch::Data, path)?,
        }
    }
    for path in children {
        match state.get(path) {
            None => state.tell(id, EventKind::Deleted, path),
            Some(node) if node.stat.pzxid > seen => state.tell(id, EventKind::ChildrenChanged, path),
            Some(_) => watch(state, id, Watch::Children, path)?,
        }
    }
    Ok(())
}

/// Who somebody claims to be makes no difference to what may be read.
fn auth(input: &mut Input<'_>) -> Decoded<()> {
    let (_kind, scheme, _credentials) = (input.i32()?, input.string()?, input.buffer()?);
    if matches!(scheme, "digest" | "world" | "ip") { Ok(()) } else { Err(Code::AuthFailed) }
}
