//! increment
