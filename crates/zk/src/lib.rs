//! The embedded read-only ZooKeeper endpoint.
#![forbid(unsafe_code)]
