//! HBase's protobuf messages (package `hbase.pb`), generated from `proto/*.proto`; no logic lives here.
//!
//! `src/pb.rs` is checked in so that a build needs neither protoc nor a build script; `cargo xtask proto` makes it
//! anew. prost does not enforce `required`: whoever decodes a request checks what it needs.
#![forbid(unsafe_code)]

#[allow(clippy::all, clippy::unwrap_used, rustdoc::all, missing_docs)]
#[rustfmt::skip]
mod pb;
mod services;

pub use pb::*;
pub use prost;
pub use prost::Message;
pub use services::SERVICES;

/// The four bytes that HBase puts before protobuf content in files, znodes and table cells.
pub const PBUF_MAGIC: &[u8; 4] = b"PBUF";
