//! ZooKeeper's bytes: big-endian numbers, strings and buffers with an `i32` length (-1: null), vectors with an `i32`
//! count.
//!
//! ```text
//! frame    i32 length | body
//! request  i32 xid | i32 op | …         exists "/a", no watch:  0000000f 00000001 00000003 00000002 2f61 00
//! reply    i32 xid | i64 zxid | i32 error | …
//! event    xid -1, zxid -1, error 0 | i32 kind | i32 state (3: connected) | string path
//! ```
//!
//! Source: ZooKeeper 3.8 `zookeeper.jute`.

use crate::tree::{Event, Stat};

/// Operations; values are on the wire.
pub(crate) mod op {
    pub const CREATE: i32 = 1;
    pub const DELETE: i32 = 2;
    pub const EXISTS: i32 = 3;
    pub const GET_DATA: i32 = 4;
    pub const SET_DATA: i32 = 5;
    pub const GET_ACL: i32 = 6;
    pub const SET_ACL: i32 = 7;
    pub const GET_CHILDREN: i32 = 8;
    pub const SYNC: i32 = 9;
    pub const PING: i32 = 11;
    pub const GET_CHILDREN2: i32 = 12;
    pub const CHECK: i32 = 13;
    pub const MULTI: i32 = 14;
    pub const CREATE2: i32 = 15;
    pub const RECONFIG: i32 = 16;
    pub const CREATE_CONTAINER: i32 = 19;
    pub const DELETE_CONTAINER: i32 = 20;
    pub const CREATE_TTL: i32 = 21;
    pub const AUTH: i32 = 100;
    pub const SET_WATCHES: i32 = 101;
    pub const SASL: i32 = 102;
    pub const GET_ALL_CHILDREN_NUMBER: i32 = 104;
    pub const SET_WATCHES2: i32 = 105;
    pub const CLOSE_SESSION: i32 = -11;
}

/// Error codes; values are on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Code {
    Ok = 0,
    Marshalling = -5,
    Unimplemented = -6,
    BadArguments = -8,
    NoNode = -101,
    AuthFailed = -115,
    NotReadOnly = -119,
}

/// Bytes taken from the front; an error when they end early or a length is wrong.
pub(crate) struct Input<'a>(pub &'a [u8]);

pub(crate) type Decoded<T> = Result<T, Code>;

impl<'a> Input<'a> {
    fn take<const N: usize>(&mut self) -> Decoded<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk().ok_or(Code::Marshalling)?;
        self.0 = rest;
        Ok(*head)
    }
    pub fn i32(&mut self) -> Decoded<i32> {
        self.take().map(i32::from_be_bytes)
    }
    pub fn i64(&mut self) -> Decoded<i64> {
        self.take().map(i64::from_be_bytes)
    }
    pub fn bool(&mut self) -> Decoded<bool> {
        self.take::<1>().map(|[b]| b != 0)
    }
    /// Null is empty.
    pub fn buffer(&mut self) -> Decoded<&'a [u8]> {
        let len = self.i32()?;
        if len == -1 {
            return Ok(&[]);
        }
        let len = usize::try_from(len).map_err(|_| Code::Marshalling)?;
        let (head, rest) = self.0.split_at_checked(len).ok_or(Code::Marshalling)?;
        self.0 = rest;
        Ok(head)
    }
    pub fn string(&mut self) -> Decoded<&'a str> {
        std::str::from_utf8(self.buffer()?).map_err(|_| Code::Marshalling)
    }
    pub fn strings(&mut self) -> Decoded<Vec<&'a str>> {
        let count = self.i32()?;
        // No room is made for more than the bytes can hold.
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(self.string()?);
        }
        Ok(all)
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Frames being written one after the other.
#[derive(Default)]
pub(crate) struct Output {
    pub bytes: Vec<u8>,
}

impl Output {
    /// Writes one frame.
    pub fn frame(&mut self, body: impl FnOnce(&mut Output)) {
        let at = self.bytes.len();
        self.i32(0);
        body(self);
        let len = (self.bytes.len() - at - 4) as i32;
        self.bytes[at..at + 4].copy_from_slice(&len.to_be_bytes());
    }
    pub fn reply(&mut self, xid: i32, zxid: i64, code: Code) {
        self.i32(xid);
        self.i64(zxid);
        self.i32(code as i32);
    }
    pub fn event(&mut self, event: &Event) {
        self.frame(|out| {
            out.reply(-1, -1, Code::Ok);
            out.i32(event.kind as i32);
            out.i32(3);
            out.buffer(event.path.as_bytes());
        });
    }
    pub fn i32(&mut self, n: i32) {
        self.bytes.extend_from_slice(&n.to_be_bytes());
    }
    pub fn i64(&mut self, n: i64) {
        self.bytes.extend_from_slice(&n.to_be_bytes());
    }
    pub fn bool(&mut self, b: bool) {
        self.bytes.push(b.into());
    }
    pub fn buffer(&mut self, bytes: &[u8]) {
        self.i32(bytes.len() as i32);
        self.bytes.extend_from_slice(bytes);
    }
    pub fn strings(&mut self, all: &[String]) {
        self.i32(all.len() as i32);
        all.iter().for_each(|s| self.buffer(s.as_bytes()));
    }
    pub fn stat(&mut self, stat: &Stat) {
        [stat.czxid, stat.mzxid, stat.ctime_ms, stat.mtime_ms].into_iter().for_each(|n| self.i64(n));
        [stat.version, stat.cversion, stat.aversion].into_iter().for_each(|n| self.i32(n));
        self.i64(stat.ephemeral_owner);
        self.i32(stat.data_length);
        self.i32(stat.num_children);
        self.i64(stat.pzxid);
    }
}
