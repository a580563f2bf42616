//! The write-ahead log: format, group commit, roll, replay.
#![forbid(unsafe_code)]
