//! HBase RPC: preamble, headers, frames, scheduling.
#![forbid(unsafe_code)]
