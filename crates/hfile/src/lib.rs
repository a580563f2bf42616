//! HFile v3: blocks, index, bloom filters, encodings, reader, writer.
#![forbid(unsafe_code)]
