//! Which sequence ids are not flushed yet.
