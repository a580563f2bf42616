//! Scan (placeholder).
