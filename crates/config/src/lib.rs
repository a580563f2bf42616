//! The one option table and the hbase-site.xml loader.
#![forbid(unsafe_code)]
