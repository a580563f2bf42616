//! DDL, assignment, splits; durable procedures.
#![forbid(unsafe_code)]
