//! One column family of a region: memstore, files, scanners, flush, compaction.
#![deny(unsafe_code)]
