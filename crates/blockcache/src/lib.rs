//! Weighted block cache over opaque keys.
#![forbid(unsafe_code)]
