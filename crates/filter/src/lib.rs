//! Filters and comparators: decode, evaluate.
#![forbid(unsafe_code)]
