//! current
