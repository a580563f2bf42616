//! The binary: reads configuration, wires everything.

fn main() {}
