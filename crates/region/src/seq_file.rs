//! seq_file
