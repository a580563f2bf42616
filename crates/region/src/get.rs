//! Get (placeholder).
