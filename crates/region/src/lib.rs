//! A region: row atomicity, MVCC, WAL coupling, recovery, split.
#![forbid(unsafe_code)]
