//! Compression codecs by HBase name, with Hadoop block framing.
#![forbid(unsafe_code)]
