//! Descriptors, names, meta rows, directory layout.
#![forbid(unsafe_code)]
